"""The cheap protocol for curves: successive halving, that is, weak cells are dropped early.

Jamieson and Talwalkar 2016, with dev accuracy as the score. All cells train for a pass, the best ones continue, and the
last ones train until the learning rate is 0. Logistic regression also trains on whitened features (with shrinkage),
because Adam alone is slow if features are correlated. More than `WIDE` features are not whitened: no matrix of features
by features is formed.

Cells that do not fit into memory together are trained a block at a time. The next stage then trains the cells that
continue from the start, which gives the same weights.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from probes.classifiers.best import Best
from probes.classifiers.blocks import WEIGHT_BYTES, at_once, blocks, on_all_cores, weights
from probes.classifiers.cells import Cell, Cells
from probes.classifiers.grid import Fitted, Grid, Tensors
from probes.classifiers.optimum import covariance

Key = tuple[Cell, bool]  # and whether the features were whitened


@dataclass
class Candidate:
    """A block of cells, with the training and dev data in the features that they read."""

    block: list[Cell]
    train: Tensors
    dev: Tensors
    whitening: Tensor | None = None  # (D, D), the matrix by which the vectors were multiplied
    cells: Cells | None = None  # the block as far as it is trained; None: not in memory

    def key(self, cell: Cell) -> Key:
        """The name of a cell among those of all candidates."""
        return cell, self.whitening is not None


class Rung(NamedTuple):
    """One stage of successive halving."""

    share: float  # of the cells of the grid that take part, the best on dev so far
    passes: int
    rate: float  # learning rate of Adam; in the last rung it falls to 0


class Stage(NamedTuple):
    """The batches of a rung."""

    orders: list[Tensor]  # training rows, of each pass
    batch: int
    rate: float  # learning rate at the start
    decay: float  # and how much it falls with each batch


class Schedule(NamedTuple):
    """The stages for one kind of cell."""

    rungs: tuple[Rung, ...]
    steps: int  # minimum steps of a pass; few sentences are repeated within a pass


MLP = Schedule((Rung(1, 1, 5e-3), Rung(1 / 4, 3, 5e-3), Rung(1 / 12, 8, 3e-3)), 16)
LOGISTIC = Schedule((Rung(1, 1, 5e-3), Rung(1 / 8, 6, 4e-3)), 64)
# A step of Adam moves the weights of all features by the rate, and a score is their sum: many features take less.
WIDE_LOGISTIC = Schedule((Rung(1, 1, 1e-4), Rung(1 / 8, 6, 8e-5)), 64)
WIDE = 5120  # features; an eigen-decomposition of more takes minutes and more than a gigabyte
SHRINKAGE = 0.3  # of the mean variance, added to each variance: small directions are often noise and stay small
BATCH = (64, 512)  # sentences, at least and at most


def successive_halving(train: Tensors, dev: Tensors, classes: int, grid: Grid, seed: int, device: str) -> Fitted:
    """The cell with the best dev accuracy after any pass; the first of the grid wins a tie."""
    inputs = train.x.shape[1]
    candidates = _candidates(train, dev, classes, grid, device)
    keys = [candidate.key(cell) for candidate in candidates for cell in candidate.block]
    kept = WEIGHT_BYTES * weights([cell for cell, _ in keys], inputs, classes) <= grid.memory_mb << 19
    together = at_once([candidate.block for candidate in candidates], inputs, classes, grid)
    best, done = Best(keys), list[Stage]()

    def work(candidate: Candidate) -> None:
        cells = candidate.cells
        if cells is None:
            cells = Cells(inputs, classes, candidate.block, seed, device)
            for before in done[:-1]:
                for _ in _passes(cells, candidate.train, before):
                    pass
        for _ in _passes(cells, candidate.train, done[-1]):
            _score(cells, candidate, best)
        candidate.cells = cells if kept else None

    for stage, places in _stages(len(train.y), inputs, grid, len(keys), seed, train.y.device):
        candidates = _promoted(candidates, best, places)
        done.append(stage)
        on_all_cores(work, candidates, device, together)
    winner = best.winner
    return winner._replace(dev_accuracy=round(winner.dev_accuracy, 2))


def _stages(
    sentences: int, inputs: int, grid: Grid, total: int, seed: int, device: torch.device
) -> Iterator[tuple[Stage, int]]:
    """The stages, each with the number of cells that take part, of `total`."""
    rungs, least = _schedule(inputs, grid)
    order = np.random.default_rng(seed)
    batch = int(np.clip(sentences // least, *BATCH))
    repeats = max(1, ceil(least * batch / sentences))
    for rung in rungs:
        drawn = [np.concatenate([order.permutation(sentences) for _ in range(repeats)]) for _ in range(rung.passes)]
        steps = sum(ceil(len(rows) / batch) for rows in drawn)
        decay = rung.rate / steps if rung is rungs[-1] else 0.0
        orders = [torch.from_numpy(rows).to(device) for rows in drawn]
        yield Stage(orders, batch, rung.rate, decay), ceil(total * rung.share)


def _schedule(inputs: int, grid: Grid) -> Schedule:
    if not grid.is_logistic:
        return MLP
    return LOGISTIC if inputs <= WIDE else WIDE_LOGISTIC


def _candidates(train: Tensors, dev: Tensors, classes: int, grid: Grid, device: str) -> list[Candidate]:
    inputs = train.x.shape[1]
    parts = blocks(inputs, classes, grid, device)
    found = [Candidate(block, train, dev) for block in parts]
    if grid.is_logistic and inputs <= WIDE:
        variances, axes = _principal_axes(train.x)
        whitening = axes / (variances + SHRINKAGE * variances.mean()).sqrt()
        whitened = Tensors(train.x @ whitening, train.y), Tensors(dev.x @ whitening, dev.y)
        found += [Candidate(block, *whitened, whitening) for block in parts]
    return found


def _principal_axes(x: Tensor) -> tuple[Tensor, Tensor]:
    """Variances (D,) and principal axes (D, D) of the vectors, around zero."""
    spread = covariance(x)
    variances, axes = torch.linalg.eigh(spread.double())
    return variances.clamp_min(0).to(spread), axes.to(spread)


def _promoted(candidates: list[Candidate], best: Best[Key], places: int) -> list[Candidate]:
    """The candidates with cells among the best; drops all other cells."""
    known = best.known
    if not known:
        return candidates
    ahead = set(sorted(known, key=lambda key: -known[key].dev_accuracy)[:places])
    for candidate in candidates:
        stay = [i for i, cell in enumerate(candidate.block) if candidate.key(cell) in ahead]
        candidate.block = [candidate.block[i] for i in stay]
        if candidate.cells is not None:
            candidate.cells.keep(stay)
    return [candidate for candidate in candidates if candidate.block]


def _passes(cells: Cells, train: Tensors, stage: Stage) -> Iterator[None]:
    """Train over each pass, batch by batch; yields after each."""
    rate = stage.rate
    for rows in stage.orders:
        for batch in rows.split(stage.batch):
            cells.step(*train.batch(batch), rate)
            rate -= stage.decay
        yield


def _score(cells: Cells, candidate: Candidate, best: Best[Key]) -> None:
    """Score every cell on dev, and keep it if it is better than before."""
    for position, (cell, accuracy) in enumerate(zip(cells.cells, cells.accuracy(*candidate.dev), strict=True)):
        weight, *rest = cells.snapshot(position)
        if candidate.whitening is not None:
            weight = weight @ candidate.whitening.t()  # weights for the original features
        best.add({candidate.key(cell): Fitted(*cell, accuracy, [weight, *rest])})
