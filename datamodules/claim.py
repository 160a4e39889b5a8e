"""A folder that one process has to itself, among all that share the disk."""

import errno
import fcntl
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from datamodules.errors import InputError
from datamodules.holder import BEAT, STALE, abandoned, ourselves, regularly

LOST = signal.SIGURG  # to ourselves when our claim is another's; where nobody listens nothing comes of it


@contextmanager
def claimed(folder: Path, name: str, beat: float = BEAT, stale: float = STALE) -> Iterator[bool]:
    """Whether the folder is ours while the block runs; False if a living process has it.

    The claim is the file `name`, which only one process can create; its holder touches it, and one that was not
    touched for long is taken over. Raises InputError, in the block too, when that happened to ours, as it may to a
    machine that was suspended: the folder is no longer ours to write in.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path, ours = folder / name, f"{ourselves()}\n"
    if not (_create(path, ours) or _take_over(path, ours, stale)):
        yield False
        return
    try:
        with _ended_when_lost(path), regularly(partial(_touch, path, ours), beat):
            yield True
    finally:
        if not _give_back(path, ours):
            raise _lost(path) from None


def wait_for(made: Path, claim: Path, stale: float = STALE) -> None:
    """Wait for what the holder of a claim makes. Raises InputError when `claim` shows no life for long."""
    sign, since = _touched(claim), time.monotonic()
    while not made.exists():
        if _touched(claim) != sign:
            sign, since = _touched(claim), time.monotonic()
        if time.monotonic() - since > stale:
            raise InputError(f"{made}: missing, and the process that was to make it gives no sign of life; start anew")
        time.sleep(0.1)


def _touched(path: Path) -> float | None:
    with suppress(FileNotFoundError):
        return path.stat().st_mtime
    return None


def _create(path: Path, ours: str) -> bool:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(ours)
    except FileExistsError:
        return False
    except OSError:  # a claim without a name would be believed for a while
        path.unlink(missing_ok=True)
        raise
    return True


def _take_over(path: Path, ours: str, stale: float) -> bool:
    """Put our name in an abandoned claim; it stays where it is, and its lock lets one at a time look and write."""
    try:
        with path.open("r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found = os.fstat(file.fileno())
            holder = file.read().strip()
            if not abandoned(holder, path.parent, found.st_mtime + stale) or path.stat().st_ino != found.st_ino:
                return False
            file.seek(0)
            file.write(ours)
            file.truncate()  # last, so that a full disk has room for it
    except OSError as error:  # just given back, or another is at it
        if error.errno in (errno.EROFS, errno.ENOSPC):
            raise
        return False
    return True


def _touch(path: Path, ours: str) -> None:
    """A sign of life on our claim, and to our main thread a word when it is another's."""
    if path.read_text(encoding="utf-8") == ours:
        os.utime(path)
    else:
        os.kill(os.getpid(), LOST)


@contextmanager
def _ended_when_lost(path: Path) -> Iterator[None]:
    """Raise in the block, wherever it is, when the claim is lost. Python lets the main thread alone listen."""

    def end(*_: object) -> None:
        raise _lost(path)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(LOST, end)
    try:
        yield
    finally:
        signal.signal(LOST, before)


def _lost(path: Path) -> InputError:
    what = "another process took this folder over while this one gave no sign of life"
    return InputError(f"{path.parent}: {what}; the other goes on with it")


def _give_back(path: Path, ours: str) -> bool:
    """Remove our claim; False if it is another's by now, whose it remains."""
    with suppress(OSError), path.open("r+", encoding="utf-8") as file:
        with suppress(OSError):  # no locks here, so nobody takes over either
            fcntl.flock(file, fcntl.LOCK_EX)
        if file.read() != ours:
            return False
        path.unlink()
    return True
