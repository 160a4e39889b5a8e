"""Checks the layout of a fastText `.bin` first: on a truncated file fastText hangs or reads garbage."""

import mmap
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from encoder_lab.errors import InputError
from encoder_lab.storage.files import refuse_special

MAGIC, NEWEST_VERSION, SUPERVISED = 793712314, 12, 3
MAX_NGRAM_CHARACTERS = 100  # a longer one is in no model, and all n-grams of a word are made at once
MAX_WORD_BYTES, MAX_COUNT = 1 << 16, 10**15  # bytes; occurrences
CENTROIDS = 256  # per part of a product quantiser
ENTRY_SUFFIX_BYTES = 1 + 8 + 1  # null byte, count, type (0 for words, which come first; 1 for labels)


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
    """The layout of a fastText model; None where it is quantised.

    Raises InputError if the file is not a model, or its size does not fit its header.
    """
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
