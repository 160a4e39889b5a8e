"""Frozen vectors to scores. Knows a model only as `encode(sentences) -> (N, D)`; never imports objectives."""
