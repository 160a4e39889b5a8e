"""Word vectors in, one vector per sentence out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from encoders.encoder import Encoded, Encoder
    from encoders.frozen import FrozenEncoder
    from encoders.load import load_encoder

__all__ = ["Encoded", "Encoder", "FrozenEncoder", "load_encoder"]
MODULES = {"Encoded": "encoder", "Encoder": "encoder", "FrozenEncoder": "frozen", "load_encoder": "load"}


def __getattr__(name: str) -> Any:
    """Imports a name, and torch with it, at its first use: the help of `python -m encoders.encode` needs neither."""
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{MODULES[name]}"), name)
