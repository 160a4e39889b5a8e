"""The classifiers that read labels out of frozen vectors, and the two protocols that train them."""
