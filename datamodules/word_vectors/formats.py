"""Reads word-vector files: text (fastText `.vec`, GloVe `.txt`, with tabs or commas), fastText and word2vec `.bin`."""

import re
import shutil
import struct
import zlib
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, Literal
from zipfile import BadZipFile, ZipFile

import numpy as np

from datamodules.arrays import ArrayFile
from datamodules.word_vectors.fasttext_file import MAGIC, MAX_WORD_BYTES, open_bin
from encoder_lab.errors import InputError
from encoder_lab.progress import Progress
from encoder_lab.storage.files import disk_errors, refuse_special
from encoder_lab.storage.text_files import DAMAGED_FILE, compose_unicode, open_packed, read_blocks, read_lines

MAX_DIGITS = 15  # of a count in a header
NUMBER_IN_WORD = re.compile(r" [-+]?\d*\.\d+(e[-+]?\d+)?$", re.IGNORECASE)  # the line has more numbers than others
SPACES_AFTER_TEXT = re.compile(r"(?<=\S) {2,}")  # of columns that are aligned; before a line a space is a word
VectorRow = tuple[str, np.ndarray]  # a word and its vector (E,)
Form = Literal["text", "fasttext", "word2vec"]
READ_FORMS = "text (.vec, GloVe .txt), fastText .bin and word2vec .bin, plain or packed with .gz, .bz2 or .zip"
START_BYTES = 1 << 16
WORD2VEC_PATTERN = re.compile(rb"(\d{1,15}) (\d{1,6})\r?\n\s*(\S+) ")  # count and width, and the first word
PICKLE_PROBLEM = "a Python pickle, as gensim saves; save_word2vec_format of gensim writes a form that is read"
UNREAD_FORMS = {bytes([0x80, protocol]): PICKLE_PROBLEM for protocol in (2, 3, 4, 5)} | {
    b"\x93NUMPY": "a NumPy array without words; write each word and its numbers on a line",
    b"PK\x03\x04": "a zip archive or PyTorch file; name an archive .zip, write the vectors of PyTorch as text",
    b"\x89HDF": "HDF5; write each word and its numbers on a line",
    b"SQLite format 3": "a SQLite database, as Magnitude has; write each word and its numbers on a line",
    b"PAR1": "Parquet; write each word and its numbers on a line",
    b"\x1f\x8b": "packed by gzip; let its name end in .gz",
    b"BZh": "packed by bzip2; let its name end in .bz2",
    b"\xfd7zXZ": "packed by xz; unpack it: unxz FILE",
    b"7z\xbc\xaf": "packed by 7-Zip; unpack it: 7z x FILE",
    b"(\xb5/\xfd": "packed by Zstandard; unpack it: unzstd FILE",
    b"Rar!": "packed by RAR; unpack it",
}


def form_of(path: Path) -> Form:
    """The form of a file. Raises InputError for one that is not read, with its name and the remedy."""
    refuse_special(path)
    start = next(read_blocks(path), b"")[:START_BYTES]
    if start[:4] == struct.pack("<i", MAGIC):
        return "fasttext"
    for magic, problem in UNREAD_FORMS.items():
        if start.startswith(magic):
            raise InputError(f"{path}: {problem}; read are {READ_FORMS}")
    if header := WORD2VEC_PATTERN.match(start):
        numbers = start[header.end() : header.end() + 4 * int(header[2])]
        if 2 * len(re.findall(rb"[-+\d.eE\s,]", numbers)) < len(numbers):
            return "word2vec"
    return "fasttext" if ".bin" in path.suffixes[-2:] else "text"


def unpack_vectors(path: Path, work: Path) -> Path:
    """The file itself, or what a reader needs unpacked in the folder `work`: a .zip, and a packed fastText model."""
    if path.suffix == ".zip":
        return _unpack_zip(path, work)
    if path.suffix in (".gz", ".bz2") and form_of(path) == "fasttext":
        out = work / path.stem
        with out.open("wb") as target, disk_errors(out):
            target.writelines(read_blocks(path))
        return out
    return path


def _unpack_zip(path: Path, work: Path) -> Path:
    try:
        with ZipFile(path) as archive:
            names = [e for e in archive.namelist() if not e.endswith("/") and not e.startswith("__MACOSX/")]
            if len(names) != 1:
                listing = f"{len(names)} files in it ({', '.join(names[:5])})"
                raise InputError(f"{path}: {listing}; unpack it and give one of them")
            out = work / Path(names[0]).name
            with archive.open(names[0]) as source, out.open("wb") as target, disk_errors(out):
                shutil.copyfileobj(source, target, 1 << 20)
    except (BadZipFile, EOFError, zlib.error, NotImplementedError, RuntimeError) as error:  # encrypted: RuntimeError
        raise InputError(f"{path}: {error}; {DAMAGED_FILE}") from None
    return out


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
    numbers = start[0][1].split(",")[1:] if start else []
    comma = bool(numbers) and not _first_non_number(numbers)
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


def _split_fields(line: str, comma: bool, width: int = -1) -> list[str]:
    """A word and its numbers. GloVe 840B has words with spaces in them."""
    if not comma:
        line = line.rstrip().replace("\t", " ")
        return (SPACES_AFTER_TEXT.sub(" ", line) if "  " in line else line).rsplit(" ", width)
    word, *numbers = line.rstrip().rsplit(",", width)
    in_quotes = len(word) > 2 and word[0] == word[-1] == '"'
    return [word[1:-1].replace('""', '"') if in_quotes else word, *numbers]


def _parse_row(path: Path, number: int, parts: list[str], width: int) -> VectorRow:
    try:
        vector = np.array(parts[1:], dtype=np.float32)
        if "_" in "".join(parts[1:]):  # which Python reads over
            raise ValueError
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
            float(text.replace("_", "x"))
        except ValueError:
            return text
    return ""


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
