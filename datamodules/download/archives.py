"""Unpacking archives that others made: nothing leaves the target folder, nothing fills the disk."""

import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from common.errors import NO_ROOM, InputError, in_one_line
from common.text_files import open_packed

ARCHIVES = (".zip", ".tgz", ".tar.gz", ".tar")
LITTER = ("__MACOSX", ".DS_Store")
MOST_FILES = 100_000
RATIO, SLACK = 100, 64 * 1024 * 1024  # unpacked bytes per packed byte, and bytes that are always allowed
LONGEST_END, MANY = 22 + 0xFFFF, 0xFFFF  # bytes of the last record of a zip; its count where another record has it
DAMAGED = (zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error, EOFError)
BROKEN = (*DAMAGED, OSError, RuntimeError, ValueError, IndexError)


def check(path: Path, name: str) -> None:
    """Read a file, packed as `name` says, to its end. Raises InputError where it is damaged."""
    try:
        if name.endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                damaged = _entries(archive, path) and archive.testzip()
            if damaged:
                raise InputError(f"{name}: {damaged[:80]!r} inside is damaged")
        elif name.endswith((".gz", ".tgz", ".bz2")):
            with open_packed(path, name) as file:
                while file.read(1 << 20):
                    pass
    except BROKEN as error:
        raise _explained(path, error) from None


def unpack(path: Path, folder: Path) -> None:
    """Write the files of an archive below `folder`.

    Raises InputError, perhaps after some files were written, for a damaged archive, for a member that would lie
    outside, is a link or a device, and where more comes out than an honest archive of this size holds. OSError is the
    disk's.
    """
    left = RATIO * path.stat().st_size + SLACK
    try:
        for count, (name, open_member) in enumerate(_members(path), start=1):
            target = folder / _inside(name, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            with open_member() as source, target.open("wb") as file:
                while block := source.read(1 << 20):
                    left -= len(block)
                    if left < 0 or count > MOST_FILES:
                        raise InputError(f"{path}: far more comes out than went in; not unpacked")
                    file.write(block)
    except BROKEN as error:
        raise _explained(path, error) from None


def _members(path: Path) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    """The regular files of an archive."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as zipped:
            for info in _entries(zipped, path):
                if stat.S_ISLNK(info.external_attr >> 16):
                    raise InputError(f"{path}: {info.filename[:80]!r} is a link; not unpacked")
                if not info.is_dir() and not _litter(info.filename):
                    yield info.filename, partial(zipped.open, info)
        return
    with tarfile.open(path) as tarred:
        for member in tarred:
            if not member.isfile() and not member.isdir():
                raise InputError(f"{path}: {member.name[:80]!r} is a link or a device; not unpacked")
            if member.isfile() and not _litter(member.name):
                yield member.name, partial(_extract, tarred, member)
        _check_end(tarred)


def _entries(archive: zipfile.ZipFile, path: Path) -> list[zipfile.ZipInfo]:
    """What is in a zip. Raises BadZipFile where its last record, at which zipfile does not look, counts others."""
    with path.open("rb") as file:
        file.seek(-min(path.stat().st_size, LONGEST_END), os.SEEK_END)
        end = file.read()
    (counted,) = struct.unpack_from("<H", end, end.rfind(b"PK\5\6") + 10)
    found = archive.infolist()
    if counted not in (len(found), MANY):
        raise zipfile.BadZipFile(f"{len(found)} files, but its end says {counted}")
    return found


def _check_end(archive: tarfile.TarFile) -> None:
    """Raises TarError where tarfile stopped at what is no end of an archive, or a packed one is damaged behind it."""
    assert archive.fileobj is not None
    archive.fileobj.seek(archive.offset)
    if archive.fileobj.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise tarfile.ReadError(f"no file and no end at byte {archive.offset:,}")
    while archive.fileobj.read(1 << 20):  # to the check sum of a packed one
        pass


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    file = archive.extractfile(member)
    assert file is not None  # only regular files come here
    return file


def _litter(name: str) -> bool:
    return any(part in LITTER for part in PurePosixPath(name).parts)


def _inside(name: str, path: Path) -> PurePosixPath:
    """The name if it stays below the folder into which it is unpacked."""
    parts = PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or not parts.parts or ":" in parts.parts[0] or "\0" in name:
        raise InputError(f"{path}: {name[:80]!r} would be written outside; not unpacked")
    return parts


def _explained(path: Path, error: Exception) -> Exception:
    """What an error says of an archive: nothing, if it is of the disk."""
    if isinstance(error, InputError) or (isinstance(error, OSError) and error.errno in NO_ROOM):
        return error
    return InputError(f"{path}: damaged archive ({in_one_line(error)})")
