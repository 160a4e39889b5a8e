"""Erasing a property from vectors: LEACE (Belrose et al. 2023), and random directions as its control.

With covariance S of the vectors and cross-covariance X of vectors and classes, LEACE in its closed form is

    x - X (X' S^-1 X)^+ X' S^-1 (x - mean)

the smallest change, in the norm of S, after which no linear classifier beats the majority class (Theorem 4.2 there).
For any positive S the covariance with the classes is zero afterwards, so S may be regularised: it is the estimate of
Ledoit and Wolf, which is also defined for fewer vectors than dimensions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from probes.shrinkage import shrinkage

RANK_TOLERANCE = 1e-7  # times the largest singular value: smaller ones are rounding errors
VARIANCE_FLOOR = 1e-10  # times the mean variance, added to each variance: some directions do not vary


@dataclass(frozen=True)
class Eraser:
    """The map x - (x - mean) right left. The mean of the vectors does not change."""

    mean: Tensor  # (D,)
    right: Tensor  # (D, R)
    left: Tensor  # (R, D)

    @property
    def rank(self) -> int:
        """The number of erased directions; with 0 the vectors are the same bit for bit."""
        return self.right.shape[1]

    def __call__(self, vectors: Tensor) -> Tensor:
        """Vectors (N, D) without the property, in the same dtype."""
        if not self.rank:
            return vectors
        mean, right, left = (part.to(vectors) for part in (self.mean, self.right, self.left))
        return vectors - (vectors - mean) @ right @ left


class Whitening(NamedTuple):
    """The mean of vectors, and the Cholesky factor L of their covariance L L'."""

    mean: Tensor  # (D,) float64
    triangle: Tensor  # (D, D) float64

    @classmethod
    def of(cls, vectors: Tensor) -> "Whitening":
        """The whitening of vectors (N, D), with the covariance estimate of Ledoit and Wolf (2004)."""
        wide, (size, width) = vectors.double(), vectors.shape
        mean = wide.mean(0)
        centred = wide - mean
        product = centred.T @ centred
        weight = shrinkage(centred.square().sum(1).numpy(), float(product.square().sum()), width)
        variance = float(product.diagonal().mean()) / size
        covariance = product.mul_((1 - weight) / size)
        covariance.diagonal().add_(weight * variance + (VARIANCE_FLOOR * variance or 1.0))
        return cls(mean, torch.linalg.cholesky(covariance))

    def eraser_of(self, directions: Tensor) -> Eraser:
        """The eraser of orthonormal directions (D, R) in the whitened space."""
        right = torch.linalg.solve_triangular(self.triangle.T, directions, upper=True)
        return Eraser(self.mean, right, (self.triangle @ directions).T)


def erase_classes(vectors: Tensor, gold: np.ndarray, whitening: Whitening) -> Eraser:
    """LEACE: erases the classes `gold (N,)` from vectors (N, D). The rank is 0 if there is only one class."""
    classes = torch.nn.functional.one_hot(torch.from_numpy(gold)).double()
    cross = (vectors.double() - whitening.mean).T @ (classes - classes.mean(0)) / len(gold)
    white = torch.linalg.solve_triangular(whitening.triangle, cross, upper=False)
    directions, sizes, _ = torch.linalg.svd(white, full_matrices=False)
    return whitening.eraser_of(directions[:, sizes > max(RANK_TOLERANCE * float(sizes[0]), RANK_TOLERANCE)])


@dataclass(frozen=True)
class RotatingErasers:
    """Several erasers that take turns: row i is changed by eraser i modulo their number."""

    erasers: Sequence[Eraser]

    def __call__(self, vectors: Tensor) -> Tensor:
        """Vectors (N, D), each row changed by one of the erasers."""
        changed, number = vectors.clone(), len(self.erasers)
        for index, erase in enumerate(self.erasers):
            changed[index::number] = erase(vectors[index::number])
        return changed


def erase_random(whitening: Whitening, rank: int, draw: int) -> Eraser:
    """The eraser of `rank` random directions of the whitened space, at most D; each `draw` gives other directions."""
    random = torch.Generator().manual_seed(10_000 * rank + draw)
    width = len(whitening.mean)
    return whitening.eraser_of(
        torch.linalg.qr(torch.randn(width, min(rank, width), dtype=torch.double, generator=random)).Q
    )
