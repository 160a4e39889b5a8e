"""Bigram counts of a corpus."""

from collections.abc import Iterable

import numpy as np
import scipy  # which imports its parts at their first use

EDGE = 0  # id of the sentence boundary


class Bigrams:
    """Bigram counts as sparse matrices: about 25 bytes per distinct pair."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self.ids: dict[str, int] = {"": EDGE}
        flat = [EDGE]
        for sentence in sentences:
            flat += [self.ids.setdefault(word, len(self.ids)) for word in sentence.split(" ")]
            flat.append(EDGE)
        text = np.array(flat, dtype=np.int32)
        self.words = list(self.ids)
        counts, size = np.ones(len(text) - 1, np.int32), len(self.ids)
        pairs = scipy.sparse.coo_array((counts, (text[:-1], text[1:])), (size, size))
        self._forward, self._backward = pairs.tocsr(), pairs.T.tocsr()
        for table in (self._forward, self._backward):
            table.sum_duplicates()  # its columns are sorted then

    def count(self, before: int, after: int | np.ndarray) -> np.ndarray:
        """How often `after`, one id or many, follows `before`."""
        return _counted(self.following(before), np.asarray(after))

    def count_before(self, before: np.ndarray, after: int) -> np.ndarray:
        """How often `after` follows each of `before`."""
        return _counted(self.preceding(after), before)

    def following(self, before: int) -> tuple[np.ndarray, np.ndarray]:
        """The words that follow `before`, and how often."""
        return _row(self._forward, before)

    def preceding(self, after: int) -> tuple[np.ndarray, np.ndarray]:
        """The words that `after` follows, and how often."""
        return _row(self._backward, after)


def _row(table: "scipy.sparse.csr_array", first: int) -> tuple[np.ndarray, np.ndarray]:
    inside = slice(table.indptr[first], table.indptr[first + 1])
    return table.indices[inside], table.data[inside]


def _counted(row: tuple[np.ndarray, np.ndarray], wanted: np.ndarray) -> np.ndarray:
    ids, counts = row
    at = np.searchsorted(ids, wanted).clip(max=len(ids) - 1)
    return np.where(ids[at] == wanted, counts[at], 0)
