"""The surprisals of texts: what a language model must give, and what it gave, checked."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from common.errors import InputError

Pair = tuple[str, str]  # a context and its continuation; the context may be empty


class TokenLogprobs(NamedTuple):
    """The T tokens of one continuation."""

    tokens: list[str]
    offsets: np.ndarray  # (T, 2) int64, first character and the one after the last, in the continuation
    logprobs: np.ndarray  # (T,) float64, log2 of the probability given all before: bits, at most 0


Surprisals = dict[Pair, TokenLogprobs]
Logprobs = Callable[[Sequence[Pair]], Sequence[tuple[list[str], np.ndarray, np.ndarray]]]
"""All that scoring needs of a model: for each pair the fields of TokenLogprobs, in the order given."""


def score_pairs(logprobs: Logprobs, pairs: Sequence[Pair]) -> Surprisals:
    """Each distinct pair, scored once and checked. Raises InputError where the model's answer is no such thing."""
    distinct = list(dict.fromkeys(pairs))
    answers = logprobs(distinct)
    if not isinstance(answers, Sequence) or len(answers) != len(distinct):
        gave = f"{len(answers)} answers" if isinstance(answers, Sequence) else type(answers).__name__
        raise InputError(f"the model gave {gave} to {len(distinct)} texts; give a list with one answer for each")
    return {pair: checked(answer, pair) for pair, answer in zip(distinct, answers, strict=True)}


def fingerprint(given: Surprisals) -> str:
    """A short text for some surprisals: the same text, the same tokens and bits."""
    made = sha256()
    for pair, found in given.items():
        made.update(repr((pair, found.tokens)).encode())
        made.update(found.offsets.tobytes() + found.logprobs.tobytes())
    return made.hexdigest()


def checked(answer: Any, pair: Pair) -> TokenLogprobs:
    """The answer of a model as TokenLogprobs. Raises InputError that names the text."""
    try:
        tokens, offsets, logprobs = answer
        found = TokenLogprobs(list(tokens), np.asarray(offsets, np.int64), np.asarray(logprobs, np.float64))
    except (TypeError, ValueError) as error:
        said = f"expected tokens, offsets (T, 2) and log2 probabilities (T,): {' '.join(str(error).split())}"
        raise InputError(f"text {pair[1][:40]!r}: {said}") from None
    count, length = len(found.tokens), len(pair[1])
    wrong = ""
    if found.offsets.reshape(-1, 2).shape != (count, 2) or found.logprobs.shape != (count,):
        wrong = f"{count} tokens, but offsets {found.offsets.shape} and log2 probabilities {found.logprobs.shape}"
    elif count and not (found.offsets.min() >= 0 and found.offsets.max() <= length):
        wrong = f"an offset outside the {length} characters of the text"
    elif not (found.logprobs <= 1e-6).all():
        wrong = "a log2 probability above 0, or NaN"
    if wrong:
        raise InputError(f"text {pair[1][:40]!r}: the model gave {wrong}")
    return found._replace(offsets=found.offsets.reshape(-1, 2))
