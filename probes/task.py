"""What a probing task is: sentences with labels in three splits."""

import json
from hashlib import sha256
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


def items_of(task: Task) -> str:
    """A short text that stands for the test items: the same text, the same items."""
    made = sha256(json.dumps([task.classes, task.test.sentences]).encode() + task.test.labels.tobytes())
    return made.hexdigest()[:16]


class EncodesSentences(Protocol):
    """All that probing needs to know of a model."""

    def encode(self, sentences: list[str]) -> np.ndarray:
        """Whitespace-tokenised sentences to vectors (N, D) float32, in the order given."""
        ...
