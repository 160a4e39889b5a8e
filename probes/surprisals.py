"""The surprisals of texts: what a language model must give, and what it gave, checked."""

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from encoder_lab.errors import InputError
from encoder_lab.model import TokenLogprobs
from encoder_lab.progress import Progress

Pair = tuple[str, str]  # a context and its continuation; the context may be empty
SURROGATE = re.compile("[\ud800-\udfff]")  # half of a character, which no file can hold
CHUNK_PAIRS = 4096  # pairs that a model scores at a time


Surprisals = Mapping[Pair, TokenLogprobs]
Logprobs = Callable[[Sequence[Pair]], Sequence[tuple[list[str], np.ndarray, np.ndarray]]]
"""All that scoring needs of a model: for each pair the fields of TokenLogprobs, in the order given."""


class StoredSurprisals(Mapping[Pair, TokenLogprobs]):
    """Surprisals in a temporary file, so that memory holds their positions alone."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  closed and removed with this object
        self._spans: dict[Pair, tuple[int, int]] = {}  # first byte and how many

    def add(self, pair: Pair, surprisal: TokenLogprobs) -> None:
        tokens, offsets, logprobs = surprisal
        record = json.dumps([tokens, offsets.tolist(), logprobs.tolist()]).encode()  # numbers to the last digit
        self._spans[pair] = self._file.seek(0, os.SEEK_END), len(record)
        self._file.write(record)

    def __getitem__(self, pair: Pair) -> TokenLogprobs:
        start, size = self._spans[pair]
        self._file.seek(start)
        tokens, offsets, logprobs = json.loads(self._file.read(size))
        return TokenLogprobs(tokens, np.array(offsets, np.int64).reshape(-1, 2), np.array(logprobs, np.float64))

    def __iter__(self) -> Iterator[Pair]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)


def score_pairs(logprobs: Logprobs, pairs: Iterable[Pair]) -> Surprisals:
    """Each distinct pair, scored once and checked. Raises InputError for an answer of another form.

    A model is given CHUNK_PAIRS pairs at a time, sorted, so that those with the same beginning are next to each other.
    """
    distinct = sorted(set(pairs))
    stored = StoredSurprisals()
    with Progress(total=len(distinct), desc="scoring", leave=False, unit=" texts") as bar:
        for start in range(0, len(distinct), CHUNK_PAIRS):
            chunk = distinct[start : start + CHUNK_PAIRS]
            answers = logprobs(chunk)
            if not isinstance(answers, Sequence) or len(answers) != len(chunk):
                gave = f"{len(answers)} answers" if isinstance(answers, Sequence) else type(answers).__name__
                raise InputError(f"the model gave {gave} to {len(chunk)} texts; give a list with one answer for each")
            for pair, answer in zip(chunk, answers, strict=True):
                stored.add(pair, check_answer(answer, pair))
            bar.update(len(chunk))
    return stored


def surprisals_fingerprint(surprisals: Surprisals) -> str:
    """A short text for some surprisals: the same text, the same tokens and bits."""
    digest = sha256()
    for pair, answer in surprisals.items():
        digest.update(repr((pair, answer.tokens)).encode())
        digest.update(answer.offsets.tobytes() + answer.logprobs.tobytes())
    return digest.hexdigest()


def check_answer(answer: Any, pair: Pair) -> TokenLogprobs:
    """The answer of a model as TokenLogprobs. Raises InputError that names the text."""
    try:
        tokens, offsets, logprobs = answer
        surprisal = TokenLogprobs(list(tokens), np.asarray(offsets, np.int64), np.asarray(logprobs, np.float64))
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:  # the last: a tensor that has a gradient
        expected = f"expected tokens, offsets (T, 2) and log2 probabilities (T,): {' '.join(str(error).split())}"
        raise InputError(f"text {pair[1][:40]!r}: {expected}") from None
    names, spans, bits = surprisal
    count, length, problem = len(names), len(pair[1]), ""
    if not (spans.shape == (count, 2) or not (count or spans.size)) or bits.shape != (count,):
        problem = f"{count} tokens, but offsets {spans.shape} and log2 probabilities {bits.shape}"
    elif not all(isinstance(name, str) and not SURROGATE.search(name) for name in names):
        problem = "a token that is no text"
    elif count and not (spans.min() >= 0 and spans.max() <= length):
        problem = f"an offset outside the {length} characters of the text"
    elif count and (spans[:, 0] > spans[:, 1]).any():
        problem = "a token that ends before it starts"
    elif count and (np.diff(spans[:, 0]) < 0).any():
        problem = "a token that starts before the one before it; count characters from the start of the text"
    elif not (bits <= 1e-6).all():
        problem = "a log2 probability above 0, or NaN"
    if problem:
        raise InputError(f"text {pair[1][:40]!r}: the model gave {problem}")
    return surprisal._replace(offsets=spans.reshape(-1, 2))
