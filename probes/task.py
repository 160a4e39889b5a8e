"""What a probing task is: sentences with labels in three splits."""

from typing import NamedTuple, Protocol

import numpy as np


class Split(NamedTuple):
    """N labelled sentences."""

    sentences: list[str]  # whitespace-tokenised
    labels: np.ndarray  # (N,) int64, index into Task.classes


class Task(NamedTuple):
    """One probing task (Conneau et al. 2018, section 2)."""

    name: str  # the paper's: SentLen, WC, TreeDepth, ...
    classes: list[str]  # sorted labels of the training split
    train: Split
    dev: Split
    test: Split


class EncodesSentences(Protocol):
    """All that probing needs to know of a model."""

    def encode(self, sentences: list[str]) -> np.ndarray:
        """Whitespace-tokenised sentences to vectors (N, D) float32, in the order given."""
        ...
