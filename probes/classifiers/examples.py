"""Inputs and results of a probing classifier. Letters: N sentences, D vector width."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from probes.classifiers.grid import FrontPoint
from probes.vectors import Features

CHUNK_NUMBERS = 1 << 20  # numbers in the vectors that are read at a time, about


class Labelled(NamedTuple):
    """N sentence vectors and their classes."""

    vectors: np.ndarray | Features  # (N, D) float32
    labels: np.ndarray  # (N,) int64, from 0


X = TypeVar("X", bound=Features, covariant=True)


class Examples(NamedTuple, Generic[X]):
    """Labelled features on a device."""

    x: X  # (N, D) float32
    y: Tensor  # (N,) int64, or distributions over the classes (N, C)

    def batch(self, rows: Tensor) -> "Examples[Tensor]":
        """The rows `rows (B,)`. index_select is faster than `x[rows]`."""
        return Examples(self.x.index_select(0, rows), self.y.index_select(0, rows))

    def batches(self, rows: Tensor, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Batches of `size` rows, in order; several are read in one call, because each call of torch has overhead."""
        count = max(1, CHUNK_NUMBERS // (size * self.x.shape[1]))
        for portion in rows.split(count * size):
            x, y = self.batch(portion)
            yield from zip(x.split(size), y.split(size), strict=True)


Tensors = Examples[Tensor]
Data = Examples[Features]


class Fitted(NamedTuple):
    """One cell at its best on dev."""

    width: int
    dropout: float
    l2: float
    dev_accuracy: float  # percent
    parameters: list[Tensor]  # (W, D), (W, 1), (C, W), (C, 1), or (C, D), (C, 1)
    points: Sequence[FrontPoint] = ()  # of all cells of its grid


def complexity(parameters: Sequence[Tensor]) -> float:
    """The number of weights of an MLP, the nuclear norm of logistic regression (Pimentel et al. 2020)."""
    weight, _, *output = parameters
    return float(weight.numel() + output[0].numel() if output else torch.linalg.matrix_norm(weight, "nuc"))


def best_on_dev(cells: Iterable[Fitted], digits: int | None = None) -> Fitted:
    """The best on dev; the first wins a tie. `digits`: to which accuracies are rounded."""
    return max(cells, key=lambda cell: cell.dev_accuracy if digits is None else round(cell.dev_accuracy, digits))


class Score(NamedTuple):
    """The result of a probing classifier."""

    dev_accuracy: float  # percent
    test_accuracy: float  # percent
    test_correct: np.ndarray  # (N_test,) bool
    hyperparameters: dict[str, Any]
    predicted: np.ndarray  # (N_test,) int64 classes
