"""Multinomial logistic regression at its optimum for each L2 value: convex, so the result needs no seed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from encoder_lab.errors import InputError
from probes.classifiers.blocks import on_all_cores
from probes.classifiers.cells import predict
from probes.classifiers.curvature import (
    Curvature,
    covariance,
    curvature_of,
    principal_axes,
    product,
    ridge_of,
    worth_a_covariance,
    worth_axes,
)
from probes.classifiers.grid import Data, Examples, Fitted, Grid
from probes.classifiers.lbfgs import LastSteps, minimum
from probes.vectors import Features, rows_at_once

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


def optimal(train: Data, dev: Data, classes: int, grid: Grid, device: str) -> Fitted:
    """The classifier with the best dev accuracy over the L2 values (`best_of_l2`)."""
    basis = row_space(train.x) if len(train.y) < train.x.shape[1] else None
    inner = train if basis is None else Examples(train.x @ basis, train.y)
    size = len(inner.y), inner.x.shape[1], classes
    spread = covariance(inner.x) if worth_a_covariance(*size) else None
    if spread is not None and worth_axes(*size) and isinstance(inner.x, Tensor):
        spread, axes = principal_axes(spread)
        basis, inner = axes if basis is None else basis @ axes, Examples(inner.x @ axes, inner.y)
    optima = Optima(inner, classes, spread)

    def fitted(l2: float, weight: Tensor, bias: Tensor) -> Fitted:
        parameters = [(weight if basis is None else basis @ weight).t(), bias[:, None]]
        right = int((predict(parameters, dev.x) == dev.y).sum())
        return Fitted(0, 0.0, l2, round(100 * right / len(dev.y), 2), parameters)

    def tried(values: list[float]) -> list[Fitted]:
        on_all_cores(optima.add, [values], device)
        return [fitted(l2, *optima.known[l2]) for l2 in values]

    return best_of_l2(grid, tried, lambda cell: cell.dev_accuracy)[1]


class Optima:
    """The optima for several L2 values on the same vectors; each search begins with what the earlier ones found.

    `spread`: the covariance (D, D) of the vectors, or their variances (D,), or None (`curvature_of`).
    """

    def __init__(self, train: Data, classes: int, spread: Tensor | None, gap: float = GAP) -> None:
        self.train, self.classes, self.spread, self.gap = train, classes, spread, gap
        self.known: dict[float, Weights] = {}  # by L2 value
        self.past = Past()

    def add(self, values: Sequence[float]) -> None:
        """Find those of more values; from the optimum of the next larger value known, or else of the largest."""
        sample = self.train.x[:: max(1, len(self.train.y) // SAMPLE)]
        for l2 in sorted(values, reverse=True):
            near = min((other for other in self.known if other > l2), default=max(self.known, default=None))
            start = None if near is None else self.known[near]
            variance = None if start is None else mean_variance(sample, *start)
            curvature = curvature_of(self.spread, self.classes, l2, variance)
            self.known[l2] = optimum(self.train, self.classes, l2, curvature, self.gap, start=start, past=self.past)


@dataclass
class Past:
    """What a search leaves for the next one on the same vectors."""

    steps: LastSteps | None = None
    ridge: float = 0.0  # of the loss that they were taken on


def optimum(
    train: Data,
    classes: int,
    l2: float,
    curvature: Curvature | None = None,
    gap: float = GAP,
    iterations: int = ITERATIONS,
    start: Weights | None = None,
    past: Past | None = None,
) -> Weights:
    """The weight (D, C) and bias (C,) that minimise mean cross-entropy + l2 / 2 * |weight|^2.

    scikit-learn's C is 1 / (l2 * N). The labels may be distributions over the classes, (N, C). `start`: a weight and
    bias to begin with; by default zeros. `past`: what earlier searches left, which this one adds to.

    L-BFGS begins with `curvature`, that of these or similar vectors; by default that of independent features. The
    search ends about `gap` above the minimum, as L-BFGS knows it. Raises InputError where the loss is not a number.
    """
    curvature, past = curvature or curvature_of(None, classes, l2), past or Past()
    columns = 1 if classes == 2 and train.y.ndim == 1 else classes  # for two classes the difference of their weights
    ridge = ridge_of(l2, 2) if columns == 1 else l2
    train = train._replace(y=train.y.float()) if columns == 1 else train  # once, and not at each step
    inputs, device = train.x.shape[1], train.x.device
    size = (inputs + 1) * columns
    inverse = None  # of the curvature, for each weight, where it is that of independent features
    if curvature.factor.ndim < 2:
        inverse = torch.full((size,), curvature.bias**-2, device=device)
        inverse[:-columns].view(inputs, columns).copy_(curvature.factor.expand(inputs)[:, None] ** -2)

    def loss_and_slope(flat: Tensor) -> tuple[float, Tensor]:
        weight, bias = flat[:-columns].view(inputs, columns), flat[-columns:]
        loss, slope, slope_bias = cross_entropy(train, weight, bias)
        if isnan(loss):
            raise InputError("logistic regression: the features are beyond 32 bits; make the vectors smaller")
        slope.add_(weight, alpha=ridge)
        return loss + ridge / 2 * float(weight.square().sum()), torch.cat([slope.flatten(), slope_bias])

    def solved(slopes: Tensor) -> Tensor:
        if inverse is not None:
            return slopes * inverse
        columns_of_all = slopes[:, :-columns].view(-1, inputs, columns).transpose(0, 1).reshape(inputs, -1)
        found = curvature.solved(columns_of_all).view(inputs, -1, columns).transpose(0, 1)
        return torch.cat([found.reshape(len(slopes), -1), slopes[:, -columns:] / curvature.bias**2], 1)

    if past.steps is None:
        past.steps = LastSteps(max(10, min(30, MEMORY // size)), size, device)
    more = torch.full((size,), ridge - past.ridge, device=device)
    more[-columns:] = 0
    past.steps.turn(more, solved)
    past.ridge = ridge
    begin = torch.zeros(size, device=device) if start is None else _flat(*start, columns)
    found = minimum(loss_and_slope, solved, begin, gap, iterations, past.steps)
    weight, bias = found[:-columns].view(inputs, columns), found[-columns:]
    both = torch.tensor([-0.5, 0.5], device=device)
    return (weight * both, bias * both) if columns == 1 else (weight, bias)


def _flat(weight: Tensor, bias: Tensor, columns: int) -> Tensor:
    """Weight (D, C) and bias (C,) as L-BFGS has them; of two classes in one column the difference."""
    if columns == 1:
        weight, bias = weight[:, 1:] - weight[:, :1], bias[1:] - bias[:1]
    return torch.cat([weight.flatten(), bias])


def cross_entropy(train: Data, weight: Tensor, bias: Tensor) -> tuple[float, Tensor, Tensor]:
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


def _of_two_classes(train: Data, apart: Tensor, shift: Tensor) -> tuple[float, Tensor, Tensor]:
    """The same with one score for each sentence, the difference of both classes."""
    loss, slope, slope_shift = 0.0, torch.zeros_like(apart), torch.zeros_like(shift)
    for x, y in _portions(train, CACHED // len(apart)):
        scores = product(x, apart).add_(shift)
        loss += float(functional.softplus(torch.where(y > 0, -scores, scores)).sum(dtype=torch.float64))
        error = scores.sigmoid_().sub_(y)
        slope += product(x.t(), error)
        slope_shift += error.sum()
    return loss / len(train.y), slope.div_(len(train.y))[:, None], slope_shift.div_(len(train.y))


def mean_variance(x: Tensor, weight: Tensor, bias: Tensor) -> float:
    """The mean p(1 - p) of the probabilities that weight (D, C) and bias (C,) give: how much the loss curves there."""
    likely = (x @ weight + bias).softmax(1)
    return float((likely * (1 - likely)).mean())


def _portions(train: Data, most: int = ROWS) -> Iterator[tuple[Tensor, Tensor]]:
    """Vectors and labels, some sentences at a time: at most `most`, but not fewer than 256."""
    size = min(ROWS, max(256, most))
    size = size if isinstance(train.x, Tensor) else rows_at_once(train.x.shape[1], size)
    return zip(train.x.split(size), train.y.split(size), strict=True)


def row_space(x: Features) -> Tensor:
    """Orthonormal columns (D, N) that span N < D vectors: the optimum is a combination of the vectors.

    In these coordinates the problem is the same, and as small as the vectors are few.
    """
    return torch.linalg.qr(x[:].t())[0]
