"""Reading word-vector files: fastText `.vec` and `.bin`, GloVe `.txt`, plain or gzipped."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fasttext
import numpy as np
from tqdm import tqdm

from datamodules.errors import InputError
from datamodules.fasttext_file import check_bin
from datamodules.lines import read_lines

CHUNK = 30_000_000  # numbers allocated at a time
DIGITS = 15  # of a count that is read; one with more is as wrong


def read_vectors(path: Path) -> tuple[list[str], np.ndarray]:
    """Words and their vectors (V, E) float32. Raises InputError naming file and line."""
    if path.suffix == ".bin":
        return _read_bin(path)
    lines = read_lines(path)
    first = next(lines)
    declared = _header(first[1])
    words: list[str] = []
    blocks: list[np.ndarray] = []
    width = declared[1] if declared else len(first[1].rstrip().split(" ")) - 1
    numbered = lines if declared else _again(first, lines)
    total = declared[0] if declared else None
    rows = max(1, CHUNK // max(1, width))
    for number, line in tqdm(numbered, f"reading {path.name}", total, disable=None, unit=" words"):
        word, vector = _parse(path, number, line, width)  # first, for a width that is no line's must not be allocated
        if total is not None and len(words) >= total:
            raise InputError(f"{path}:{number}: more words than the {total} that its first line says")
        if len(words) % rows == 0:
            blocks.append(np.empty((min(rows, total or rows), width), dtype=np.float32))
        blocks[-1][len(words) % rows] = vector
        words.append(word)
    if not words or (total is not None and len(words) != total):
        raise InputError(f"{path}: {len(words)} vectors, but its first line says {total}; the file is cut off")
    return words, np.concatenate(blocks)[: len(words)]


def _again(first: tuple[int, str], rest: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    yield first
    yield from rest


def _header(line: str) -> tuple[int, int] | None:
    """`count width`, the first line of a .vec file; a GloVe file has none."""
    parts = line.split()
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        return None
    count, width = (int(part) if len(part) <= DIGITS else 10**DIGITS for part in parts)
    return count, width


def _parse(path: Path, number: int, line: str, width: int) -> tuple[str, np.ndarray]:
    parts = line.rstrip().rsplit(" ", width)  # GloVe 840B has words with spaces in them
    try:
        vector = np.array(parts[1:], dtype=np.float32)
    except ValueError:
        raise InputError(f"{path}:{number}: {_wrong(parts[1:])!r} is not a number") from None
    if len(vector) != width or not parts[0]:
        raise InputError(f"{path}:{number}: {len(vector)} numbers, expected a word and {width} numbers")
    if not np.isfinite(vector).all():
        raise InputError(f"{path}:{number}: a number is not finite; remove the line")
    return parts[0], vector


def _wrong(texts: list[str]) -> str:
    for text in texts:
        try:
            float(text)
        except ValueError:
            return text
    return ""


def open_bin(path: Path) -> Any:
    """A fastText model. Raises InputError when the file is none, or not whole."""
    check_bin(path)
    fasttext.FastText.eprint = lambda *_, **__: None  # loading warns about a method that nobody calls
    try:
        return fasttext.load_model(str(path))
    except (ValueError, RuntimeError, MemoryError) as error:
        raise InputError(f"{path}: not a fastText model ({error})") from None


def _read_bin(path: Path) -> tuple[list[str], np.ndarray]:
    model = open_bin(path)
    words = model.get_words()
    matrix = np.empty((len(words), model.get_dimension()), dtype=np.float32)
    for row, word in enumerate(tqdm(words, f"reading {path.name}", disable=None, unit=" words")):
        matrix[row] = model.get_word_vector(word)
    return words, matrix
