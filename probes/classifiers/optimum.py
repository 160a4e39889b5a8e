"""Multinomial logistic regression at its optimum for each L2 value: convex, so the result needs no seed."""

from collections.abc import Callable, Iterator, Sequence
from math import isnan, sqrt
from typing import TypeVar

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor
from torch.nn import functional

from common.errors import InputError
from probes.classifiers.blocks import on_all_cores
from probes.classifiers.cells import predict
from probes.classifiers.curvature import Curvature, covariance, curvature_of, product, ridge_of, worth_a_covariance
from probes.classifiers.grid import Fitted, Grid, Tensors
from probes.vectors import Streamed, rows_at_once

ROWS = 4096  # sentences per product, at most; bounds the memory for scores
CACHED = 1 << 21  # numbers in the vectors of a portion that is read twice, so that the cache still has them
SAMPLE = 512  # sentences that tell how much the loss curves, about
ITERATIONS = 500  # of L-BFGS, at most; tens are usual
GAP = 2e-6  # nats: how far the loss may be above its minimum, by an estimate (`optimum`)
MEMORY = 1 << 18  # numbers in the steps that L-BFGS remembers, 10 to 30 of them
FURTHER = 4  # powers of ten that are tried beyond the default L2 values, at most


Result = TypeVar("Result")
Weights = tuple[Tensor, Tensor]  # weight (D, C) and bias (C,)


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
    spread = covariance(inner.x) if worth_a_covariance(len(inner.y), inner.x.shape[1], classes) else None
    known: dict[float, Weights] = {}

    def fitted(l2: float, weight: Tensor, bias: Tensor) -> Fitted:
        parameters = [(weight if basis is None else basis @ weight).t(), bias[:, None]]
        right = int((predict(parameters, dev.x) == dev.y).sum())
        return Fitted(0, 0.0, l2, round(100 * right / len(dev.y), 2), parameters)

    def tried(values: list[float]) -> list[Fitted]:
        on_all_cores(lambda some: add_optima(known, inner, classes, some, spread), [values], device)
        return [fitted(l2, *known[l2]) for l2 in values]

    return best_of_l2(grid, tried, lambda cell: cell.dev_accuracy)[1]


def add_optima(
    known: dict[float, Weights],
    train: Tensors,
    classes: int,
    values: Sequence[float],
    spread: Tensor | None,
    gap: float = GAP,
) -> None:
    """Add the `optimum` for each L2 value to those that are known, by L2 value.

    Each search begins at the optimum of the next larger value that is known, or else of the largest.
    """
    sample = train.x[:: max(1, len(train.y) // SAMPLE)]
    for l2 in sorted(values, reverse=True):
        near = min((other for other in known if other > l2), default=max(known, default=None))
        start = None if near is None else known[near]
        curvature = curvature_of(spread, classes, l2, None if start is None else mean_variance(sample, *start))
        known[l2] = optimum(train, classes, l2, curvature, gap, start=start)


def optimum(
    train: Tensors,
    classes: int,
    l2: float,
    curvature: Curvature | None = None,
    gap: float = GAP,
    iterations: int = ITERATIONS,
    start: tuple[Tensor, Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """The weight (D, C) and bias (C,) that minimise mean cross-entropy + l2 / 2 * |weight|^2.

    scikit-learn's C is 1 / (l2 * N). The labels may be distributions over the classes, (N, C). `start`: a weight and
    bias to begin with; by default zeros.

    L-BFGS runs in coordinates z in which the loss curves nearly alike everywhere: weight = L'^-1 z for the factor L of
    `curvature`, that of these or similar vectors; by default that of independent features. The search ends where half
    the squared gradient in z is below `gap`. As far as L L' is the curvature at the optimum, this is how far the loss
    is above its minimum; where the loss curves less, it is further. Raises InputError where the loss is not a number.
    """
    curvature = curvature or curvature_of(None, classes, l2)
    columns = 1 if classes == 2 and train.y.ndim == 1 else classes  # for two classes the difference of their weights
    ridge = ridge_of(l2, 2) if columns == 1 else l2
    train = train._replace(y=train.y.float()) if columns == 1 else train  # once, and not at each step
    last = np.zeros(0)  # slope

    def point(flat: np.ndarray) -> tuple[Tensor, Tensor]:
        z = torch.from_numpy(flat).to(train.x.device, torch.float32).view(-1, columns)
        return curvature.solved(z[:-1], transposed=True), z[-1] / curvature.bias

    def loss_and_slope(flat: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal last
        weight, bias = point(flat)
        loss, slope, slope_bias = cross_entropy(train, weight, bias)
        if isnan(loss):
            raise InputError("logistic regression: the features are beyond 32 bits; make the vectors smaller")
        slope = curvature.solved(slope.add_(weight, alpha=ridge))
        last = torch.cat([slope, slope_bias[None] / curvature.bias]).flatten().double().cpu().numpy()
        return loss + ridge / 2 * float(weight.square().sum()), last

    def end_at_gap(_: np.ndarray) -> None:
        if last @ last < 2 * gap:
            raise StopIteration

    inputs = train.x.shape[1] + 1
    begin = torch.zeros(inputs, columns) if start is None else _in_coordinates(curvature, *start, columns)
    options = {
        "maxiter": iterations,
        "gtol": sqrt(2 * gap / begin.numel()),
        "ftol": gap / 1000,
        "maxcor": max(10, min(30, MEMORY // begin.numel())),
    }
    flat = begin.flatten().double().cpu().numpy()
    found = minimize(loss_and_slope, flat, jac=True, method="L-BFGS-B", callback=end_at_gap, options=options)
    weight, bias = point(found.x)
    both = torch.tensor([-0.5, 0.5], device=train.x.device)
    return (weight * both, bias * both) if columns == 1 else (weight, bias)


def _in_coordinates(curvature: Curvature, weight: Tensor, bias: Tensor, columns: int) -> Tensor:
    """Where weight (D, C) and bias (C,) are for L-BFGS, (D + 1, C); (D + 1, 1) for the difference of two classes."""
    if columns == 1:
        weight, bias = weight[:, 1:] - weight[:, :1], bias[1:] - bias[:1]
    return torch.cat([curvature.multiplied(weight), bias[None] * curvature.bias])


def cross_entropy(train: Tensors, weight: Tensor, bias: Tensor) -> tuple[float, Tensor, Tensor]:
    """The mean over the sentences, in nats, and its gradients with respect to weight (D, C) and bias (C,).

    The labels are classes (N,) or distributions (N, C). Of two classes with labels (N,) weight may be the difference,
    (D, 1), and bias (1,).
    """
    if len(bias) == 1:
        return _of_two_classes(train, weight[:, 0], bias)
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


def _of_two_classes(train: Tensors, apart: Tensor, shift: Tensor) -> tuple[float, Tensor, Tensor]:
    """The same with one score for each sentence, the difference of both classes."""
    loss = torch.zeros((), dtype=torch.float64, device=apart.device)
    slope, slope_shift = torch.zeros_like(apart), torch.zeros_like(shift)
    for x, y in _portions(train, CACHED // len(apart)):
        scores = product(x, apart).add_(shift)
        loss += functional.softplus(torch.where(y > 0, -scores, scores)).sum(dtype=torch.float64)
        error = scores.sigmoid_().sub_(y)
        slope += product(x.t(), error)
        slope_shift += error.sum()
    return float(loss) / len(train.y), slope.div_(len(train.y))[:, None], slope_shift.div_(len(train.y))


def mean_variance(x: Tensor, weight: Tensor, bias: Tensor) -> float:
    """The mean p(1 - p) of the probabilities that weight (D, C) and bias (C,) give: how much the loss curves there."""
    likely = (x @ weight + bias).softmax(1)
    return float((likely * (1 - likely)).mean())


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
