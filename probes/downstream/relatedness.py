"""How related two sentences are, as a distribution over ratings (Tai et al. 2015, section 4.2).

`senteval` is the toolkit's regression (senteval/tools/relatedness.py) unchanged: ratings are always 1 to 5, so scores
below 1 have no proper target, and the loss is the squared error of the softmax. `modern` uses the ratings of the task
and the cross-entropy with the target. This loss is convex and is solved to its optimum; L2 is chosen on dev.
"""

import numpy as np
import torch
from scipy.stats import pearsonr
from torch import Tensor

from probes.classifiers.blocks import map_on_cores
from probes.classifiers.cells import initial_layer
from probes.classifiers.classifier import standardise
from probes.classifiers.examples import Tensors
from probes.classifiers.grid import Grid, best_of_l2
from probes.classifiers.optimisers import adam
from probes.classifiers.optimum import covariance, curvature_factor, optimum

PUBLISHED_RATINGS = (1.0, 5.0)
ROW_MULTIPLE = 16  # numbers: products are up to twice as fast if the length of a row is a multiple of this
BLOCK, MAX_PASSES, PATIENCE, BATCH = 50, 1000, 3, 64  # passes between scores on dev; early-stopping patience; pairs


def fit_regression(
    train: Tensors, dev: Tensors, test: Tensors, rated: tuple[float, float], grid: Grid, seed: int
) -> tuple[float, np.ndarray, dict[str, float]]:
    """The Pearson correlation on dev, the scores (N_test,) predicted, and what was chosen. `y` are the gold scores."""
    if grid.protocol == "senteval":
        return _fit_as_published(train, dev, test, seed)
    train, dev, test = standardise(train, dev, test)
    ratings = torch.arange(rated[0], rated[1] + 1.0, device=train.x.device)
    soft = Tensors(train.x, rating_targets(train.y, ratings))
    spread = covariance(train.x)

    def fit_l2(l2: float) -> tuple[float, Tensor]:
        weight, bias = optimum(soft, len(ratings), l2, curvature_factor(spread, len(ratings), l2))
        on_dev, on_test = (torch.softmax(part.x @ weight + bias, 1) @ ratings for part in (dev, test))
        return pearson(on_dev.cpu().numpy(), dev.y.cpu().numpy()), on_test

    device = train.x.device.type
    l2, (r, predicted) = best_of_l2(grid, lambda values: map_on_cores(fit_l2, values, device), lambda fitted: fitted[0])
    return r, predicted.cpu().numpy(), {"l2": l2}


def rating_targets(scores: Tensor, ratings: Tensor) -> Tensor:
    """Distributions (N, R) over neighbouring ratings; their means are the scores (N,)."""
    return (1 - (scores[:, None] - ratings).abs()).clamp_min(0).float()


def pearson(predicted: np.ndarray, gold: np.ndarray) -> float:
    """Pearson's r; 0 where one side is constant."""
    return float(pearsonr(predicted, gold)[0]) if np.ptp(predicted) > 0 and np.ptp(gold) > 0 else 0.0


@torch.no_grad()
def _fit_as_published(
    train: Tensors, dev: Tensors, test: Tensors, seed: int
) -> tuple[float, np.ndarray, dict[str, float]]:
    ratings = torch.arange(PUBLISHED_RATINGS[0], PUBLISHED_RATINGS[1] + 1, device=train.x.device)
    expected = rating_targets(train.y, ratings)  # zero for a score of 0, as the toolkit's
    order = np.random.RandomState(seed)
    fit = SquaredErrorFit(len(ratings), train.x.shape[1], seed, train.x.device)
    inputs, *scored = (with_constant(part.x) for part in (train, dev, test))
    best, predicted, failures, passes = -1.0, np.zeros(len(test.y)), 0, 0
    while failures <= PATIENCE and passes <= MAX_PASSES:
        for _ in range(BLOCK):
            rows = torch.from_numpy(order.permutation(len(train.y))).to(train.x.device)
            target_batches = expected[rows].t().contiguous().split(BATCH, 1)
            for batch_rows, batch_targets in zip(rows.split(BATCH), target_batches, strict=True):
                fit.step(inputs.index_select(0, batch_rows), batch_targets)
        passes += BLOCK
        on_dev, on_test = ((fit.shares(x).t() @ ratings).cpu().numpy() for x in scored)
        score = pearson(on_dev, dev.y.cpu().numpy())
        if score > best:
            best, predicted = score, on_test
        else:
            failures += 1
    return best, predicted, {}


def with_constant(x: Tensor) -> Tensor:
    """Vectors (N, D) followed by the constant 1 of the bias, and by zeros until a row is a ROW_MULTIPLE long."""
    wide = x.new_zeros(len(x), -(-(x.shape[1] + 1) // ROW_MULTIPLE) * ROW_MULTIPLE)
    wide[:, : x.shape[1]] = x
    wide[:, x.shape[1]] = 1
    return wide


class SquaredErrorFit:
    """`Linear, Softmax` with the mean squared error and Adam, as torch trains it; its gradient is written by hand.

    A step on 64 pairs is so short that autograd would take most of its time. Letters: B pairs, D inputs (those of
    `with_constant`), R ratings. The weights of zeros remain zero.
    """

    def __init__(self, ratings: int, inputs: int, seed: int, device: torch.device) -> None:
        """`inputs`: of the vectors, without constant and zeros."""
        first = torch.cat(initial_layer((ratings, inputs), torch.Generator().manual_seed(seed)), 1)
        self.weight = with_constant(first[:, :-1]).to(device)  # (R, D)
        self.weight[:, inputs] = first[:, -1].to(device)
        self.gradient, self.mean, self.square = (torch.zeros_like(self.weight) for _ in range(3))
        self.steps = torch.zeros((), device=device)
        self.state = [self.weight], [self.gradient], [self.mean], [self.square], [self.steps]  # of Adam

    def shares(self, x: Tensor) -> Tensor:
        """The distributions over the ratings, (R, B), of pairs `x (B, D)`."""
        return torch.mm(self.weight, x.t()).softmax(0)

    def step(self, x: Tensor, expected: Tensor) -> None:
        """A step on pairs `x (B, D)` with the targets `expected (R, B)`."""
        shares = self.shares(x)
        error = torch._softmax_backward_data(shares - expected, shares, 0, shares.dtype)
        torch.addmm(self.gradient, error, x, beta=0, alpha=2 / shares.numel(), out=self.gradient)
        self.steps.add_(1)
        adam(self.state)
