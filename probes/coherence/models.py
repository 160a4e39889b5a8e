"""Two language models that need no training: any Python function, and the lengths of words."""

import re
from collections.abc import Callable, Sequence

import numpy as np

from datamodules.text.sentences import SEPARATOR
from encoder_lab.settings.call import function_named
from probes.surprisals import Pair, TokenLogprobs

WORD = re.compile(rf"{re.escape(SEPARATOR)}|\w+|[^\w\s]")


class Called:
    """Any Python function from (context, continuation) pairs to tokens, offsets and log2 probabilities."""

    def __init__(self, name: str) -> None:
        """`name` is package.module:function. Raises InputError where it cannot be imported."""
        found = function_named(name, "scores (context, continuation) pairs")
        self.logprobs: Callable[[Sequence[Pair]], Sequence[tuple[list[str], np.ndarray, np.ndarray]]] = found


class Length:
    """A control: each word costs one bit for each of its characters, in any context."""

    def logprobs(self, pairs: Sequence[Pair]) -> list[TokenLogprobs]:
        """Words and marks with minus their lengths."""
        return [self._one(pair) for pair in pairs]

    def _one(self, pair: Pair) -> TokenLogprobs:
        words = [word for word in WORD.finditer("".join(pair)) if word.start() >= len(pair[0])]
        offsets = np.array([word.span() for word in words], np.int64).reshape(-1, 2) - len(pair[0])
        return TokenLogprobs([word[0] for word in words], offsets, (offsets[:, 0] - offsets[:, 1]).astype(np.float64))
