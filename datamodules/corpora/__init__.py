"""Corpora in the formats in which they are published; one file each."""
