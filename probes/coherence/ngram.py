"""An interpolated n-gram model of a text: what word frequencies and short contexts alone know of coherence."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from common.errors import InputError
from probes.coherence.models import WORD, words_of
from probes.surprisals import Pair, TokenLogprobs

OFTEN = 2  # times that a word must occur to be a word of the model; all others are one unknown word
UNKNOWN = 0


class _Level(NamedTuple):
    """The n-grams of one length. A context is the row of the n-gram one word shorter; the empty one is row 0."""

    grams: np.ndarray  # (K,) int64 sorted: context * vocabulary size + word
    counts: np.ndarray  # (K,)
    totals: np.ndarray  # (contexts,) how many words follow a context
    kinds: np.ndarray  # (contexts,) how many different words do


class NgramModel:
    """Witten-Bell interpolation (Chen and Goodman 1998, section 2.5), down to the uniform distribution.

    p(w|h) = (c(hw) + n(h) p(w|h')) / (c(h) + n(h)), where n(h) is the number of different words after h and h' is h
    without its first word. `order=1` is the unigram control: a sum over a text does not depend on the order of words.
    A text begins without a context.
    """

    def __init__(self, texts: Iterable[str], order: int = 3) -> None:
        """Raises InputError where the texts have no word."""
        if order < 1:
            raise InputError(f"order={order}: an n-gram has at least one word")
        words: Counter[str] = Counter()
        rows, ages = [], []
        place: dict[str, int] = {}
        for text in texts:
            found = WORD.findall(text)
            words.update(found)
            rows.append(np.array([place.setdefault(word, len(place)) for word in found], np.int64))
            ages.append(np.arange(len(found)))
        if not words:
            raise InputError("no words to count for an n-gram model; give a corpus with text")
        kept = [word for word in place if words[word] >= OFTEN]
        self.ids = {word: number for number, word in enumerate(kept, 1)}
        self.size = len(kept) + 1
        renamed = np.array([self.ids.get(word, UNKNOWN) for word in place])
        self.levels = self._count(renamed[np.concatenate(rows)], np.concatenate(ages), order)

    def _count(self, ids: np.ndarray, ages: np.ndarray, order: int) -> list[_Level]:
        """`ages (T,)`: how many words of the same text come before each of `ids (T,)`."""
        levels, context, contexts = [], np.zeros(len(ids), np.int64), 1
        for length in range(1, order + 1):
            inside = ages >= length - 1
            if not inside.any():
                break
            grams, rows, counts = np.unique(
                context[inside] * self.size + ids[inside], return_inverse=True, return_counts=True
            )
            owners = grams // self.size
            totals = np.bincount(owners, counts, minlength=contexts)
            levels.append(_Level(grams, counts, totals, np.bincount(owners, minlength=contexts)))
            gram = np.full(len(ids), -1)
            gram[inside] = rows
            context, contexts = _one_later(gram), len(grams)
        return levels

    def logprobs(self, pairs: Sequence[Pair]) -> list[TokenLogprobs]:
        """All pairs as one long row of words."""
        found = [words_of(pair) for pair in pairs]
        ids = np.array([self.ids.get(word, UNKNOWN) for words, _, _ in found for word in words], np.int64)
        ages = np.concatenate([np.arange(0), *(np.arange(len(words)) for words, _, _ in found)])
        bits = np.log2(self.probabilities(ids, ages))
        ends = np.cumsum([len(words) for words, _, _ in found])
        return [
            TokenLogprobs(words[before:], offsets[before:] - len(pair[0]), bits[end - len(words) + before : end])
            for pair, (words, offsets, before), end in zip(pairs, found, ends, strict=True)
        ]

    def probabilities(self, ids: np.ndarray, ages: np.ndarray) -> np.ndarray:
        """p of each word given those before it in its text, (T,)."""
        chance, context = np.full(len(ids), 1 / self.size), np.zeros(len(ids), np.int64)
        for length, level in enumerate(self.levels, 1):
            context = np.where(ages >= length - 1, context, -1)
            wanted = context * self.size + ids
            row = np.minimum(np.searchsorted(level.grams, wanted), len(level.grams) - 1)
            seen = (context >= 0) & (level.grams[row] == wanted)
            weight = np.where(context >= 0, level.totals[context] + level.kinds[context], 0)
            mixed = np.where(seen, level.counts[row], 0) + level.kinds[context] * chance
            chance = np.where(weight > 0, mixed / np.maximum(weight, 1), chance)
            context = _one_later(np.where(seen, row, -1))
        return chance


def _one_later(rows: np.ndarray) -> np.ndarray:
    """What ends at each word, as what ends before the next."""
    return np.concatenate([[-1], rows[:-1]]) if len(rows) else rows
