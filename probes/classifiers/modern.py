"""The cheap protocol for curves: successive halving, that is, weak cells are dropped early.

Jamieson and Talwalkar 2016, with dev accuracy as the score. All cells train for a pass, the best ones continue, and the
last ones train until the learning rate is 0. Logistic regression also trains on whitened features (with shrinkage),
because Adam alone is slow if features are correlated. More than `WIDE` features are not whitened: no matrix of features
by features is formed.
"""

from math import ceil
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from probes.classifiers.blocks import blocks, on_all_cores
from probes.classifiers.cells import Cell, Cells
from probes.classifiers.grid import Fitted, Grid, Tensors
from probes.classifiers.optimum import principal_axes


class Candidate(NamedTuple):
    """A block of cells, with the training and dev data in the features that they read."""

    cells: Cells
    train: Tensors
    dev: Tensors
    whitening: Tensor | None = None  # (D, D), the matrix by which the vectors were multiplied


class Rung(NamedTuple):
    """One stage of successive halving."""

    share: float  # of the cells of the grid that take part, the best on dev so far
    passes: int
    rate: float  # learning rate of Adam; in the last rung it falls to 0


class Schedule(NamedTuple):
    """The stages for one kind of cell."""

    rungs: tuple[Rung, ...]
    steps: int  # minimum steps of a pass; few sentences are repeated within a pass


MLP = Schedule((Rung(1, 1, 5e-3), Rung(1 / 4, 3, 5e-3), Rung(1 / 12, 8, 3e-3)), 16)
LOGISTIC = Schedule((Rung(1, 1, 5e-3), Rung(1 / 8, 6, 4e-3)), 64)
# A step of Adam moves the weights of all features by the rate, and a score is their sum: many features take less.
WIDE_LOGISTIC = Schedule((Rung(1, 1, 1e-4), Rung(1 / 8, 6, 8e-5)), 64)
WIDE = 8192  # features; an eigen-decomposition of more takes minutes and gigabytes
SHRINKAGE = 0.3  # of the mean variance, added to each variance: small directions are often noise and stay small
BATCH = (64, 512)  # sentences, at least and at most

Key = tuple[Cell, bool]  # and whether the features were whitened
Best = dict[Key, Fitted]


def successive_halving(train: Tensors, dev: Tensors, classes: int, grid: Grid, seed: int, device: str) -> Fitted:
    """The cell with the best dev accuracy after any pass; the first of the grid wins a tie."""
    candidates = _candidates(train, dev, classes, grid, seed, device)
    total = sum(len(candidate.cells) for candidate in candidates)
    order = np.random.default_rng(seed)
    rungs, least = _schedule(train.x.shape[1], grid)
    batch = int(np.clip(len(train.y) // least, *BATCH))
    repeats = max(1, ceil(least * batch / len(train.y)))
    best: Best = {}
    for rung in rungs:
        candidates = _promoted(candidates, best, ceil(total * rung.share))
        drawn = [np.concatenate([order.permutation(len(train.y)) for _ in range(repeats)]) for _ in range(rung.passes)]
        orders = [torch.from_numpy(rows).to(train.y.device) for rows in drawn]
        steps = sum(ceil(len(rows) / batch) for rows in orders)
        decay = rung.rate / steps if rung is rungs[-1] else 0.0

        def work(
            candidate: Candidate, orders: list[Tensor] = orders, rate: float = rung.rate, decay: float = decay
        ) -> Best:
            return _train(candidate, [rows.split(batch) for rows in orders], rate, decay)

        for part in on_all_cores(work, candidates, device):
            for key, fitted in part.items():
                if key not in best or fitted.dev_accuracy > best[key].dev_accuracy:
                    best[key] = fitted
    winner = max(best.values(), key=lambda cell: cell.dev_accuracy)
    return winner._replace(dev_accuracy=round(winner.dev_accuracy, 2))


def _schedule(inputs: int, grid: Grid) -> Schedule:
    if not grid.is_logistic:
        return MLP
    return LOGISTIC if inputs <= WIDE else WIDE_LOGISTIC


def _candidates(train: Tensors, dev: Tensors, classes: int, grid: Grid, seed: int, device: str) -> list[Candidate]:
    inputs = train.x.shape[1]

    def cells() -> list[Cells]:
        return [Cells(inputs, classes, block, seed, device) for block in blocks(inputs, classes, grid, device)]

    found = [Candidate(some, train, dev) for some in cells()]
    if grid.is_logistic and inputs <= WIDE:
        variances, axes = principal_axes(train.x)
        whitening = axes / (variances + SHRINKAGE * variances.mean()).sqrt()
        whitened = Tensors(train.x @ whitening, train.y), Tensors(dev.x @ whitening, dev.y)
        found += [Candidate(some, *whitened, whitening) for some in cells()]
    return found


def _promoted(candidates: list[Candidate], best: Best, places: int) -> list[Candidate]:
    """The candidates with cells among the best; drops all other cells."""
    if not best:
        return candidates
    ahead = set(sorted(best, key=lambda key: -best[key].dev_accuracy)[:places])
    for candidate in candidates:
        whitened = candidate.whitening is not None
        candidate.cells.keep([i for i, cell in enumerate(candidate.cells.cells) if (cell, whitened) in ahead])
    return [candidate for candidate in candidates if len(candidate.cells)]


def _train(candidate: Candidate, passes: list[tuple[Tensor, ...]], rate: float, decay: float) -> Best:
    """Train over each pass, batch by batch; returns every cell at its best on dev."""
    cells, best = candidate.cells, Best()
    for batches in passes:
        for rows in batches:
            cells.step(*candidate.train.batch(rows), rate)
            rate -= decay
        for position, (cell, accuracy) in enumerate(zip(cells.cells, cells.accuracy(*candidate.dev), strict=True)):
            key = cell, candidate.whitening is not None
            if key not in best or accuracy > best[key].dev_accuracy:
                weight, *rest = cells.snapshot(position)
                if candidate.whitening is not None:
                    weight = weight @ candidate.whitening.t()  # weights for the original features
                best[key] = Fitted(*cell, accuracy, [weight, *rest])
    return best
