"""Vectors from the `.bin` file of a fastText model, which is not loaded: it may have gigabytes, and fastText reads all.

The layout is checked first: on a truncated file fastText hangs or reads garbage.
"""

import mmap
import os
import struct
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from encoder_lab.errors import InputError
from encoder_lab.storage.files import refuse_special

MAGIC, NEWEST_VERSION, SUPERVISED = 793712314, 12, 3
MAX_NGRAM_CHARACTERS = 100  # a longer one is in no model, and all n-grams of a word are made at once
MAX_WORD_BYTES, MAX_COUNT = 1 << 16, 10**15  # bytes; occurrences
CENTROIDS = 256  # per part of a product quantiser
ENTRY_SUFFIX_BYTES = 1 + 8 + 1  # null byte, count, type (0 for words, which come first; 1 for labels)
SENTENCE_END = "</s>"


class Layout(NamedTuple):
    """Where a model has its words and its matrix (N, `dim`): offsets in bytes; and what its n-grams are."""

    words: int
    entries: int  # the words and, behind them, labels
    ngrams: int  # the first row of the matrix that belongs to n-grams
    matrix: int
    dim: int
    bucket: int
    shortest: int
    longest: int


def check_bin(path: Path) -> Layout | None:
    """The layout of a fastText model; None if it is quantised. Raises InputError unless its size fits its header."""
    refuse_special(path)
    size = path.stat().st_size
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            end, layout = _Reader(data).find_end()
    except (struct.error, ValueError, OverflowError, IndexError):  # read past the end of the file, or the file is empty
        raise InputError(f"{path}: cut off after {size:,} bytes; get or make the fastText model again") from None
    except _Damaged as error:
        reason = str(error) or "not a fastText model, or damaged; get or make the fastText model again"
        raise InputError(f"{path}: {reason}") from None
    if end != size:
        raise InputError(f"{path}: {size:,} bytes instead of {end:,}; get or make the fastText model again")
    return layout


class _Damaged(Exception):
    """The numbers in the file are inconsistent."""


class _Reader:
    """Walks over settings, dictionary, input matrix and output matrix to find the end of a model."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data, self.offset = data, 0

    def find_end(self) -> tuple[int, Layout | None]:
        """The offset of the end of the model, which may be larger than the file, and the layout."""
        magic, version, *arguments, _ = self._unpack("<14id")  # the last one is the sampling threshold
        dim, (model, bucket, shortest, longest) = arguments[0], arguments[7:11]
        _expect(magic == MAGIC and version <= NEWEST_VERSION and dim >= 1 and longest <= MAX_NGRAM_CHARACTERS)
        _expect(bucket >= 1 or (bucket == 0 and longest <= 0))  # a hash is divided by it
        entries, words, labels, _, pruned = self._unpack("<3i2q")
        _expect(entries >= 1 and words >= 0 and labels >= 0 and words + labels == entries)
        dictionary = self.offset
        for entry in range(entries):
            if (null := self.data.find(b"\0", self.offset)) < 0:
                raise ValueError("a word without an end")
            _expect(null - self.offset <= MAX_WORD_BYTES)
            self.offset = null + ENTRY_SUFFIX_BYTES
            (count,) = struct.unpack_from("<q", self.data, null + 1)
            _expect(0 <= count < MAX_COUNT)  # more ends in a broken Huffman tree
            _expect(self.data[self.offset - 1] == (entry >= words))  # words, then labels; else the counts are wrong
        self._skip_subword_table(max(0, pruned), bucket)
        (quantised,) = self._unpack("<?")
        matrix = self.offset + struct.calcsize("<2q")
        rows, columns = self._skip_matrix(quantised)
        _expect(columns == dim and rows == words + (bucket if pruned < 0 else pruned))
        if entries > rows:  # a label may be looked up too, in the rows after those of the words
            raise _Damaged("a classifier with labels beyond its matrix; give its vectors as a .vec file")
        (output_quantised,) = self._unpack("<?")
        _expect(self._skip_matrix(quantised and output_quantised)[1] == dim)
        if quantised or pruned >= 0:
            return self.offset, None
        used = 0 if version == 11 and model == SUPERVISED else longest  # as fastText reads such files
        return self.offset, Layout(dictionary, entries, words, matrix, dim, bucket, shortest, used)

    def _unpack(self, form: str) -> tuple:
        values = struct.unpack_from(form, self.data, self.offset)
        self.offset += struct.calcsize(form)
        return values

    def _skip_subword_table(self, count: int, bucket: int) -> None:
        """Skips the subword table of a quantised model: the hash and the row of each subword."""
        if self.offset + 8 * count > len(self.data):
            raise ValueError("a table without an end")
        pairs = np.frombuffer(self.data[self.offset : self.offset + 8 * count], "<i4")
        _expect(not count or (pairs.min() >= 0 and pairs[::2].max() < bucket and pairs[1::2].max() < count))
        self.offset += 8 * count

    def _skip_matrix(self, quantised: bool) -> tuple[int, int]:
        (with_norm,) = self._unpack("<?") if quantised else (False,)
        rows, columns = self._unpack("<2q")
        if not quantised:
            self.offset += 4 * max(0, rows) * max(0, columns)
            return rows, columns
        (codes,) = self._unpack("<i")
        self._skip_quantiser(codes, rows, columns)
        if with_norm:
            self._skip_quantiser(rows, rows, 1)
        return rows, columns

    def _skip_quantiser(self, codes: int, rows: int, columns: int) -> None:
        """Skips the codes (one byte per part of a row) and the centroids of a product quantiser."""
        self.offset += max(0, codes)
        dim, parts, width, last = self._unpack("<4i")
        _expect(dim == columns and width >= 1 and codes == rows * parts and (parts - 1) * width + last == dim)
        _expect(1 <= last <= width)
        self.offset += 4 * dim * CENTROIDS


def _expect(condition: bool) -> None:
    if not condition:
        raise _Damaged


def open_bin(path: Path) -> Any:
    """A fastText model. Raises InputError when the file is none, or not whole."""
    import fasttext  # here, as a frozen encoder needs it only for unknown words

    check_bin(path)
    fasttext.FastText.eprint = lambda *_, **__: None  # silences a warning about a method that we do not call
    try:
        return fasttext.load_model(str(path))
    except (ValueError, RuntimeError, MemoryError) as error:
        raise InputError(f"{path}: not a fastText model ({error})") from None


def open_lookup(path: Path) -> Any:
    """Gives vectors of words: the file itself, or fastText where it is quantised. Raises InputError as `open_bin`.

    For a file of 28 MB and one word 4 ms in place of 126, and no copy of it in memory: `python -m timeit` of
    `open_lookup(path).get_word_vector("zebras")` and of `fasttext.load_model(path).get_word_vector("zebras")`.
    """
    layout = check_bin(path)
    return FastTextFile(path, layout) if layout else open_bin(path)


class FastTextFile:
    """Composes the vectors of words as fastText 0.9.3 does, to the bit (Bojanowski et al. 2017)."""

    def __init__(self, path: Path, layout: Layout) -> None:
        self.path, self.layout, self.file = path, layout, path.open("rb")

    def get_word_vector(self, word: str) -> np.ndarray:
        """The mean (E,) of the vectors of a word, if the model has it, and of its n-grams; zero without any."""
        total, rows, size = np.zeros(self.layout.dim, np.float32), self._rows_of_word(word), 4 * self.layout.dim
        for row in rows:
            total += np.frombuffer(self._read_bytes(self.layout.matrix + row * size, size), "<f4")
        return total * np.float32(1 / max(1, len(rows)))

    def _rows_of_word(self, word: str) -> list[int]:
        rows = [self._word_rows[key]] if (key := word.encode()) in self._word_rows else []
        if word == SENTENCE_END:
            return rows
        sizes = self.layout.shortest, self.layout.longest, self.layout.bucket
        return [*rows, *(self.layout.ngrams + row for row in ngram_rows(word, *sizes))]

    def _read_bytes(self, offset: int, size: int) -> bytes:
        data = os.pread(self.file.fileno(), size, offset)  # threads and forked processes share the position in a file
        if len(data) < size:
            raise InputError(f"{self.path}: changed while it was read")
        return data

    @cached_property
    def _word_rows(self) -> dict[bytes, int]:
        rows = {}
        data, offset = self._read_bytes(self.layout.words, self.layout.matrix - self.layout.words), 0
        for row in range(self.layout.entries):
            null = data.index(b"\0", offset)
            rows[data[offset:null]] = row
            offset = null + ENTRY_SUFFIX_BYTES
        return rows


def ngram_rows(word: str, shortest: int, longest: int, buckets: int) -> list[int]:
    """The buckets of the character n-grams of `<word>`, without its marks alone. It is also in exported encoders."""
    text, rows = f"<{word}>", []
    for start in range(len(text)):
        for end in range(start + max(1, shortest), min(start + longest, len(text)) + 1):
            if end - start > 1 or (start > 0 and end < len(text)):
                rows.append(fasttext_hash(text[start:end].encode()) % buckets)
    return rows


def fasttext_hash(text: bytes) -> int:
    """The 32-bit FNV-1a hash of fastText, which reads bytes with a sign."""
    value = 2166136261
    for byte in text:
        value = (value ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619 & 0xFFFFFFFF
    return value
