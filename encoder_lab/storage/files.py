"""Atomic files and folders: either complete or absent."""

import errno
import fcntl
import json
import os
import re
import shutil
import stat
import tempfile
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

from encoder_lab.errors import InputError, disk_error_in
from encoder_lab.storage.content import content_of
from encoder_lab.storage.locks import NO_TIMEOUT, locked
from encoder_lab.storage.text_files import parse_json, refuse_placeholder

TEMPORARY_NAME = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{32}\.making")  # a temporary file or folder, and what it becomes
CONTENTS_FILE = "contents.json"  # in a folder that build_once made: its files, each with the hash of its content


@contextmanager
def atomic_write(path: Path, binary: bool = False) -> Iterator[IO[Any]]:
    """A temporary file that replaces `path` at the end. Raises OSError naming it if full, InputError for a link."""
    path = Path(path)
    refuse_link_or_device(path)
    with disk_errors(path), temporary_path(path) as work:
        with work.open("wb") if binary else work.open("w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        work.replace(path)


@contextmanager
def temporary_path(path: Path, folder: bool = False) -> Iterator[Path]:
    """A locked empty file or folder next to `path`, to be filled and renamed; deleted if it is still there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _delete_leftovers_once(path.parent, os.getpid())
    work, descriptor = path, -1
    try:
        while descriptor < 0 or not work.exists():  # a sweep between its making and its lock
            work = path.with_name(f".{path.name}.{uuid.uuid4().hex}.making")
            if folder:
                work.mkdir()
            descriptor = os.open(work, os.O_RDONLY if folder else os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
            with suppress(OSError):  # a disk without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield work
    finally:
        if work != path:
            _delete(work)
        if descriptor >= 0:
            os.close(descriptor)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder among the system's temporary files, deleted at the end; the next one deletes what a kill left."""
    with temporary_path(Path(tempfile.gettempdir()) / "sentence-encoders", folder=True) as folder:
        folder.chmod(0o700)
        yield folder


def delete_leftovers(folder: Path) -> None:
    """Delete the temporary files and folders that killed processes left in a folder."""
    for path in folder.glob(".*.making"):
        if TEMPORARY_NAME.fullmatch(path.name):
            delete_temporary(path)


@cache
def _delete_leftovers_once(folder: Path, _process: int) -> None:
    delete_leftovers(folder)


def delete_temporary(path: Path) -> bool:
    """Delete a temporary file or folder of this user unless its process lives; whether it was deleted."""
    try:
        state = path.lstat()
        if state.st_uid != os.geteuid() or not (stat.S_ISREG(state.st_mode) or stat.S_ISDIR(state.st_mode)):
            return False
        descriptor = os.open(path, os.O_NOFOLLOW | (os.O_RDONLY if stat.S_ISDIR(state.st_mode) else os.O_RDWR))
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _delete(path)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _delete(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def refuse_link_or_device(path: Path) -> None:
    """Raises InputError if a file cannot be written at `path` without replacing or changing something else."""
    with suppress(FileNotFoundError):
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode):
            file_type = "a folder" if stat.S_ISDIR(mode) else "a link, a device or a pipe"
            raise InputError(f"{path}: {file_type}, which is not replaced; give the name of a plain file")


def path_inside(folder: Path, name: object) -> Path:
    """The path of a file that a file in `folder` names. Raises InputError if the name leaves the folder."""
    if not isinstance(name, str) or not name or Path(name).is_absolute() or {"..", "~"} & set(Path(name).parts):
        raise InputError(f"{folder}: a file in it names {str(name)[:80]!r}, outside of this folder; it was not opened")
    return folder / name


def refuse_special(path: Path) -> None:
    """Raises InputError if `path` is no plain file (reading a pipe may never end), or stands in place of data."""
    if path.exists() and not path.is_file():
        file_type = "a folder" if path.is_dir() else "a device or a pipe"
        raise InputError(f"{path}: {file_type}, not a file; it was not read")
    with suppress(OSError), path.open("rb") as file:
        refuse_placeholder(path, file.read(64))


@contextmanager
def no_folder_if_refused(folder: Path, begun: Collection[str] = ()) -> Iterator[None]:
    """A command that is refused leaves no folder with nothing in it but what it has `begun`."""
    try:
        yield
    except (InputError, SystemExit):
        if folder.is_dir() and not {entry.name for entry in folder.iterdir()}.difference(begun):
            shutil.rmtree(folder, ignore_errors=True)
        raise


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Errors of a failed write, also those of libraries, are an OSError that names `path`."""
    try:
        yield
    except OSError as error:
        if type(error) is OSError and error.errno is None:  # NumPy, on a full disk
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from None
        if not error.filename or TEMPORARY_NAME.fullmatch(Path(str(error.filename)).name):
            error.filename = str(path)
        raise
    except Exception as error:
        if (cause := disk_error_in(error)) is None:
            raise
        raise OSError(cause.errno, cause.strerror, str(path)) from None


def build_once(folder: Path, build: Callable[[Path], None]) -> Path:
    """Let `build` fill a folder, then rename it: complete or absent. Raises InputError if its files changed."""
    if folder.exists():
        built = read_contents(folder)
        files = [path for path in folder.iterdir() if path.name != CONTENTS_FILE and path.is_file()]
        now = {path.name: content_of(path) for path in files}
        if names := [name for name in sorted({*built, *now}) if built.get(name) != now.get(name)]:
            raise InputError(f"{folder}: {', '.join(names)} cut off or changed; delete this folder, it will be rebuilt")
        with suppress(OSError):  # a cache that may only be read
            os.utime(folder)  # it was used (encoder_lab/storage/cache.py)
    else:
        make_once(folder, folder.exists, lambda: _build(folder, build))
    return folder


def _build(folder: Path, build: Callable[[Path], None]) -> None:
    with disk_errors(folder), temporary_path(folder, folder=True) as work:
        build(work)
        contents = {path.name: content_of(path) for path in sorted(work.iterdir())}
        (work / CONTENTS_FILE).write_text(json.dumps(contents), encoding="utf-8")
        for path in (*work.iterdir(), work):
            flush_to_disk(path)
        work.rename(folder)


def read_contents(folder: Path) -> dict[str, str]:
    """The files of a folder that `build_once` made, each with the hash of its content. Raises InputError."""
    try:
        return dict(parse_json((folder / CONTENTS_FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise InputError(f"{folder}: damaged ({error}); delete this folder, it will be rebuilt") from None


def flush_to_disk(path: Path) -> None:
    """Wait until the disk has all of a file or folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_once(path: Path, exists: Callable[[], bool], make: Callable[[], object]) -> None:
    """Call `make` unless its result `exists`: one of several processes, the next one if that is killed."""
    if not exists():
        with locked(path.with_name(f".{path.name}.lock"), NO_TIMEOUT):
            if not exists():
                make()
