"""Classifiers on frozen vectors, and the two protocols that train them."""
