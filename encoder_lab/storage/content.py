"""Fingerprints of content, for the keys of caches and for what a run has read; times of files do not count."""

import json
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from hashlib import file_digest, sha256
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from encoder_lab.errors import InputError

LARGE_FILE_BYTES = 1 << 26  # bytes; the hash of a smaller file is computed again by each process
SETTLED_NANOSECONDS = 2 * 10**9  # nanoseconds; a younger file may change again without a new time of change
PACKED_SUFFIXES = (".gz", ".tgz", ".bz2", ".zip")  # read in another way than the same bytes under another name
FileState = tuple[int, int, int, int, int]
_digests: dict[FileState, str] = {}
_cache_folders: list[Path] = []


def key_of(*parts: object) -> str:
    """A short name for what is made of these parts, plain values and lists: the end of the name of a cache entry."""
    return sha256(json.dumps(parts).encode()).hexdigest()[:16]


def content_of(path: Path) -> str:
    """The SHA-256 of the bytes of a file. A file is read again only if one of its state on the disk has changed: its
    number, size, time of modification or time of change, which no program can set. Raises InputError for a pipe.
    """
    state = _file_state(path)
    large = state[2] >= LARGE_FILE_BYTES
    note = _cache_folders[0] / f"content-{key_of(state)}" if large and _cache_folders else None
    if note and note.is_file() and state not in _digests:
        text = note.read_text(encoding="ascii", errors="replace")
        if re.fullmatch("[0-9a-f]{64}", text):
            _digests[state] = text
    if state in _digests:
        return _digests[state]
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    if time.time_ns() - state[-1] > SETTLED_NANOSECONDS and _file_state(path) == state:
        _digests[state] = digest
        if note:
            with suppress(OSError):  # a cache that may only be read; half a digest is no digest
                note.parent.mkdir(parents=True, exist_ok=True)
                note.write_text(digest, encoding="ascii")
    return digest


def contents_of(files: Iterable[Path], root: Path | None = None) -> list[tuple[str, str]]:
    """The files with their content, by their names below `root`; elsewhere only how a file is packed counts."""
    if root is not None and root.is_dir():
        return sorted({(str(path.relative_to(root)), content_of(path)) for path in files})
    return [(path.suffix if path.suffix in PACKED_SUFFIXES else "", content_of(path)) for path in files]


def cache_digests_in(cache: Path) -> None:
    """Keep the hashes of large files in this folder, for later processes."""
    _cache_folders[:] = [cache]


def _file_state(path: Path) -> FileState:
    """Raises InputError for a device or a pipe: to read it may never end."""
    state = path.stat()
    if not S_ISREG(state.st_mode) and not S_ISDIR(state.st_mode):
        raise InputError(f"{path}: a device or a pipe, not a file; it was not read")
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns
