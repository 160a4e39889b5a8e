"""Helpers that every other package may import. This package imports none of them."""
