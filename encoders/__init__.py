"""Word vectors in, one vector per sentence out."""

from encoders.encoder import Encoded, Encoder

__all__ = ["Encoded", "Encoder"]
