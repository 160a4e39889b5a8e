"""The published logistic regression on many folds at once: one model for all folds and all L2 values.

Letters: F folds, K values of L2, C classes, D inputs (the last is the constant 1 of the bias), B sentences.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from probes.classifiers.cells import initial_layer
from probes.classifiers.examples import Tensors
from probes.classifiers.grid import Grid
from probes.classifiers.optimisers import adam, rmsprop
from probes.classifiers.recorded import StepGraphs


class Fold(NamedTuple):
    """Training rows, dev rows for early stopping, and the generator that shuffles the training rows."""

    train: np.ndarray
    dev: np.ndarray
    order: np.random.RandomState


class FoldCells:
    """F x K logistic regressions with equal initial weights; each trains like torch's `Linear` with L2."""

    def __init__(self, inputs: int, classes: int, l2: Tensor, seed: int, optimiser: str = "adam") -> None:
        """`inputs`: D without the constant; `l2 (F, K)`."""
        self.optimiser = optimiser
        start = torch.cat(initial_layer((classes, inputs), torch.Generator().manual_seed(seed)), 1).to(l2.device)
        self.weights = start.repeat(*l2.shape, 1, 1)  # (F, K, C, D)
        self.l2 = l2[:, :, None, None]
        self.means, self.squares = torch.zeros_like(self.weights), torch.zeros_like(self.weights)
        self.steps = torch.zeros(len(l2), device=l2.device)
        self.step_graphs = StepGraphs()

    def step(self, x: Tensor, y: Tensor, share: Tensor) -> None:
        """A step of the first f folds, each on its batch: `x (f, B, D)`, `y (f, B)`; `share (f, B)`: loss weights."""
        if x.is_cuda:
            self.step_graphs(self._step, x, y, share)
        else:
            self._step(x, y, share)

    def _step(self, x: Tensor, y: Tensor, share: Tensor) -> None:
        folds, (_, cells, classes, inputs) = len(x), self.weights.shape
        weights = self.weights[:folds]
        error = torch.bmm(weights.view(folds, -1, inputs), x.transpose(1, 2)).view(folds, cells, classes, -1)
        error = torch.softmax(error, 2)
        error.scatter_add_(2, y[:, None, None].expand(-1, cells, 1, -1), torch.full_like(error[:, :, :1], -1))
        error *= share[:, None, None]
        gradient = torch.bmm(error.view(folds, -1, x.shape[1]), x).view_as(weights)
        gradient.addcmul_(weights, self.l2[:folds])
        means, squares, steps = (state[:folds] for state in (self.means, self.squares, self.steps))
        if self.optimiser == "adam":
            steps += 1
            adam([list(tensors.unbind()) for tensors in (weights, gradient, means, squares, steps)])
        else:
            rmsprop([weights], [gradient], [squares])

    def keep(self, folds: list[int]) -> None:
        """Keep only these folds: positions among the current folds."""
        for name in ("weights", "l2", "means", "squares", "steps"):
            setattr(self, name, getattr(self, name)[folds])
        self.step_graphs = StepGraphs()


def train_folds(
    data: Tensors, classes: int, folds: Sequence[Fold], l2: np.ndarray, grid: Grid, seed: int
) -> tuple[np.ndarray, Tensor]:
    """Train each fold with each of its L2 values `l2 (F, K)`; each result equals that of the toolkit.

    The dev accuracies (F, K), in [0, 1], and weights (F, K, C, D) of all cells, each at its best on dev.
    Early stopping is that of `train_with_early_stopping`. The folds of a data set have similar sizes and train
    together, the largest first. A fold is dropped when its last cell has stopped.
    """
    x = torch.cat([data.x, torch.ones_like(data.x[:, :1])], 1)
    indices = sorted(range(len(folds)), key=lambda fold: -len(folds[fold].train))
    values = torch.as_tensor(l2[indices], dtype=x.dtype, device=x.device)
    cells = FoldCells(data.x.shape[1], classes, values, seed, grid.optimiser)
    best, weights = torch.full(l2.shape, -1.0, dtype=torch.double, device=x.device), torch.empty_like(cells.weights)
    failures = torch.zeros(l2.shape, dtype=torch.long, device=x.device)
    passes = 0
    while indices and passes <= grid.max_passes:
        for _ in range(grid.block):
            _train_one_pass(cells, x, data.y, [folds[fold] for fold in indices], grid)
        passes += grid.block
        each = [_accuracies(w, x, data.y, folds[f].dev) for w, f in zip(cells.weights, indices, strict=True)]
        accuracies = torch.stack(each)
        running = failures[indices] <= grid.tenacity
        better = running & (accuracies > best[indices])
        failures[indices] += (running & ~better).long()
        best[indices] = torch.where(better, accuracies, best[indices])
        weights[indices] = torch.where(better[:, :, None, None], cells.weights, weights[indices])
        alive = (failures[indices] <= grid.tenacity).any(1).nonzero().flatten().tolist()
        if len(alive) < len(indices):
            cells.keep(alive)
            indices = [indices[fold] for fold in alive]
    return best.cpu().numpy(), weights


def _train_one_pass(cells: FoldCells, x: Tensor, y: Tensor, folds: Sequence[Fold], grid: Grid) -> None:
    """Train on all rows of each fold, in the order of the fold; the last batch may be smaller."""
    batch = grid.batch
    orders = [fold.train[fold.order.permutation(len(fold.train))] for fold in folds]
    steps = -(-len(orders[0]) // batch)
    rows = np.zeros((len(orders), steps * batch), dtype=np.int64)
    share = np.zeros(rows.shape, dtype=np.float32)
    for index, order in enumerate(orders):
        rows[index, : len(order)] = order
        share[index, : len(order)] = 1 / batch if grid.reduction == "mean" else 1
        last = (len(order) - 1) % batch + 1
        if grid.reduction == "mean":
            share[index, len(order) - last : len(order)] = 1 / last
    all_rows, all_shares = (torch.from_numpy(part).to(y.device).split(batch, 1) for part in (rows, share))
    for step, (batch_rows, shares) in enumerate(zip(all_rows, all_shares, strict=True)):
        running = sum(len(order) > step * batch for order in orders)
        cells.step(x[batch_rows[:running]], y[batch_rows[:running]], shares[:running])


def _accuracies(weights: Tensor, x: Tensor, y: Tensor, rows: np.ndarray) -> Tensor:
    """The accuracy (K,), in [0, 1], of cells `weights (K, C, D)` on some rows."""
    indices = torch.from_numpy(rows).to(y.device)
    scores = (weights.flatten(0, 1) @ x[indices].t()).unflatten(0, weights.shape[:2])
    return (scores.argmax(1) == y[indices]).double().mean(1)
