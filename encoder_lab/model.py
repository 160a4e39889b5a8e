"""A frozen model, as scores, caches and tables see it."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

VectorChange = Callable[[Any], Any]  # of vectors (B, D)


class Examined(NamedTuple):
    """What an objective makes of N examples."""

    counts: Mapping[str, np.ndarray]  # (N,) each
    scores_of: Callable[[Mapping[str, float]], Mapping[str, float]]  # of their sums: "val/loss" and others
    score: str  # the one that selects


class TokenLogprobs(NamedTuple):
    """The T tokens of one continuation."""

    tokens: list[str]
    offsets: np.ndarray  # (T, 2) int64, first character and the one after the last, in the continuation
    logprobs: np.ndarray  # (T,) float64, log2 of the probability given all before: bits, at most 0


class Model(NamedTuple):
    """Anything that turns sentences into vectors, gives texts a probability, or predicts without either."""

    encoder: str  # as tables name it
    objective: str  # what it was trained for; the name of a baseline
    encode: Callable[[list[str]], Any] | None  # N sentences to (N, D); None: it has no vectors
    fingerprint: str | Callable[[], str] | None = None  # equal for equal models; None: what it gives is hashed
    epoch: int | float = 0  # epochs done; a part of one within it
    step: int = 0
    settings: Mapping[str, Any] = {}  # that made it, for reports: models of other settings are other models
    logprobs: Callable[..., Any] | None = None  # (context, continuation) pairs to tokens with log2 p; None: it has none
    long_texts: Collection[tuple[str, str]] = ()  # the pairs scored so far that are longer than the model's context
    device: str = "cpu"  # where it computes, and the classifiers that read it
    bfloat16: bool = False  # its products are in bfloat16, and so those of the classifiers on its vectors may be
    bag: "Model | None" = None  # a bag of the word vectors that it reads; None: it has none
    loss: Any = None  # of its objective on dev with changed vectors (objectives/dev_loss.py); None: it has none
