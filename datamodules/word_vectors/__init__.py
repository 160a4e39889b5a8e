"""Word vectors: stores, published formats, training."""
