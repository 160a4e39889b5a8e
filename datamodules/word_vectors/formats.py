"""Reads word-vector files: text (fastText `.vec`, GloVe `.txt`, with tabs or commas), fastText and word2vec `.bin`."""

import re
import zlib
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from datamodules.arrays import ArrayFile
from datamodules.word_vectors.fasttext_check import MAX_WORD_BYTES, check_bin
from datamodules.word_vectors.forms import form_of
from encoder_lab.errors import InputError
from encoder_lab.progress import Progress
from encoder_lab.storage.text_files import compose_unicode, open_packed, read_lines

MAX_DIGITS = 15  # of a count in a header
NUMBER_IN_WORD = re.compile(r" [-+]?\d*\.\d+(e[-+]?\d+)?$", re.IGNORECASE)  # the line has more numbers than others
VectorRow = tuple[str, np.ndarray]  # a word and its vector (E,)


def read_vectors(path: Path, out: Path) -> list[str]:
    """The words; their vectors (V, E) float32 go to the .npy file `out`. Raises InputError naming file and line."""
    readers = {"text": _text_rows, "fasttext": _bin_rows, "word2vec": _word2vec_rows}
    rows = readers[form_of(path)](path)
    first = next(rows, None)
    if first is None:
        raise InputError(f"{path}: no words in it")
    words: list[str] = []
    with ArrayFile(out, np.float32, first[1].shape) as matrix:
        for word, vector in chain([first], rows):
            matrix.append(vector[None])
            words.append(word)
    return words


def _text_rows(path: Path) -> Iterator[VectorRow]:
    lines = read_lines(path)
    first = next(lines)
    declared = _parse_header(first[1])
    start = list(islice(lines, 1)) if declared else [first]
    comma = bool(start) and _has_commas(start[0][1])
    total, width = declared or (None, len(_split_fields(first[1], comma)) - 1)
    if not width:
        raise InputError(f"{path}:1: no numbers; expected a word and its numbers, with spaces, tabs or commas between")
    count = 0
    for number, line in Progress(chain(start, lines), f"reading {path.name}", total, unit=" words"):
        row = _parse_row(path, number, _split_fields(line, comma, width), width)
        if count == total:
            raise InputError(f"{path}:{number}: more words than the {total} that its first line says")
        count += 1
        yield row
    if not count or total not in (None, count):
        raise InputError(f"{path}: {count} vectors, but its first line says {total}; the file is cut off")


def _parse_header(line: str) -> tuple[int, int] | None:
    """`count width`, the first line of a .vec file; a GloVe file has none."""
    parts = line.replace(",", " ").split()
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        return None
    count, width = (int(part) if len(part) <= MAX_DIGITS else 10**MAX_DIGITS for part in parts)
    return count, width


def _has_commas(line: str) -> bool:
    numbers = line.split(",")[1:]
    return bool(numbers) and not _first_non_number(numbers)


def _split_fields(line: str, comma: bool, width: int = -1) -> list[str]:
    """A word and its numbers. GloVe 840B has words with spaces in them."""
    line = line.rstrip() if comma else line.rstrip().replace("\t", " ")
    return line.rsplit("," if comma else " ", width)


def _parse_row(path: Path, number: int, parts: list[str], width: int) -> VectorRow:
    try:
        vector = np.array(parts[1:], dtype=np.float32)
    except ValueError:
        raise InputError(f"{path}:{number}: {_first_non_number(parts[1:])!r} is not a number") from None
    if len(vector) != width or not parts[0]:
        raise InputError(f"{path}:{number}: {len(vector)} numbers, expected a word and {width} numbers")
    if NUMBER_IN_WORD.search(parts[0]):
        raise InputError(f"{path}:{number}: more numbers than the {width} of the first line; correct one of them")
    if not np.isfinite(vector).all():
        raise InputError(f"{path}:{number}: a number is not finite; remove the line")
    return parts[0], vector


def _first_non_number(texts: list[str]) -> str:
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
    for word in Progress(words, f"reading {path.name}", unit=" words"):
        vector = model.get_word_vector(word)
        if not np.isfinite(vector).all():
            raise InputError(f"{path}: the vector of {word!r} is not finite; get or make the model again")
        yield compose_unicode(word, path), vector


def _word2vec_rows(path: Path) -> Iterator[VectorRow]:
    """The binary form of word2vec: count and width on a line; then of each word its letters, a space, its numbers."""
    number = 0
    try:
        with open_packed(path) as file:
            total, width = map(int, file.readline().split())
            for number in Progress(range(total), f"reading {path.name}", unit=" words"):  # noqa: B007
                word = _read_until_space(file).lstrip(b"\r\n").decode("utf-8")
                vector = np.frombuffer(file.read(4 * width), "<f4")
                if not word or min(word) < " " or len(vector) != width:  # bytes of a vector, or no bytes at all
                    raise EOFError
                if not np.isfinite(vector).all():
                    raise InputError(f"{path}: the vector of {word!r} is not finite; get or make the file again")
                yield compose_unicode(word, path), vector
            if file.read(1 << 10).strip():
                raise InputError(f"{path}: more than the {total} words that its first line says; get the file again")
    except UnicodeDecodeError:
        raise InputError(f"{path}: word {number + 1} is not valid UTF-8; convert or get the file again") from None
    except (EOFError, OSError, ValueError, zlib.error) as error:
        if isinstance(error, InputError):
            raise
        problem = f"cut off or damaged after {number:,} vectors, or a word there has a space in it"
        raise InputError(f"{path}: {problem}; get the file again") from None


def _read_until_space(file: IO[bytes]) -> bytes:
    word = bytearray()
    while (letter := file.read(1)) != b" ":
        word += letter
        if not letter or len(word) > MAX_WORD_BYTES:
            raise EOFError
    return bytes(word)
