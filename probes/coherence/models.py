"""Two language models that need no training: any Python function, and the lengths of words."""

import re
from collections.abc import Callable, Sequence

import numpy as np

from common.call import function_named
from probes.surprisals import Pair, TokenLogprobs

WORD = re.compile(r"\w+|[^\w\s]")


class Called:
    """Any Python function from (context, continuation) pairs to tokens, offsets and log2 probabilities."""

    def __init__(self, name: str) -> None:
        """`name` is package.module:function. Raises InputError where it cannot be imported."""
        found = function_named(name, "scores (context, continuation) pairs")
        self.logprobs: Callable[[Sequence[Pair]], Sequence[tuple[list[str], np.ndarray, np.ndarray]]] = found


def words_of(pair: Pair) -> tuple[list[str], np.ndarray, int]:
    """Words and marks of context and continuation, their offsets (T, 2) in both together, how many are context.

    A word that begins in the context and ends in the continuation is context.
    """
    found = list(WORD.finditer(pair[0] + pair[1]))
    offsets = np.array([word.span() for word in found], np.int64).reshape(-1, 2)
    return [word[0] for word in found], offsets, int((offsets[:, 0] < len(pair[0])).sum())


class Length:
    """A control: each word costs one bit for each of its characters, in any context."""

    def logprobs(self, pairs: Sequence[Pair]) -> list[TokenLogprobs]:
        """Words and marks with minus their lengths."""
        return [self._one(pair) for pair in pairs]

    def _one(self, pair: Pair) -> TokenLogprobs:
        words, offsets, before = words_of(pair)
        own = offsets[before:] - len(pair[0])
        return TokenLogprobs(words[before:], own, (own[:, 0] - own[:, 1]).astype(np.float64))
