"""Text files line by line, plain or gzipped, with errors that name file and line."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from datamodules.errors import InputError


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Line numbers from 1 and lines without their ends. Only a newline ends a line."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    number = 0
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                yield number, raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise InputError(f"{path}:{number}: not valid UTF-8; convert the file") from None
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(f"{path}:{number + 1}: {error}; the file is damaged or not what its name says") from None
    if not number:
        raise InputError(f"{path}: empty")
