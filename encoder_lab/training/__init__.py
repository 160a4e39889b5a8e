"""Lightning's side of a run: trainer, checkpoints, callbacks, devices."""
