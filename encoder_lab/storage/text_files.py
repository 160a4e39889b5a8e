"""Text files line by line, plain or compressed, with errors that name file and line."""

import bz2
import gzip
import json
import logging
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from filecmp import cmp
from functools import cache
from pathlib import Path
from typing import IO, Any, cast
from unicodedata import normalize

from encoder_lab.errors import InputError

WEB_PAGE = "a page of the web (HTML)"
NOT_DATA = {  # how that begins which servers and Git leave in place of data
    b"<!doctype html": WEB_PAGE, b"<html": WEB_PAGE, b"version https://git-lfs": "a pointer of Git LFS (git lfs pull)",
}  # fmt: skip
PACKED_SUFFIXES = (".gz", ".bz2")
DAMAGED_FILE = "the file is damaged or not what its name says; get it again"
MAX_LINE_BYTES = 16 * 1024 * 1024  # bytes; a file without line ends must not fill the memory


def read_lines(path: Path, encoding: str = "utf-8", skip: int = 0) -> Iterator[tuple[int, str]]:
    """Numbers (from 1) and lines in composed Unicode; only a newline ends one. `skip`: the first are not decoded."""
    refuse_missing_file(path)
    number = 0
    try:
        with open_packed(path) as file:
            while raw := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(raw) > MAX_LINE_BYTES:
                    too_long = f"a line of more than {MAX_LINE_BYTES} bytes"
                    raise InputError(f"{path}:{number}: {too_long}; is this a text file?")
                if number == 1:
                    refuse_placeholder(path, raw)
                if number > skip:
                    yield number, compose_unicode(decode_line(raw, f"{path}:{number}", number == 1, encoding), path)
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(f"{path}:{number + 1}: {error}; {DAMAGED_FILE}") from None
    if not number:
        raise InputError(f"{path}: empty")


def decode_line(raw: bytes, location: str, first: bool, encoding: str = "utf-8") -> str:
    """A line without its end, the `first` one of a file without its mark. Raises InputError for other text."""
    try:
        line = raw.decode(encoding).removeprefix("\ufeff" if first else "").rstrip("\r\n")
    except UnicodeDecodeError:
        raise InputError(f"{location}: not valid UTF-8; convert the file") from None
    if "\0" in line:  # the other byte of each letter in UTF-16
        raise InputError(f"{location}: a NUL character; remove it or, if the file is in UTF-16, convert it to UTF-8")
    if first and "\r" in line:  # a stray one further on is a space
        raise InputError(f"{location}: lines that end in CR alone; convert the file: tr '\\r' '\\n' < OLD > NEW")
    return line


def placeholder_in(start: bytes) -> str:
    """What stands in place of data, by its first bytes; "" where these may be data."""
    text = start[:1024].removeprefix(BOM_UTF8).lstrip().lower()
    return next((name for beginning, name in NOT_DATA.items() if text.startswith(beginning)), "")


def refuse_placeholder(path: Path, start: bytes) -> None:
    """Raises InputError for a file that begins as what stands in place of data, or is an archive."""
    if start[257:262] == b"ustar":
        raise InputError(f"{path}: an archive; unpack it: tar xf {path.name}")
    if name := placeholder_in(start):
        raise InputError(f"{path}: {name} in place of data; get the file again")


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON object on each line, with its line number; blank lines are skipped."""
    for number, line in read_lines(path):
        if line.strip():
            yield number, parse_json_object(path, number, line)


def parse_json(text: str) -> Any:
    """What JSON text says. Raises ValueError, for a name that an object has twice, too."""
    return json.loads(text, object_pairs_hook=_refuse_repeated_names)


def _refuse_repeated_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"an object has {next(name for name in names if names.count(name) > 1)!r} twice")
    return record


def parse_user_json(path: Path, text: str) -> Any:
    """What JSON text in a file of the user says, in composed Unicode. Raises ValueError."""
    record = parse_json(compose_unicode(text, path))
    if "\\u" in text:
        plain = json.dumps(record, ensure_ascii=False)
        plain.encode()  # half of a surrogate pair is not a valid character
        record = json.loads(compose_unicode(plain, path))
    return record


def parse_json_object(path: Path, number: int, line: str) -> dict[str, Any]:
    """The JSON object on a line, in composed Unicode. Raises InputError that names the line."""
    try:
        record = parse_user_json(path, line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}:{number}: not valid JSON ({error}); fix or remove the line") from None
    if not isinstance(record, dict):
        raise InputError(f"{path}:{number}: expected a JSON object, found {type(record).__name__}")
    return record


def read_table(path: Path, columns: Iterable[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The named columns of a tab-separated file, with line numbers. The first line is the header. No quoting."""
    rows = read_lines(path)
    header = next(rows)[1].split("\t")
    missing = [name for name in columns if name not in header]
    if missing:
        raise InputError(f"{path}:1: no column {', '.join(missing)} in the header, which has {', '.join(header)}")
    if repeated := [name for name in columns if header.count(name) > 1]:
        raise InputError(f"{path}:1: the header has {', '.join(repeated)} twice; rename or remove one of the columns")
    indices = {name: header.index(name) for name in columns}
    for number, line in rows:
        fields = line.split("\t")
        if not line.strip():
            continue
        if not max(indices.values()) < len(fields) <= len(header):
            raise InputError(f"{path}:{number}: {len(fields)} columns, expected {len(header)}; fix or remove the line")
        yield number, {name: fields[index] for name, index in indices.items()}


def count_lines(path: Path) -> int:
    """The number of lines that `read_lines` yields, without decoding them."""
    lines, last = 0, b"\n"
    for block in read_blocks(path):
        lines, last = lines + block.count(b"\n"), block[-1:]
    return lines + (last != b"\n")


def read_blocks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, unpacked. Raises InputError where it is missing or damaged."""
    refuse_missing_file(path)
    try:
        with open_packed(path) as file:
            while block := file.read(1 << 20):
                yield block
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(f"{path}: {error}; {DAMAGED_FILE}") from None


def files_below(path: Path, endings: Iterable[str]) -> list[Path]:
    """The file itself, or all below the folder with one of these endings, plain, `.gz` or `.bz2`; sorted.

    Hidden ones, as those of editors and of virtual environments, and copies are left out. Raises InputError where there
    is none.
    """
    if not path.is_dir():
        return [path]
    packed = tuple(f"{ending}{pack}" for ending in endings for pack in ("", *PACKED_SUFFIXES))
    chosen = without_copies(file for file in visible_files(path) if file.name.endswith(packed))
    if not chosen:
        packs = f"or those with {', '.join(PACKED_SUFFIXES)}"
        raise InputError(f"{path}: no files there that end in {', '.join(endings)} ({packs})")
    return chosen


def visible_files(path: Path, within: frozenset[Path] = frozenset()) -> list[Path]:
    """The file, or all below the folder, also in folders that are links; `within`: the folders that it is in."""
    if not path.is_dir():
        return [path] if path.is_file() else []
    if (place := path.resolve()) in within:
        raise InputError(f"{path}: a link to a folder that it is in; remove it")
    below = (entry for entry in sorted(path.iterdir()) if not entry.name.startswith("."))
    return [file for entry in below for file in visible_files(entry, within | {place})]


def without_copies(files: Iterable[Path]) -> list[Path]:
    """The files, those that are there plain and packed or with the same name and content once, with a note."""
    chosen: dict[Path, Path] = {}
    same_size: dict[tuple[str, int], list[Path]] = {}
    listed, distinct, copies = list(files), set[Path](), list[str]()
    for file in sorted(listed, key=lambda file: len(file.parts)):  # the copy is the one in a sub-folder
        first = chosen.setdefault(without_packed_suffix(file.resolve()), file)
        same = same_size.setdefault((file.name, file.stat().st_size if file.exists() else 0), [])
        if copied := first if first != file else next((other for other in same if cmp(other, file, False)), None):
            copies.append(f"{file}: {'given twice' if copied == file else f'left out, as {copied} is there too'}")
        else:
            same.append(file)
            distinct.add(file)
    if copies:
        log_note_once(copies[0] + (f"; left out in all: {len(copies)} copies" if len(copies) > 1 else ""))
    return [file for file in dict.fromkeys(listed) if file in distinct]


def plain_or_packed(path: Path) -> Path:
    """The file itself, or the packed one where only that is there."""
    forms = (path.with_name(f"{path.name}{suffix}") for suffix in ("", *PACKED_SUFFIXES))
    return next(filter(Path.is_file, forms), path)


def without_packed_suffix(path: Path) -> Path:
    """The path without the ending of a packed file."""
    return path.with_suffix("") if path.suffix in PACKED_SUFFIXES else path


def refuse_missing_file(path: Path) -> None:
    """Raises InputError for what is no plain file."""
    if not path.is_file():
        raise InputError(f"{path}: {'not a file' if path.exists() else 'no such file'}")


def log_note(text: str) -> None:
    """Tell the user what was left out of a corpus."""
    logging.getLogger("datamodules").warning(text)


log_note_once = cache(log_note)  # where a file is read several times


def compose_unicode(text: str, path: Path | None = None) -> str:
    """Text in composed Unicode (NFC): e and its accent are one letter. `path`: its file, for a note."""
    nfc = normalize("NFC", text)
    if path is not None and nfc != text:
        log_note_once(f"{path}: letters followed by accents of their own are read as one letter each (Unicode NFC)")
    return nfc


def open_packed(path: Path, name: str = "") -> IO[bytes]:
    """The bytes of a file, unpacked by its `name`. Reading raises EOFError, OSError or zlib.error if cut off."""
    name = name or path.name
    if name.endswith((".gz", ".tgz")):
        return cast(IO[bytes], gzip.open(path, "rb"))
    if not name.endswith(".bz2"):
        return path.open("rb")
    file: Any = bz2.BZ2File(path)
    file._buffer.raw._trailing_error = ()  # by which a corrupt later stream would be taken for the end
    return cast(IO[bytes], file)
