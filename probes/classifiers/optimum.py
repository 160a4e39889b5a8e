"""Multinomial logistic regression at its optimum for each L2 value: convex, so the result needs no seed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import sqrt
from typing import TypeVar

import numpy as np
import torch
from scipy import linalg
from scipy.linalg import LinAlgError
from scipy.optimize import minimize
from torch import Tensor
from torch.nn import functional

from common.errors import InputError
from probes.classifiers.blocks import on_all_cores
from probes.classifiers.cells import predict
from probes.classifiers.grid import Fitted, Grid, Tensors
from probes.vectors import Streamed, rows_at_once

ROWS = 4096  # sentences per product, at most; bounds the memory for scores
CACHED = 1 << 21  # numbers in the vectors of a portion that is read twice, so that the cache still has them
ITERATIONS = 500  # of L-BFGS, at most; tens are usual
FURTHER = 4  # powers of ten that are tried beyond the default L2 values, at most
COVARIANCE_ROWS = 8  # sentences per input for the covariance, which only affects speed
PAIR = 2  # neighbouring L2 values that share a curvature factor, for the same reason


Result = TypeVar("Result")


def best_of_l2(
    grid: Grid, tried: Callable[[list[float]], Sequence[Result]], score: Callable[[Result], float]
) -> tuple[float, Result]:
    """The L2 value with the best score and its result; the smallest value wins a tie.

    While the best of the default values is the smallest or the largest, alone, the next power of ten is tried too.
    """
    values = sorted(grid.l2)
    found = dict(zip(values, tried(values), strict=True))
    for _ in range(FURTHER):
        best = max(sorted(found), key=lambda l2: score(found[l2]))
        others = [score(found[l2]) for l2 in found if l2 != best]
        if not grid.open or min(found) < best < max(found) or score(found[best]) <= max(others):
            break
        further = 10 * best if best == max(found) else best / 10
        found[further] = tried([further])[0]
    best = max(sorted(found), key=lambda l2: score(found[l2]))
    return best, found[best]


def optimal(train: Tensors, dev: Tensors, classes: int, grid: Grid, device: str) -> Fitted:
    """The classifier with the best dev accuracy over the L2 values (`best_of_l2`)."""
    basis = row_space(train.x) if len(train.y) < train.x.shape[1] else None
    inner = train if basis is None else Tensors(train.x @ basis, train.y)
    spread = covariance(inner.x)

    def fitted(l2: float, weight: Tensor, bias: Tensor) -> Fitted:
        parameters = [(weight if basis is None else basis @ weight).t(), bias[:, None]]
        right = int((predict(parameters, dev.x) == dev.y).sum())
        return Fitted(0, 0.0, l2, round(100 * right / len(dev.y), 2), parameters)

    def work(values: list[float]) -> list[Fitted]:
        factor = curvature_factor(spread, classes, sqrt(values[0] * values[-1]))
        at = None  # the optimum of the larger value is near that of the smaller one
        found = [fitted(l2, *(at := optimum(inner, classes, l2, factor, start=at))) for l2 in reversed(values)]
        return found[::-1]

    def tried(values: list[float]) -> list[Fitted]:
        pairs = [values[begin : begin + PAIR] for begin in range(0, len(values), PAIR)]
        return [cell for pair in on_all_cores(work, pairs, device) for cell in pair]

    return best_of_l2(grid, tried, lambda cell: cell.dev_accuracy)[1]


def optimum(
    train: Tensors,
    classes: int,
    l2: float,
    factor: Tensor | None = None,
    tolerance: float = 1e-4,
    iterations: int = ITERATIONS,
    start: tuple[Tensor, Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """The weight (D, C) and bias (C,) that minimise mean cross-entropy + l2 / 2 * |weight|^2.

    scikit-learn's C is 1 / (l2 * N). L-BFGS runs in coordinates in which the curvature at the start is nearly the
    identity: weight = L'^-1 z for `factor` L, the `curvature_factor` of these or similar vectors. `tolerance` is on
    the gradient in these coordinates. The labels may be distributions over the classes, (N, C). `start`: a weight and
    bias to begin with; by default zeros.
    """
    lower = curvature_factor(covariance(train.x), classes, l2) if factor is None else factor
    inputs, scale = train.x.shape[1], sqrt(chance(classes))

    def point(flat: np.ndarray) -> tuple[Tensor, Tensor]:
        z = torch.from_numpy(flat).to(lower).view(inputs + 1, classes)
        return torch.linalg.solve_triangular(lower.t(), z[:-1], upper=True), z[-1] / scale

    def loss_and_slope(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weight, bias = point(flat)
        loss, slope, slope_bias = cross_entropy(train, weight, bias)
        slope = torch.linalg.solve_triangular(lower, slope.add_(weight, alpha=l2), upper=False)
        joined = torch.cat([slope, slope_bias[None] / scale])
        return loss + l2 / 2 * float(weight.square().sum()), joined.flatten().double().cpu().numpy()

    begin = np.zeros((inputs + 1) * classes)
    if start is not None:
        begin = torch.cat([lower.t() @ start[0], start[1][None] * scale]).flatten().double().cpu().numpy()
    options = {"maxiter": iterations, "gtol": tolerance, "ftol": 1e-9}
    return point(minimize(loss_and_slope, begin, jac=True, method="L-BFGS-B", options=options).x)


def cross_entropy(train: Tensors, weight: Tensor, bias: Tensor) -> tuple[float, Tensor, Tensor]:
    """The mean over the sentences, and its gradients with respect to weight (D, C) and bias (C,)."""
    if len(bias) == 2 and train.y.ndim == 1:
        return _of_two_classes(train, weight, bias)
    rows = weight.t().contiguous()  # (C, D): several times faster with few classes
    loss = torch.zeros((), dtype=torch.float64, device=rows.device)
    slope, slope_bias = torch.zeros_like(rows), torch.zeros_like(bias)
    for x, y in _portions(train):
        scores = torch.addmm(bias[:, None], rows, x.t()).log_softmax(0)  # (C, N): long rows are fast
        if y.ndim == 2:
            loss -= (scores * y.t()).sum(dtype=torch.float64)
            error = scores.exp_().sub_(y.t())
        else:
            loss -= scores.gather(0, y[None]).sum(dtype=torch.float64)
            error = scores.exp_().scatter_add_(0, y[None], -torch.ones_like(scores[:1]))
        slope.addmm_(error, x)
        slope_bias += error.sum(1)
    return float(loss) / len(train.y), slope.t().div_(len(train.y)), slope_bias.div_(len(train.y))


def _of_two_classes(train: Tensors, weight: Tensor, bias: Tensor) -> tuple[float, Tensor, Tensor]:
    """The same with one score for each sentence, the difference of both classes."""
    apart, shift = weight[:, 1] - weight[:, 0], bias[1] - bias[0]  # (D,)
    loss = torch.zeros((), dtype=torch.float64, device=apart.device)
    slope, slope_bias = torch.zeros_like(apart), torch.zeros_like(shift)  # of class 1; of class 0 the negative
    for x, y in _portions(train, CACHED // len(apart)):
        scores = product(x, apart).add_(shift)
        loss += (functional.softplus(scores) - scores * y).sum(dtype=torch.float64)
        error = scores.sigmoid_().sub_(y)
        slope += product(x.t(), error)
        slope_bias += error.sum()
    both = torch.tensor([-1.0, 1.0], dtype=slope.dtype, device=slope.device) / len(train.y)
    return float(loss) / len(train.y), slope[:, None] * both, slope_bias * both


def product(first: Tensor, second: Tensor) -> Tensor:
    """A product with a vector, or of a matrix with its transpose: for these oneDNN takes longer than NumPy."""
    return torch.from_numpy(first.numpy() @ second.numpy()) if first.device.type == "cpu" else first @ second


def _portions(train: Tensors, most: int = ROWS) -> Iterator[tuple[Tensor, Tensor]]:
    """Vectors and labels, some sentences at a time: at most `most`, but not fewer than 256."""
    size = min(ROWS, max(256, most))
    size = rows_at_once(train.x.shape[1], size) if isinstance(train.x, Streamed) else size
    return zip(train.x.split(size), train.y.split(size), strict=True)


def row_space(x: Tensor) -> Tensor:
    """Orthonormal columns (D, N) that span N < D vectors: the optimum is a combination of the vectors.

    In these coordinates the problem is the same, and as small as the vectors are few.
    """
    return torch.linalg.qr(x[:].t())[0]


def covariance(x: Tensor) -> Tensor:
    """The mean product (D, D) of two inputs: the covariance around zero. Raises InputError where it is not finite."""
    count, width = min(len(x), COVARIANCE_ROWS * x.shape[1]), x.shape[1]
    size = rows_at_once(width, count) if isinstance(x, Streamed) else count
    found = torch.zeros(width, width, device=x.device)
    for start in range(0, count, size):
        part = x[start : min(start + size, count)]
        found += product(part.t(), part)  # NumPy computes only half of it, as it is symmetric
    if not found.isfinite().all():
        raise InputError("logistic regression: products of the features are beyond 32 bits; make the vectors smaller")
    return found.div_(count)


def curvature_factor(spread: Tensor, classes: int, l2: float) -> Tensor:
    """The Cholesky factor L (D, D), lower, of covariance * chance + l2: the curvature where all classes are as likely.

    In 32 bits, or in 64 where rounding is too large for that. It may still ask for more than `l2`; then the optimum is
    the same and takes more steps.
    """
    ridge, kind = l2, spread.dtype
    while True:
        curvature = spread.to(kind, copy=True).mul_(chance(classes))
        curvature.diagonal().add_(ridge)
        lower = cholesky(curvature)
        if lower is not None:
            return lower.to(spread)
        if kind == torch.double:
            ridge = max(10 * ridge, 1e-8)
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


def chance(classes: int) -> float:
    """p(1 - p) of equally likely classes."""
    return (1 - 1 / classes) / classes
