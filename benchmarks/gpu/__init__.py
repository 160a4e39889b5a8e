"""The project on a GPU in under nine minutes: `make gpu` (docs/gpu.md)."""
