"""Files and folders that are either whole or not there."""

import errno
import fcntl
import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from common.errors import InputError
from common.locks import STALE, abandoned, ourselves, regularly

SIZES = "sizes.json"  # in a folder that build_once made: its files and their bytes


@contextmanager
def atomic_write(path: Path, binary: bool = False) -> Iterator[IO[Any]]:
    """Open a file beside `path` for writing; when the block ends well it takes the place of `path`.

    Raises OSError naming a file where the disk takes no more.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with room_for(path), beside.open("wb") if binary else beside.open("w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def clear_unfinished(folder: Path) -> None:
    """Delete what killed writes left in a folder in which no other process writes now."""
    for left in folder.glob(f".*.{'[0-9a-f]' * 32}.tmp"):
        left.unlink(missing_ok=True)


@contextmanager
def room_for(path: Path) -> Iterator[None]:
    """Gives a write that failed the name of what was written, and numpy's, which has no number, that of a full disk."""
    try:
        yield
    except OSError as error:
        if type(error) is OSError and error.errno is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from None
        error.filename = error.filename or str(path)
        raise


def build_once(folder: Path, build: Callable[[Path], None]) -> Path:
    """Let `build` fill a folder beside `folder`, then rename it: `folder` is whole or not there.

    Raises InputError where a folder that was made before has lost a file or a part of one.
    """
    if folder.exists():
        _check_sizes(folder)
    else:
        make_once(folder, folder.exists, lambda: _build(folder, build))
    return folder


def _build(folder: Path, build: Callable[[Path], None]) -> None:
    with workshop(folder.parent) as work, room_for(folder):
        build(work)
        sizes = {path.name: path.stat().st_size for path in work.iterdir()}
        (work / SIZES).write_text(json.dumps(sizes), encoding="utf-8")
        for path in (*work.iterdir(), work):
            _make_durable(path)
        try:
            work.rename(folder)
        except OSError:  # another process made the same folder first
            if not folder.exists():
                raise


@contextmanager
def workshop(parent: Path) -> Iterator[Path]:
    """A new folder in `parent` to make things in, gone afterwards; so are those whose makers were killed.

    Its name says whose it is, and it is touched now and then, as a claim is.
    """
    parent.mkdir(parents=True, exist_ok=True)
    for left in parent.glob(".making-*+*"):
        with suppress(FileNotFoundError):  # its maker was done
            if abandoned(left.name.partition("+")[2], parent, left.stat().st_mtime + STALE):
                shutil.rmtree(left, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix=".making-", suffix=f"+{ourselves()}", dir=parent))
    try:
        with regularly(partial(os.utime, work)):
            yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _check_sizes(folder: Path) -> None:
    """A folder of an earlier version has no sizes to check."""
    try:
        sizes = json.loads((folder / SIZES).read_text(encoding="utf-8")) if (folder / SIZES).exists() else {}
        wrong = [name for name, size in sizes.items() if (folder / name).stat().st_size != size]
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{folder}: damaged ({error}); delete this folder, it is made anew") from None
    if wrong:
        raise InputError(f"{folder}: {', '.join(wrong)} cut off or changed; delete this folder, it is made anew")


def _make_durable(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
