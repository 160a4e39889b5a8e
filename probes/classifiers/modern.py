"""The cheap protocol for curves: successive halving, that is, weak cells are dropped early.

Jamieson and Talwalkar 2016, with dev accuracy as the score. All cells train for a pass, the best ones continue, and the
last ones train until the learning rate is 0. These are compared at their end alone: before it the weights change with
each batch, and the best pass on dev is in part chance. L2 changes little in the first pass of networks with a hidden
layer: there one value stands for all, and the best widths and dropouts continue with each value.

Logistic regression also trains on whitened features (with shrinkage), because Adam alone is slow if features are
correlated. More than `MAX_WHITENED_FEATURES` features are not whitened: no matrix of features by features is formed.

Cells that do not fit into memory together are trained a block at a time. The next stage then trains the cells that
continue from the start, which gives the same weights up to rounding.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, sqrt
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from probes.classifiers.blocks import (
    MIN_BLOCKS,
    WEIGHT_BYTES,
    count_weights,
    map_on_cores,
    max_parallel_blocks,
    split_into_blocks,
)
from probes.classifiers.cells import Cell, Cells
from probes.classifiers.examples import Data, Examples, Fitted, best_on_dev, complexity
from probes.classifiers.grid import Grid
from probes.classifiers.optimum import covariance

CellKey = tuple[Cell, bool]  # and whether the features were whitened


@dataclass
class Candidate:
    """A block of cells, with the training and dev data in the features that they read."""

    block: list[Cell]
    train: Data
    dev: Data
    whitening: Tensor | None = None  # (D, D), the matrix by which the vectors were multiplied
    cells: Cells | None = None  # the block as far as it is trained; None: not in memory

    def key(self, cell: Cell) -> CellKey:
        """The name of a cell among those of all candidates."""
        return cell, self.whitening is not None


class Rung(NamedTuple):
    """One stage of successive halving."""

    share: float  # of the cells of the grid that take part, the best on dev so far; the first has one L2 value or all
    passes: int
    rate: float  # learning rate of Adam; in the last rung it falls to 0


class Stage(NamedTuple):
    """The batches of a rung."""

    orders: list[Tensor]  # training rows, of each pass
    batch: int
    rate: float  # learning rate at the start
    decay: float  # and how much it falls with each batch; 0 except in the last stage

    @property
    def is_last(self) -> bool:
        return self.decay > 0


class Schedule(NamedTuple):
    """The stages for one kind of cell."""

    rungs: tuple[Rung, ...]
    steps: int  # minimum steps of a pass; few sentences are repeated within a pass
    max_batch: int  # sentences
    full_rate_sentences: float = inf  # of more, the rates fall with the root of their number


MLP = Schedule((Rung(1, 1, 8e-3), Rung(1 / 9, 2, 8e-3), Rung(1 / 36, 8, 8e-3)), 8, 256, 4000)
LOGISTIC = Schedule((Rung(1, 1, 5e-3), Rung(1 / 8, 6, 4e-3)), 64, 512)
# A step of Adam moves the weights of all features by the rate, and a score is their sum: many features take less.
WIDE_LOGISTIC = Schedule((Rung(1, 1, 1e-4), Rung(1 / 8, 6, 8e-5)), 64, 512)
MAX_WHITENED_FEATURES = 5120  # features; an eigen-decomposition of more takes minutes and more than a gigabyte
SHRINKAGE = 0.3  # of the mean variance, added to each variance: small directions are often noise and stay small
MIN_BATCH = 64  # sentences
BATCH_MULTIPLE = 16  # of this many sentences: products of other sizes take up to 1.4 times as long
JOINED_MB = 8  # cells that need less take their steps together, as each call of torch has a cost of its own


def successive_halving(
    train: Data, dev: Data, classes: int, grid: Grid, seed: int, device: str, bfloat16: bool = False
) -> Fitted:
    """The cell of the last stage with the best dev accuracy at its end; the first of the grid wins a tie.

    `bfloat16`: steps multiply in bfloat16; dev accuracies are of products in float32.
    """
    inputs = train.x.shape[1]
    all_candidates = _make_candidates(train, dev, classes, grid, device)
    keys = [candidate.key(cell) for candidate in all_candidates for cell in candidate.block]
    in_memory = WEIGHT_BYTES * count_weights([cell for cell, _ in keys], inputs, classes) <= grid.memory_mb << 19
    limit = max_parallel_blocks([candidate.block for candidate in all_candidates], inputs, classes, grid)
    highest, stages, last = dict.fromkeys(keys, -1.0), list[Stage](), list[list[Fitted]]()
    middle, candidates = sorted(grid.l2)[len(grid.l2) // 2], all_candidates
    if not grid.is_logistic:  # the first rung has one L2 value
        candidates = _make_candidates(train, dev, classes, replace(grid, l2=(middle,)), device)

    def train_candidate(candidate: Candidate) -> list[Fitted]:
        cells = candidate.cells
        if cells is None:
            with_one_l2 = dict.fromkeys(cell._replace(l2=middle) for cell in candidate.block)
            first = candidate.block if grid.is_logistic else list(with_one_l2)
            cells = Cells(inputs, classes, first, seed, device, as_torch=False, bfloat16=bfloat16)
            cells = _train_from_start(candidate, stages[:-1], cells)
        for _ in _train_passes(cells, candidate.train, stages[-1]):
            if not stages[-1].is_last:
                for key, accuracy in _dev_accuracies(cells, candidate):
                    highest[key] = max(highest[key], accuracy)
        candidate.cells = cells if in_memory else None
        return _fitted_cells(cells, candidate, highest) if stages[-1].is_last else []

    for stage, count in _make_stages(len(train.y), inputs, grid, len(keys), seed, train.y.device):
        if len(stages) == 1 and not grid.is_logistic:
            candidates = _expand_l2(candidates, all_candidates, highest, count, grid)
        elif stages:
            candidates = _promote_best(candidates, highest, count)
        candidates = _join_small(candidates, inputs, classes, grid, device)
        stages.append(stage)
        last = map_on_cores(train_candidate, candidates, device, limit)
    final = [cell for cells in last for cell in cells]
    if grid.is_logistic:  # the norm needs weights, which cells that were dropped no longer have
        points = [(complexity(cell.parameters), cell.dev_accuracy) for cell in final]
    else:
        points = [(count_weights([cell], inputs, classes), score) for (cell, _), score in highest.items() if score >= 0]
    winner = best_on_dev(final)
    return winner._replace(dev_accuracy=round(winner.dev_accuracy, 2), points=points)


def _train_from_start(candidate: Candidate, stages: Sequence[Stage], cells: Cells) -> Cells:
    """The cells of a candidate after these stages, from those of the first rung."""
    for stage in stages:
        for _ in _train_passes(cells, candidate.train, stage):
            pass
        cells = cells.copies(candidate.block) if cells.cells != candidate.block else cells
    return cells


def _make_stages(
    sentences: int, inputs: int, grid: Grid, total: int, seed: int, device: torch.device
) -> Iterator[tuple[Stage, int]]:
    logistic = LOGISTIC if inputs <= MAX_WHITENED_FEATURES else WIDE_LOGISTIC
    rungs, least, largest, full = logistic if grid.is_logistic else MLP
    order = np.random.default_rng(seed)
    batch = int(np.clip(sentences // least // BATCH_MULTIPLE * BATCH_MULTIPLE, MIN_BATCH, largest))
    repeats = max(1, ceil(least * batch / sentences))
    for rung in rungs:
        passes = [np.concatenate([order.permutation(sentences) for _ in range(repeats)]) for _ in range(rung.passes)]
        steps = sum(ceil(len(rows) / batch) for rows in passes)
        rate = rung.rate * min(1, sqrt(full / sentences))
        decay = rate / steps if rung is rungs[-1] else 0.0
        orders = [torch.from_numpy(rows).to(device) for rows in passes]
        yield Stage(orders, batch, rate, decay), ceil(total * rung.share)


def _make_candidates(train: Data, dev: Data, classes: int, grid: Grid, device: str) -> list[Candidate]:
    inputs = train.x.shape[1]
    parts = split_into_blocks(inputs, classes, grid, device, MIN_BLOCKS * len(grid.settings()))
    candidates = [Candidate(block, train, dev) for block in parts]
    if grid.is_logistic and inputs <= MAX_WHITENED_FEATURES:
        variances, axes = torch.linalg.eigh(covariance(train.x))
        whitening = axes / (variances.clamp_min(0) + SHRINKAGE * variances.mean()).sqrt()
        whitened = Examples(train.x @ whitening, train.y), Examples(dev.x @ whitening, dev.y)
        candidates += [Candidate(block, *whitened, whitening) for block in parts]
    return candidates


def _best_keys(candidates: list[Candidate], highest: Mapping[CellKey, float], count: int) -> set[CellKey]:
    keys = {candidate.key(cell) for candidate in candidates for cell in candidate.block}
    return set(sorted((key for key in highest if key in keys), key=lambda key: -highest[key])[:count])


def _expand_l2(
    candidates: list[Candidate],
    all_candidates: list[Candidate],
    highest: Mapping[CellKey, float],
    count: int,
    grid: Grid,
) -> list[Candidate]:
    """The best cells of the first rung, each with all L2 values of the grid; `places` counts the latter."""
    best = _best_keys(candidates, highest, ceil(count / len(grid.l2)))
    keyed = ((cell, candidate) for candidate in candidates for cell in candidate.block)
    promoted = {cell[:2]: candidate for cell, candidate in keyed if candidate.key(cell) in best}
    for candidate in all_candidates:
        candidate.block = [cell for cell in candidate.block if cell[:2] in promoted]
        if candidate.block and (cells := promoted[candidate.block[0][:2]].cells) is not None:
            candidate.cells = cells.copies(candidate.block)
    return [candidate for candidate in all_candidates if candidate.block]


def _promote_best(candidates: list[Candidate], highest: Mapping[CellKey, float], count: int) -> list[Candidate]:
    """The candidates with cells among the best; drops all other cells."""
    best = _best_keys(candidates, highest, count)
    for candidate in candidates:
        indices = [i for i, cell in enumerate(candidate.block) if candidate.key(cell) in best]
        candidate.block = [candidate.block[i] for i in indices]
        if candidate.cells is not None:
            candidate.cells.keep(indices)
    return [candidate for candidate in candidates if candidate.block]


def _join_small(candidates: list[Candidate], inputs: int, classes: int, grid: Grid, device: str) -> list[Candidate]:
    """The same cells in fewer blocks: small neighbours that read the same features, up to `JOINED_MB`."""
    sizes = [WEIGHT_BYTES * count_weights(candidate.block, inputs, classes) for candidate in candidates]
    limit = (grid.block_mb or JOINED_MB) << 20 if device == "cpu" else 0
    joined, last = list[Candidate](), 0
    for candidate, size in zip(candidates, sizes, strict=True):
        if joined and joined[-1].train is candidate.train and last + size <= limit:
            joined[-1].block = joined[-1].block + candidate.block
            if candidate.cells is not None and joined[-1].cells is not None:
                joined[-1].cells.join(candidate.cells)
            last += size
        else:
            joined.append(candidate)
            last = size
    return joined


def _train_passes(cells: Cells, train: Data, stage: Stage) -> Iterator[None]:
    """Train over each pass, batch by batch; yields after each."""
    rate = stage.rate
    for rows in stage.orders:
        for x, y in train.batches(rows, stage.batch):
            cells.step(x, y, rate)
            rate -= stage.decay
        yield


def _dev_accuracies(cells: Cells, candidate: Candidate) -> list[tuple[CellKey, float]]:
    accuracies = cells.accuracy(*candidate.dev)
    return [(candidate.key(cell), accuracy) for cell, accuracy in zip(cells.cells, accuracies, strict=True)]


def _fitted_cells(cells: Cells, candidate: Candidate, highest: dict[CellKey, float]) -> list[Fitted]:
    """Every cell with its weights, for the original features, and its dev accuracy, which becomes the `highest`."""
    fitted = []
    for position, (key, accuracy) in enumerate(_dev_accuracies(cells, candidate)):
        highest[key] = accuracy
        weight, *rest = cells.snapshot(position)
        if candidate.whitening is not None:
            weight = weight @ candidate.whitening.t()
        fitted.append(Fitted(*key[0], accuracy, [weight, *rest]))
    return fitted
