"""A language model that needs no training: the lengths of words."""

from collections.abc import Sequence

import numpy as np
import regex

from datamodules.text.sentences import SEPARATOR
from probes.surprisals import Pair, TokenLogprobs

WORD = regex.compile(regex.escape(SEPARATOR) + r"|[\p{L}\p{M}\p{N}_]+|\S")  # a letter has its vowel sign and accent


def length_logprobs(pairs: Sequence[Pair]) -> list[TokenLogprobs]:
    """Words and marks with minus their lengths: each word costs one bit for each of its characters, in any context."""
    return [_score_pair(pair) for pair in pairs]


def _score_pair(pair: Pair) -> TokenLogprobs:
    words = [word for word in WORD.finditer("".join(pair)) if word.start() >= len(pair[0])]
    offsets = np.array([word.span() for word in words], np.int64).reshape(-1, 2) - len(pair[0])
    return TokenLogprobs([word[0] for word in words], offsets, (offsets[:, 0] - offsets[:, 1]).astype(np.float64))
