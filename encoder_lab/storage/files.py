"""Atomic files and folders: either complete or absent."""

import errno
import json
import os
import shutil
import stat
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from encoder_lab.errors import InputError
from encoder_lab.storage.locks import FOREVER, locked

NO_NAMELESS = {errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL}  # O_TMPFILE is not known
SIZES = "sizes.json"  # in a folder that build_once made: its files and their bytes


@contextmanager
def atomic_write(path: Path, binary: bool = False) -> Iterator[IO[Any]]:
    """Open a temporary file for writing; when the block ends without an error it replaces `path`.

    Until then the file has no name, where the disk knows such files, so that a kill leaves nothing behind.
    Raises OSError naming the file if the disk is full, InputError if `path` is a link, a device or a pipe.
    """
    path = Path(path)
    refuse_link_or_device(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with room_for(path), _open(path.parent, temporary, binary) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            _name(file.fileno(), temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _open(folder: Path, temporary: Path, binary: bool) -> IO[Any]:
    """A file in `folder` without a name; named `temporary` where the disk or the system knows no such files."""
    try:
        opened = os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    except (AttributeError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in NO_NAMELESS:
            raise
        opened = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    return os.fdopen(opened, "wb") if binary else os.fdopen(opened, "w", encoding="utf-8", newline="")


def _name(descriptor: int, temporary: Path) -> None:
    """Give an open file a name, unless it has it."""
    if not temporary.exists():
        folder = os.open(temporary.parent, os.O_RDONLY)
        try:  # with a folder Python follows the link in /proc to the file
            os.link(f"/proc/self/fd/{descriptor}", temporary.name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            os.close(folder)


def refuse_link_or_device(path: Path) -> None:
    """Raises InputError if a file cannot be written at `path` without replacing or changing something else."""
    with suppress(FileNotFoundError):
        kind = path.lstat().st_mode
        if not stat.S_ISREG(kind):
            what = "a folder" if stat.S_ISDIR(kind) else "a link, a device or a pipe"
            raise InputError(f"{path}: {what}, which is not replaced; give the name of a plain file")


def refuse_special(path: Path) -> None:
    """Raises InputError if `path` is there and is no plain file: reading a pipe or a device may never end."""
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "a device or a pipe"
        raise InputError(f"{path}: {what}, not a file; it was not read")


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
        with suppress(OSError):  # a cache that may only be read
            os.utime(folder)  # it was used (encoder_lab/storage/cache.py)
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
