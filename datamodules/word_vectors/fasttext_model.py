"""Vectors from the file of a fastText model, which is not loaded: it may have gigabytes, and fastText reads all."""

import os
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from datamodules.word_vectors.fasttext_check import BEHIND_WORD, Layout, check_bin
from datamodules.word_vectors.formats import open_bin
from encoder_lab.errors import InputError

END, PRIME, BASIS = b"</s>", 16777619, 2166136261  # of a sentence; of FNV-1a


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
        total, rows = np.zeros(self.layout.dim, np.float32), self._rows(word.encode())
        for row in rows:
            total += self._row(row)
        return total * np.float32(1 / max(1, len(rows)))

    def _rows(self, word: bytes) -> list[int]:
        own = [self._places[word]] if word in self._places else []
        return own if word == END else [*own, *self._ngrams(b"<" + word + b">")]

    def _ngrams(self, word: bytes) -> list[int]:
        starts = [place for place, byte in enumerate(word) if byte & 0xC0 != 0x80]  # of characters in UTF-8
        ends, longest, rows = [*starts[1:], len(word)], max(0, self.layout.longest), []
        for first, start in enumerate(starts):
            for size, end in enumerate(ends[first : first + longest], 1):
                if size >= self.layout.shortest and not (size == 1 and (start == 0 or end == len(word))):
                    rows.append(self.layout.ngrams + _hash(word[start:end]) % self.layout.bucket)
        return rows

    def _row(self, row: int) -> np.ndarray:
        size = 4 * self.layout.dim
        return np.frombuffer(self._read(self.layout.matrix + row * size, size), "<f4")

    def _read(self, offset: int, size: int) -> bytes:
        data = os.pread(self.file.fileno(), size, offset)  # threads and forked processes share the place in a file
        if len(data) < size:
            raise InputError(f"{self.path}: changed while it was read")
        return data

    @cached_property
    def _places(self) -> dict[bytes, int]:
        """The row of each word."""
        places = {}
        data, at = self._read(self.layout.words, self.layout.matrix - self.layout.words), 0
        for row in range(self.layout.entries):
            null = data.index(b"\0", at)
            places[data[at:null]] = row
            at = null + BEHIND_WORD
        return places


def _hash(ngram: bytes) -> int:
    value = BASIS
    for byte in ngram:
        value = (value ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * PRIME & 0xFFFFFFFF  # bytes are signed there
    return value
