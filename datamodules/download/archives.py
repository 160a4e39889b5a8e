"""Unpacks untrusted archives: writes only below the target folder, and cannot fill the disk."""

import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, TypeVar

from encoder_lab.errors import WRITE_ERRNOS, InputError, in_one_line
from encoder_lab.storage.text_files import open_packed

ARCHIVES = (".zip", ".tgz", ".tar.gz", ".tar")
LITTER = ("__MACOSX", ".DS_Store")
MAX_FILES = 100_000
MAX_HEADER_BYTES = 1 << 20  # of a member that is no file: a long name, or records about the next one
FILE_TYPES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE, tarfile.GNUTYPE_SPARSE)
MAX_RATIO, EXTRA_BYTES = 100, 64 * 1024 * 1024  # allowed unpacked bytes per packed byte, plus a fixed allowance
MAX_END_BYTES = 22 + 0xFFFF  # of the last record of a zip
ZIP64_COUNT = 0xFFFF  # of that record, if a ZIP64 record has the real count
DAMAGE_ERRORS = (zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error, EOFError)
READ_ERRORS = (*DAMAGE_ERRORS, OSError, RuntimeError, ValueError, IndexError)
Member = TypeVar("Member")


def verify_archive(path: Path, name: str) -> None:
    """Read a compressed file (type: ending of `name`) to its end. Raises InputError if it is corrupt."""
    try:
        if name.endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                damaged = _zip_entries(archive, path) and archive.testzip()
            if damaged:
                raise InputError(f"{name}: {damaged[:80]!r} inside is damaged")
        elif name.endswith((".gz", ".tgz", ".bz2")):
            remaining = _max_unpacked_bytes(path)
            with open_packed(path, name) as file:
                while block := file.read(1 << 20):
                    if (remaining := remaining - len(block)) < 0:
                        raise _bomb_error(path)
    except READ_ERRORS as error:
        raise _as_input_error(path, error) from None


def unpack(path: Path, folder: Path) -> None:
    """Write the files of an archive below `folder`.

    Raises InputError, perhaps after some files were written, for a corrupt archive, for a member that is outside the
    folder, a link or a device, and for an archive bomb. Raises OSError for a disk error.
    """
    remaining, written = _max_unpacked_bytes(path), 0
    try:
        for name, open_member in _members(path):
            written += 1
            target = folder / _relative_path(name, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            with open_member() as source, target.open("wb") as file:
                while block := source.read(1 << 20):
                    if (remaining := remaining - len(block)) < 0:
                        raise _bomb_error(path)
                    file.write(block)
    except READ_ERRORS as error:
        raise _as_input_error(path, error) from None
    if not written:
        raise InputError(f"{path}: no files in it; not unpacked")


def _max_unpacked_bytes(path: Path) -> int:
    return MAX_RATIO * path.stat().st_size + EXTRA_BYTES


def _bomb_error(path: Path) -> InputError:
    return InputError(f"{path}: far more bytes unpacked than packed (an archive bomb?); not unpacked")


class _TarInfo(tarfile.TarInfo):
    """A member of a tar. A header that would fill the memory is refused: tarfile reads long names and records whole."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_TarInfo":
        member = super().frombuf(buf, encoding, errors)
        if member.type not in FILE_TYPES and member.size > MAX_HEADER_BYTES:
            raise tarfile.TarError(f"a header of {member.size:,} bytes")
        return member


def _limit_members(members: Iterable[Member], path: Path) -> Iterator[Member]:
    """The members; also folders and links count. Raises InputError for too many."""
    for count, member in enumerate(members, start=1):
        if count > MAX_FILES:
            raise InputError(f"{path}: more than {MAX_FILES:,} files (an archive bomb?); not unpacked")
        yield member


def _members(path: Path) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as zipped:
            for info in _limit_members(_zip_entries(zipped, path), path):
                if stat.S_ISLNK(info.external_attr >> 16):
                    raise InputError(f"{path}: {info.filename[:80]!r} is a link; not unpacked")
                if not info.is_dir() and not _is_litter(info.filename):
                    yield info.filename, partial(zipped.open, info)
        return
    with tarfile.open(path, tarinfo=_TarInfo) as tarred:
        for member in _limit_members(tarred, path):
            if not member.isfile() and not member.isdir():
                raise InputError(f"{path}: {member.name[:80]!r} is a link or a device; not unpacked")
            if member.isfile() and not _is_litter(member.name):
                yield member.name, partial(tarred.extractfile, member)  # type: ignore[misc]  # a file can be opened
        _check_tar_end(tarred)


def _zip_entries(archive: zipfile.ZipFile, path: Path) -> list[zipfile.ZipInfo]:
    """The entries of a zip. Raises BadZipFile if the last record has another count, which zipfile does not check."""
    with path.open("rb") as file:
        file.seek(-min(path.stat().st_size, MAX_END_BYTES), os.SEEK_END)
        end = file.read()
    (counted,) = struct.unpack_from("<H", end, end.rfind(b"PK\5\6") + 10)
    entries = archive.infolist()
    if counted not in (len(entries), ZIP64_COUNT):
        raise zipfile.BadZipFile(f"{len(entries)} files, but its end says {counted}")
    return entries


def _check_tar_end(archive: tarfile.TarFile) -> None:
    """Raises TarError if tarfile stopped before the end of the archive, or the rest of the file is corrupt."""
    assert archive.fileobj is not None
    archive.fileobj.seek(archive.offset)
    if archive.fileobj.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise tarfile.ReadError(f"no file and no end at byte {archive.offset:,}")
    while archive.fileobj.read(1 << 20):  # to the checksum of a compressed one
        pass


def _is_litter(name: str) -> bool:
    return any(part in LITTER for part in PurePosixPath(name).parts)


def _relative_path(name: str, path: Path) -> PurePosixPath:
    """The relative path of a member. Raises InputError if it would be outside the target folder.

    This is stricter than tarfile's data filter, which accepts links inside the folder and moves absolute paths into it.
    """
    parts = PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or not parts.parts or ":" in parts.parts[0] or "\0" in name:
        raise InputError(f"{path}: {name[:80]!r} would be written outside; not unpacked")
    return parts


def _as_input_error(path: Path, error: Exception) -> Exception:
    """The InputError for a corrupt archive; a disk error stays as it is."""
    if isinstance(error, InputError) or (isinstance(error, OSError) and error.errno in WRITE_ERRNOS):
        return error
    return InputError(f"{path}: damaged archive ({in_one_line(error)})")
