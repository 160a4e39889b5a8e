"""Builds the ten probing tasks from trees, dependencies or plain text: python -m probes.probing.build."""
