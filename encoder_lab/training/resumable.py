"""Whether a checkpoint is what this run wrote: the file may be whole and its content changed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from encoder_lab.errors import InputError
from encoder_lab.storage.content import key_of
from encoders.load import interchangeable, read_checkpoint
from objectives.objective import Objective

CONTENT_KEY = "content"  # of the hash in a checkpoint


def content_hash(checkpoint: Mapping[str, Any]) -> str:
    """Of all values and of the shapes and dtypes of tensors; the checksums of the file cover their numbers."""
    return key_of(_describe({name: value for name, value in checkpoint.items() if name != CONTENT_KEY}))


def _describe(value: Any) -> Any:
    if isinstance(value, Tensor):
        return f"{value.dtype} {tuple(value.shape)}"
    if isinstance(value, Mapping):
        return {repr(key): _describe(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return list(map(_describe, value))
    return sorted(map(repr, value)) if isinstance(value, set | frozenset) else repr(value)


def read_resumable(path: Path, module: Objective) -> dict[str, Any]:
    """The checkpoint at `path`. Raises InputError if it is not as it was written, or has the weights of another run."""
    checkpoint = read_checkpoint(path)
    weights, stored = module.state_dict(), checkpoint["state_dict"]
    if stored.keys() != weights.keys() or any(not interchangeable(weights[name], stored[name]) for name in weights):
        raise InputError(f"{path}: not a checkpoint of this run: it has other weights")
    if checkpoint.get(CONTENT_KEY) != content_hash(checkpoint):
        raise InputError(f"{path}: not a checkpoint as it was written: its content has changed")
    return checkpoint
