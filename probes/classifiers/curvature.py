"""The curvature of the loss of logistic regression, by which its optimum is found in few steps."""

from contextlib import suppress
from math import sqrt
from typing import NamedTuple

import torch
from scipy import linalg
from scipy.linalg import LinAlgError
from torch import Tensor

from encoder_lab.errors import InputError
from probes.vectors import Features, rows_at_once

ROWS = 8  # sentences per input, at most, that the covariance is of
FLAT = 1e-8  # curvature of a direction, at least, so that it has an inverse
LEAST = 1e-6  # p(1 - p), at least, so that classes that are told apart with certainty still curve


def product(first: Tensor, second: Tensor) -> Tensor:
    """A product with a vector, or of a matrix with its transpose: for these oneDNN takes longer than NumPy."""
    return torch.from_numpy(first.numpy() @ second.numpy()) if first.device.type == "cpu" else first @ second


def covariance(x: Features) -> Tensor:
    """The mean product (D, D) of two inputs: the covariance around zero. Raises InputError where it is not finite."""
    count, width = min(len(x), ROWS * x.shape[1]), x.shape[1]
    size = count if isinstance(x, Tensor) else rows_at_once(width, count)
    found = torch.zeros(width, width, device=x.device)
    for start in range(0, count, size):
        part = x[start : min(start + size, count)]
        found += product(part.t(), part)  # NumPy computes only half of it, as it is symmetric
    if not found.isfinite().all():
        raise InputError("logistic regression: products of the features are beyond 32 bits; make the vectors smaller")
    return found.div_(count)


def chance(classes: int) -> float:
    """p(1 - p) of equally likely classes."""
    return (1 - 1 / classes) / classes


def ridge_of(l2: float, classes: int) -> float:
    """What L2 adds to the curvature. Two classes have one direction, the difference of their weights: half of it."""
    return l2 / 2 if classes == 2 else l2


def principal_axes(spread: Tensor) -> tuple[Tensor, Tensor]:
    """Variances (D,) and principal axes (D, D), in columns, of vectors of covariance `spread` (D, D)."""
    variances, axes = torch.linalg.eigh(spread)
    return variances.clamp_min(0), axes


class Curvature(NamedTuple):
    """How the loss curves: L L' for the weights of a class, the square of `bias` for its bias."""

    factor: Tensor  # L (D, D), lower; its diagonal (D,) of independent features; or a number () for all of them
    bias: float

    def solved(self, right: Tensor) -> Tensor:
        """The inverse of L L' times `right` (D, C), where L is a matrix."""
        half = torch.linalg.solve_triangular(self.factor, right, upper=False)
        return torch.linalg.solve_triangular(self.factor.t(), half, upper=True)


def worth_a_covariance(sentences: int, inputs: int, classes: int) -> bool:
    """With two classes a step is cheap: the covariance of few sentences costs more than the steps that it saves."""
    return classes > 2 or sentences >= ROWS * inputs


def worth_axes(sentences: int, inputs: int, classes: int) -> bool:
    """Along the principal axes a step divides by variances; with many classes this saves more than the axes cost.

    By times of one core and a hundred steps.
    """
    return 32 * classes > inputs + sentences / 8


def curvature_of(spread: Tensor | None, classes: int, l2: float, variance: float | None = None) -> Curvature:
    """The curvature of the loss for features of covariance `spread` (D, D), or of variances (D,) and independent.

    None: independent, with variance 1. `variance`: the mean p(1 - p) of the classes; by default that of equally likely
    ones. The factor has 32 bits, or is made in 64 where rounding is too large for that. Where these do not suffice
    either, the ridge is larger than `l2`.
    """
    variance = chance(classes) if variance is None else max(variance, LEAST)
    ridge = ridge_of(l2, classes)
    spread = torch.ones(()) if spread is None else spread
    if spread.ndim < 2:
        return Curvature((variance * spread + ridge).clamp_min(FLAT).sqrt(), sqrt(variance))
    kind = spread.dtype
    while True:
        curvature = spread.to(kind, copy=True).mul_(variance)
        curvature.diagonal().add_(ridge)
        lower = cholesky(curvature)
        if lower is not None:
            return Curvature(lower.to(spread), sqrt(variance))
        if kind == torch.double:
            ridge = max(10 * ridge, FLAT)
        kind = torch.double


def cholesky(matrix: Tensor) -> Tensor | None:
    """The lower factor (D, D) of a symmetric matrix, which it may overwrite; None where there is none."""
    if matrix.device.type != "cpu":
        factor, failed = torch.linalg.cholesky_ex(matrix)
        return None if failed else factor
    with suppress(LinAlgError):
        turned = matrix.numpy().T  # the same matrix in LAPACK's order, so that nothing is copied
        return torch.from_numpy(linalg.cholesky(turned, lower=True, overwrite_a=True, check_finite=False))
    return None
