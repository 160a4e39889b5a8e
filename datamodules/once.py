"""What many processes need and one makes."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def make_once(path: Path, there: Callable[[], bool], make: Callable[[], object]) -> None:
    """Call `make` unless what it makes at `path` is `there`; of several processes one does, and the others wait.

    If that one fails or dies the next one tries. `make` must be right among others all the same: there are
    disks without locks, on which nobody waits.
    """
    if not there():
        with _one_at_a_time(path):
            if not there():
                make()


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = path.with_name(f".{path.name}.lock")
    held = _lock(lock)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)  # while it is locked, so that it is nobody else's
        os.close(held)


def _lock(path: Path) -> int:
    """A locked file that has this name: whoever held the lock before has removed its own."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        with suppress(OSError):  # no locks here
            fcntl.flock(file, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file), path.stat()):
                return file
        os.close(file)
