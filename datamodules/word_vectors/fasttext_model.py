"""Vectors from the file of a fastText model, which is not loaded: it may have gigabytes, and fastText reads all."""

import os
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from datamodules.word_vectors.fasttext_check import ENTRY_SUFFIX_BYTES, Layout, check_bin
from datamodules.word_vectors.formats import open_bin
from encoder_lab.errors import InputError

SENTENCE_END = "</s>"


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
