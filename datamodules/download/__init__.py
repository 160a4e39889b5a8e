"""Download of published corpora: catalogue, fetching, archives."""
