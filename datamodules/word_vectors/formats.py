"""Reads word-vector files: fastText `.vec` and `.bin`, GloVe `.txt`, plain or gzipped."""

from collections.abc import Iterator
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from datamodules.arrays import ArrayFile
from datamodules.word_vectors.fasttext_check import check_bin
from encoder_lab.errors import InputError
from encoder_lab.storage.scratch import scratch
from encoder_lab.storage.text_files import composed, read_lines

DIGITS = 15  # at most, of a count in a header
VectorRow = tuple[str, np.ndarray]  # a word and its vector (E,)


def read_vectors(path: Path, out: Path | None = None) -> tuple[list[str], np.ndarray]:
    """Words and their vectors (V, E) float32, memory-mapped. Raises InputError naming file and line.

    `out`: the .npy file that gets the vectors; by default a temporary file that ends with the process.
    """
    rows = _bin_rows(path) if path.suffix == ".bin" else _text_rows(path)
    first = next(rows, None)
    if first is None:
        raise InputError(f"{path}: no words in it")
    words: list[str] = []
    with nullcontext(out.parent) if out else scratch() as place:
        store = out or place / "matrix.npy"
        with ArrayFile(store, np.float32, first[1].shape) as matrix:
            for word, vector in chain([first], rows):
                matrix.append(vector[None])
                words.append(word)
        return words, np.load(store, mmap_mode="r")


def _text_rows(path: Path) -> Iterator[VectorRow]:
    lines = read_lines(path)
    first = next(lines)
    declared = _header(first[1])
    width = declared[1] if declared else len(first[1].rstrip().split(" ")) - 1
    total = declared[0] if declared else None
    numbered = lines if declared else chain([first], lines)
    there = 0
    for number, line in tqdm(numbered, f"reading {path.name}", total, disable=None, unit=" words"):
        row = _parse(path, number, line, width)
        if there == total:
            raise InputError(f"{path}:{number}: more words than the {total} that its first line says")
        there += 1
        yield row
    if not there or total not in (None, there):
        raise InputError(f"{path}: {there} vectors, but its first line says {total}; the file is cut off")


def _header(line: str) -> tuple[int, int] | None:
    """`count width`, the first line of a .vec file; a GloVe file has none."""
    parts = line.split()
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        return None
    count, width = (int(part) if len(part) <= DIGITS else 10**DIGITS for part in parts)
    return count, width


def _parse(path: Path, number: int, line: str, width: int) -> VectorRow:
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
    import fasttext  # here, as a frozen encoder needs it only for unknown words

    check_bin(path)
    fasttext.FastText.eprint = lambda *_, **__: None  # silences a warning about a method that we do not call
    try:
        return fasttext.load_model(str(path))
    except (ValueError, RuntimeError, MemoryError) as error:
        raise InputError(f"{path}: not a fastText model ({error})") from None


def _bin_rows(path: Path) -> Iterator[VectorRow]:
    model = open_bin(path)
    try:
        words = model.get_words()
    except UnicodeDecodeError:
        raise InputError(f"{path}: a word in it is not valid UTF-8; get or make the fastText model again") from None
    for word in tqdm(words, f"reading {path.name}", disable=None, unit=" words"):
        vector = model.get_word_vector(word)
        if not np.isfinite(vector).all():
            raise InputError(f"{path}: the vector of {word!r} is not finite; get or make the model again")
        yield composed(word, path), vector
