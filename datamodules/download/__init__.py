"""Corpora from their published addresses: catalogue, download, archives."""
