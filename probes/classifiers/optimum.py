"""Multinomial logistic regression at its optimum for each L2 value: convex, so the result needs no seed.

SciPy's L-BFGS searches in coordinates in which the loss curves about alike in all directions: those of whitened
features. Each search begins at the optimum of the next larger L2 value.
"""

from collections.abc import Sequence
from math import isnan, sqrt

import numpy as np
import scipy  # which imports its parts at their first use
import torch
from torch import Tensor
from torch.nn import functional

from encoder_lab.errors import InputError
from probes.classifiers.examples import Data
from probes.vectors import Features, portion_rows

CHUNK_ROWS = 4096  # sentences per product; bounds the memory for scores
COVARIANCE_ROWS_PER_FEATURE = 8  # sentences per feature, at most, that the covariance is of
CURVATURE_SAMPLE = 512  # sentences that tell how much the loss curves, about
MIN_CURVATURE = 1e-6  # so that it has an inverse
MAX_ITERATIONS = 500  # of L-BFGS, at most; tens are usual
LOSS_TOLERANCE = 3e-5  # nats above the minimum, by a bound that is about thirty times too large

Weights = tuple[Tensor, Tensor]  # weight (D, C) and bias (C,)


class Optima:
    """The optima for several L2 values on the same features."""

    def __init__(
        self, train: Data, classes: int, gap: float = LOSS_TOLERANCE, iterations: int = MAX_ITERATIONS
    ) -> None:
        self.train, self.classes, self.gap, self.iterations = train, classes, gap, iterations
        self.spread, self.sample = covariance(train.x), train.x[:: max(1, len(train.y) // CURVATURE_SAMPLE)]
        self.weights: dict[float, Weights] = {}  # by L2 value

    def add(self, values: Sequence[float]) -> None:
        """Add the optima of `values`, each searched from that of the next larger value, or else of the largest."""
        for l2 in sorted(values, reverse=True):
            nearest = min((value for value in self.weights if value > l2), default=max(self.weights, default=l2))
            start, variance = self.weights.get(nearest), None
            if start is not None:
                probabilities = (self.sample @ start[0] + start[1]).softmax(1)
                variance = float((probabilities * (1 - probabilities)).mean())
            factor = curvature_factor(self.spread, self.classes, l2, variance)
            self.weights[l2] = optimum(self.train, self.classes, l2, factor, self.gap, self.iterations, start)


def covariance(x: Features) -> Tensor:
    """The mean product (D, D) of two features: the covariance around zero. Raises InputError where it is not finite."""
    count, width = min(len(x), COVARIANCE_ROWS_PER_FEATURE * x.shape[1]), x.shape[1]
    size = portion_rows(width, count)
    products = torch.zeros(width, width, device=x.device)
    for start in range(0, count, size):
        part = x[start : min(start + size, count)]
        products += _matrix_product(part.t(), part)
    if not products.isfinite().all():
        raise InputError("logistic regression: products of the features are beyond 32 bits; make the vectors smaller")
    return products.div_(count)


def curvature_factor(spread: Tensor, classes: int, l2: float, variance: float | None = None) -> Tensor:
    """L (D + 1, D + 1), lower: L L' is about how the loss curves in a class's weights and, last, its bias.

    `spread (D, D)`: the covariance of the features; `variance`: the mean p(1 - p) of the classes, by default that of
    equally likely ones. Where rounding leaves no such factor, the ridge is larger than `l2`.
    """
    ridge = l2 / 2 if classes == 2 else l2
    matrix, ridges = (functional.pad(part, (0, 1, 0, 1)) for part in (spread, torch.eye(len(spread)).to(spread)))
    matrix[-1, -1] = 1
    matrix.mul_((1 - 1 / classes) / classes if variance is None else max(variance, MIN_CURVATURE))
    while True:
        factor, failed = torch.linalg.cholesky_ex(matrix + ridge * ridges)
        if not failed:
            return factor
        ridge = max(10 * ridge, MIN_CURVATURE)


def optimum(
    train: Data,
    classes: int,
    l2: float,
    factor: Tensor | None = None,
    gap: float = LOSS_TOLERANCE,
    iterations: int = MAX_ITERATIONS,
    start: Weights | None = None,
) -> Weights:
    """The weight (D, C) and bias (C,) that minimise mean cross-entropy + l2 / 2 * |weight|^2.

    scikit-learn's C is 1 / (l2 * N). The labels may be distributions over the classes, (N, C). `factor`: the
    `curvature_factor` of these or similar features. `start`: a weight and bias to begin with; by default zeros.
    Raises InputError where the loss is not a number.
    """
    factor = curvature_factor(covariance(train.x), classes, l2) if factor is None else factor
    columns = 1 if classes == 2 and train.y.ndim == 1 else classes  # for two classes the difference of their weights
    ridge = l2 / 2 if columns == 1 else l2

    def weights(point: np.ndarray) -> Weights:
        rows = torch.from_numpy(point).to(factor).view(-1, columns)
        rows = torch.linalg.solve_triangular(factor.t(), rows, upper=True)
        return rows[:-1], rows[-1]

    def loss_and_gradient(point: np.ndarray) -> tuple[float, np.ndarray]:
        weight, bias = weights(point)
        loss, grad, grad_bias = cross_entropy(train, weight, bias)
        if isnan(loss):
            raise InputError("logistic regression: the features are beyond 32 bits; make the vectors smaller")
        rows = torch.cat([grad.add_(weight, alpha=ridge), grad_bias[None]])
        gradient = torch.linalg.solve_triangular(factor, rows, upper=False).flatten().double().cpu().numpy()
        return loss + ridge / 2 * float(weight.square().sum()), gradient

    begin = np.zeros((train.x.shape[1] + 1) * columns)
    if start is not None:
        weight, bias = (part.diff() if columns == 1 else part for part in start)
        begin = (factor.t() @ torch.cat([weight, bias[None]])).flatten().double().cpu().numpy()
    # as the loss curves by about 1, half of the squared gradient is the gap
    tolerance = sqrt(gap / len(begin))
    options = {"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 20, "ftol": gap / 1000, "gtol": tolerance}
    result = scipy.optimize.minimize(loss_and_gradient, begin, jac=True, method="L-BFGS-B", options=options)
    halves = torch.tensor([-0.5, 0.5]).to(factor) if columns == 1 else 1
    weight, bias = weights(result.x)
    return weight * halves, bias * halves


def cross_entropy(train: Data, weight: Tensor, bias: Tensor) -> tuple[float, Tensor, Tensor]:
    """The mean over the sentences, in nats, and its gradients with respect to weight (D, C) and bias (C,).

    The labels are classes (N,) or distributions (N, C). Of two classes with labels (N,) weight may be the difference,
    (D, 1), and bias (1,).
    """
    size = portion_rows(train.x.shape[1], CHUNK_ROWS)
    rows = weight.t().contiguous()  # (C, D): several times faster with few classes
    minus_one = rows.new_full((1, 1), -1.0)
    loss, grad, grad_bias = rows.new_zeros((), dtype=torch.double), torch.zeros_like(rows), torch.zeros_like(bias)
    for x, y in zip(train.x.split(size), train.y.split(size), strict=True):
        scores = _matrix_product(rows, x.t()).add_(bias[:, None])  # (C, n): long rows are fast
        scores = (functional.pad(scores, (0, 0, 1, 0)) if len(bias) == 1 else scores).log_softmax(0)
        if y.ndim == 2:
            loss -= (scores * y.t()).sum(dtype=torch.double)
            error = scores.exp_().sub_(y.t())
        else:
            loss -= scores.gather(0, y[None]).sum(dtype=torch.double)
            error = scores.exp_().scatter_add_(0, y[None], minus_one.expand(1, len(y)))
        grad += _matrix_product(error[-len(bias) :], x)
        grad_bias += error[-len(bias) :].sum(1)
    return float(loss) / len(train.y), grad.t().div_(len(train.y)), grad_bias.div_(len(train.y))


def _matrix_product(first: Tensor, second: Tensor) -> Tensor:
    """The matrix product; for one row, and for a matrix with its transpose, NumPy is faster than oneDNN."""
    if first.device.type != "cpu":
        return first @ second
    with np.errstate(all="ignore"):  # found in the sums
        return torch.from_numpy(first.numpy() @ second.numpy())
