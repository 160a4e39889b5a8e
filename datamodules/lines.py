"""Text files line by line, plain or compressed, with errors that name file and line."""

import json
import logging
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from datamodules.errors import InputError
from datamodules.packed import open_packed

MAX_LINE = 16 * 1024 * 1024  # bytes; a file without line ends must not fill the memory


def read_lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Line numbers from 1 and lines without their ends. Only a newline ends a line."""
    if not path.is_file():
        raise InputError(f"{path}: {'not a file' if path.exists() else 'no such file'}")
    number = 0
    try:
        with open_packed(path) as file:
            while raw := file.readline(MAX_LINE + 1):
                number += 1
                if len(raw) > MAX_LINE:
                    raise InputError(f"{path}:{number}: a line of more than {MAX_LINE} bytes; is this a text file?")
                yield number, raw.decode(encoding).removeprefix("\ufeff" if number == 1 else "").rstrip("\r\n")
    except UnicodeDecodeError:
        raise InputError(f"{path}:{number}: not valid UTF-8; convert the file") from None
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(f"{path}:{number + 1}: {error}; the file is damaged or not what its name says") from None
    if not number:
        raise InputError(f"{path}: empty")


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON object on each line; blank lines are passed over."""
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if "\\ud" in line.lower():  # an escaped half of a surrogate pair is no character
                json.dumps(record, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}:{number}: not valid JSON ({error}); mend or remove the line") from None
        if not isinstance(record, dict):
            raise InputError(f"{path}:{number}: expected a JSON object, found {type(record).__name__}")
        yield number, record


def read_table(path: Path, columns: Iterable[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The named columns of a tab-separated file whose first line names all of them. Quotes mean nothing."""
    rows = read_lines(path)
    header = next(rows)[1].split("\t")
    missing = [name for name in columns if name not in header]
    if missing:
        raise InputError(f"{path}:1: no column {', '.join(missing)} in the header; is this the published file?")
    places = {name: header.index(name) for name in columns}
    for number, line in rows:
        fields = line.split("\t")
        if not line.strip():
            continue
        if not max(places.values()) < len(fields) <= len(header):
            raise InputError(f"{path}:{number}: {len(fields)} columns, expected {len(header)}; mend or remove the line")
        yield number, {name: fields[place] for name, place in places.items()}


def count_lines(path: Path) -> int:
    """How many lines `read_lines` gives, without decoding them."""
    lines, last = 0, b"\n"
    try:
        with open_packed(path) as file:
            while block := file.read(1 << 20):
                lines, last = lines + block.count(b"\n"), block[-1:]
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(f"{path}: {error}; the file is damaged or not what its name says") from None
    return lines + (last != b"\n")


def note(text: str) -> None:
    """Tell the user what was left out of a corpus."""
    logging.getLogger("datamodules").warning(text)


def state_of(paths: Iterable[Path]) -> str:
    """A text that changes whenever one of these files does."""
    return " ".join(f"{p.name}:{p.stat().st_size}:{p.stat().st_mtime_ns}" for p in sorted(paths))
