"""The probing tasks (Conneau et al. 2018)."""
