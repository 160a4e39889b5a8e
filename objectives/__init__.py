"""Training objectives: models and losses. Never imports probes."""
