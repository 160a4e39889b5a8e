"""Word vectors in, one vector per sentence out."""

from encoders.encoder import Encoded, Encoder
from encoders.frozen import FrozenEncoder
from encoders.load import load_encoder

__all__ = ["Encoded", "Encoder", "FrozenEncoder", "load_encoder"]
