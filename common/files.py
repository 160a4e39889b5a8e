"""Atomic files and folders: either complete or absent."""

import errno
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from common.errors import InputError
from common.locks import FOREVER, locked

SIZES = "sizes.json"  # in a folder that build_once made: its files and their bytes


@contextmanager
def atomic_write(path: Path, binary: bool = False) -> Iterator[IO[Any]]:
    """Open a temporary file next to `path` for writing; when the block ends without an error it replaces `path`.

    Raises OSError naming the file if the disk is full.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with (
            room_for(path),
            temporary.open("wb") if binary else temporary.open("w", encoding="utf-8", newline="") as file,
        ):
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def clear_unfinished(folder: Path) -> None:
    """Delete the temporary files of killed writes, in a folder in which no other process writes now."""
    for left in folder.glob(f".*.{'[0-9a-f]' * 32}.tmp"):
        left.unlink(missing_ok=True)


@contextmanager
def room_for(path: Path) -> Iterator[None]:
    """Adds the file name to the OSError of a failed write. NumPy's error without a number means a full disk."""
    try:
        yield
    except OSError as error:
        if type(error) is OSError and error.errno is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from None
        error.filename = error.filename or str(path)
        raise


def build_once(folder: Path, build: Callable[[Path], None]) -> Path:
    """Let `build` fill a folder next to `folder`, then rename it: `folder` is complete or absent.

    Raises InputError if a folder from before has lost a file or a part of one.
    """
    if folder.exists():
        _check_sizes(folder)
    else:
        make_once(folder, folder.exists, lambda: _build(folder, build))
    return folder


def _build(folder: Path, build: Callable[[Path], None]) -> None:
    with workshop(folder) as work, room_for(folder):
        build(work)
        sizes = {path.name: path.stat().st_size for path in work.iterdir()}
        (work / SIZES).write_text(json.dumps(sizes), encoding="utf-8")
        for path in (*work.iterdir(), work):
            _make_durable(path)
        work.rename(folder)


@contextmanager
def workshop(path: Path) -> Iterator[Path]:
    """A temporary folder next to `path`, for the process that holds the lock of `path` (`make_once`).

    A killed process does not delete it; the next one that holds the lock empties it.
    """
    work = path.with_name(f".{path.name}.making")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _check_sizes(folder: Path) -> None:
    """Raises InputError if a file has another size than when it was built. Older folders have no sizes."""
    try:
        sizes = json.loads((folder / SIZES).read_text(encoding="utf-8")) if (folder / SIZES).exists() else {}
        wrong = [name for name, size in sizes.items() if (folder / name).stat().st_size != size]
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{folder}: damaged ({error}); delete this folder, it will be rebuilt") from None
    if wrong:
        raise InputError(f"{folder}: {', '.join(wrong)} cut off or changed; delete this folder, it will be rebuilt")


def _make_durable(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_once(path: Path, there: Callable[[], bool], make: Callable[[], object]) -> None:
    """Call `make` unless its result at `path` is `there`. Of several processes one calls it and the others wait.

    If that one fails or is killed, the next one calls it.
    """
    if not there():
        with locked(path.with_name(f".{path.name}.lock"), FOREVER):
            if not there():
                make()
