"""Bigram counts of a corpus."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

EDGE = 0  # id of the sentence boundary


class Bigrams:
    """Bigram counts in sorted arrays: about 40 bytes per distinct pair."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self.ids: dict[str, int] = {"": EDGE}
        flat = [EDGE]
        for sentence in sentences:
            flat += [self.ids.setdefault(word, len(self.ids)) for word in sentence.split(" ")]
            flat.append(EDGE)
        text = np.array(flat, dtype=np.int64)
        self.words = list(self.ids)
        self._forward = _table(text[:-1], text[1:], len(self.words))
        self._backward = _table(text[1:], text[:-1], len(self.words))

    def count(self, before: int, after: int | np.ndarray) -> np.ndarray:
        """How often `after`, one id or many, follows `before`."""
        return self._forward.counted(before, np.asarray(after))

    def count_before(self, before: np.ndarray, after: int) -> np.ndarray:
        """How often `after` follows each of `before`."""
        return self._backward.counted(after, before)

    def following(self, before: int) -> tuple[np.ndarray, np.ndarray]:
        """The words that follow `before`, and how often."""
        return self._forward.row(before)

    def preceding(self, after: int) -> tuple[np.ndarray, np.ndarray]:
        """The words that `after` follows, and how often."""
        return self._backward.row(after)


class _Table(NamedTuple):
    keys: np.ndarray  # sorted: first * width + second
    counts: np.ndarray
    width: int

    def row(self, first: int) -> tuple[np.ndarray, np.ndarray]:
        begin, end = np.searchsorted(self.keys, [first * self.width, (first + 1) * self.width])
        return self.keys[begin:end] - first * self.width, self.counts[begin:end]

    def counted(self, first: int, second: np.ndarray) -> np.ndarray:
        wanted = first * self.width + second
        at = np.searchsorted(self.keys, wanted).clip(max=len(self.keys) - 1)
        return np.where(self.keys[at] == wanted, self.counts[at], 0)


def _table(first: np.ndarray, second: np.ndarray, width: int) -> _Table:
    keys, counts = np.unique(first * width + second, return_counts=True)
    return _Table(keys, counts, width)
