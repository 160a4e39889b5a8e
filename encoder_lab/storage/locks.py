"""Locks on files, among all processes that share the disk. The system frees one when its holder ends in any way."""

import errno
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from encoder_lab.errors import InputError

NO_TIMEOUT = -1.0
PATIENCE_SECONDS = 300.0  # seconds within which the first process of a run must take its lock
SILENT_SECONDS = 10.0  # seconds of waiting before a message


@contextmanager
def locked(path: Path, wait: float = 0.0, **options: Any) -> Iterator[bool]:
    """Whether this process gets a lock file within `wait` seconds. Raises InputError if it cannot be locked."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileNotFoundError):
        state = path.lstat()
        if not stat.S_ISREG(state.st_mode) or state.st_nlink != 1:
            raise InputError(f"{path}: a link or no plain file, so it cannot be locked; delete it")
    lock = FileLock(path, timeout=wait, **options)
    try:
        lock.acquire()
    except Timeout:
        yield False
        return
    except OSError as error:
        if error.errno not in {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP}:
            raise
        raise InputError(f"{path}: this disk has no file locks ({error.strerror}); choose a folder elsewhere") from None
    try:
        yield True
    finally:
        lock.release()


@contextmanager
def locked_with_children(path: Path) -> Iterator[int]:
    """Wait for a lock file; its descriptor, with which a child holds it too. Raises InputError."""
    descriptors: list[int] = []
    with locked(path, NO_TIMEOUT, on_acquired=descriptors.append):
        yield descriptors[-1]


def is_locked(path: Path) -> bool:
    """Whether a process, perhaps this one, holds the lock file `path`."""
    with locked(path) as acquired:
        return not acquired


def wait_for_file(path: Path, lock: Path, patience: float = PATIENCE_SECONDS) -> None:
    """Wait for a file that the holder of `lock` writes. Raises InputError if it is missing and the lock is free."""
    started, reported = time.monotonic(), False
    while not path.exists():
        if not reported and time.monotonic() - started > SILENT_SECONDS:
            reported = True
            print(f"waits for the first process of the run, which writes {path}, {patience:.0f} s", file=sys.stderr)
        if time.monotonic() - started > patience and not is_locked(lock) and not path.exists():
            raise InputError(f"{path}: missing, and the process that writes it has ended; start all processes again")
        time.sleep(0.1)
