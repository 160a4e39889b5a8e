"""The packages of the project."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("datamodules", "encoder_lab", "encoders", "objectives", "probes")  # those that are installed
