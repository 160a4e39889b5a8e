"""What a function or class is made of, for the keys of caches."""

import inspect
from collections.abc import Callable
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any


def code_of(made: Callable[..., Any]) -> str:
    """A hash of the source file of a function or class: what other code has made is something else."""
    while isinstance(made, partial):
        made = made.func
    try:
        source = inspect.getsourcefile(inspect.unwrap(made))
    except TypeError:  # built in, or typed into an interpreter
        source = None
    if source is None or not Path(source).is_file():
        return getattr(made, "__qualname__", type(made).__qualname__)
    return _hash(source, Path(source).stat().st_mtime_ns)


@cache
def _hash(path: str, _changed: int) -> str:
    return sha256(Path(path).read_bytes()).hexdigest()[:8]
