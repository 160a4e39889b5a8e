"""Devices, processes and matrix products."""
