"""The cheap protocol for curves: all cells start, those behind on dev leave, the last ones train to their end.

Successive halving (Jamieson and Talwalkar 2016) with dev accuracy as the score. Logistic regression runs twice, in the
features as they are and in rounder ones: Adam alone is slow where features go together.
"""

from math import ceil
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from probes.classifiers.blocks import blocks, on_all_cores
from probes.classifiers.cells import Cell, Cells
from probes.classifiers.grid import Fitted, Grid, Tensors
from probes.classifiers.optimum import spread


class Entrant(NamedTuple):
    """Cells and the sentences as they see them."""

    cells: Cells
    train: Tensors
    dev: Tensors
    axes: Tensor | None = None  # (D, D), by which the vectors were multiplied


class Heat(NamedTuple):
    """A part of the race."""

    share: float  # of the cells of the grid that run in it, the best on dev so far
    passes: int
    rate: float  # of Adam; in the last heat it falls to 0


class Race(NamedTuple):
    """What cells of one kind run."""

    heats: tuple[Heat, ...]
    steps: int  # in a pass at least; few sentences are passed over several times


MLP = Race((Heat(1, 1, 5e-3), Heat(1 / 4, 3, 5e-3), Heat(1 / 12, 8, 3e-3)), 16)
LOGISTIC = Race((Heat(1, 1, 5e-3), Heat(1 / 8, 6, 4e-3)), 64)
FLOOR = 0.3  # of the mean variance: directions far below it are noise as often as not, and stay small
BATCH = (64, 512)  # sentences, at least and at most

Key = tuple[Cell, bool]  # and whether the features were made rounder
Best = dict[Key, Fitted]


def raced(train: Tensors, dev: Tensors, classes: int, grid: Grid, seed: int, device: str) -> Fitted:
    """The cell with the best dev accuracy after any pass; the first of the grid wins a tie."""
    entrants = _entrants(train, dev, classes, grid, seed, device)
    entered = sum(len(entrant.cells) for entrant in entrants)
    order = np.random.default_rng(seed)
    heats, least = LOGISTIC if grid.is_logistic else MLP
    batch = int(np.clip(len(train.y) // least, *BATCH))
    repeats = max(1, ceil(least * batch / len(train.y)))
    best: Best = {}
    for heat in heats:
        entrants = _qualified(entrants, best, ceil(entered * heat.share))
        drawn = [np.concatenate([order.permutation(len(train.y)) for _ in range(repeats)]) for _ in range(heat.passes)]
        orders = [torch.from_numpy(rows).to(train.y.device) for rows in drawn]
        steps = sum(ceil(len(rows) / batch) for rows in orders)
        fall = heat.rate / steps if heat is heats[-1] else 0.0

        def work(entrant: Entrant, orders: list[Tensor] = orders, rate: float = heat.rate, fall: float = fall) -> Best:
            return _run(entrant, [rows.split(batch) for rows in orders], rate, fall)

        for part in on_all_cores(work, entrants, device):
            for key, fitted in part.items():
                if key not in best or fitted.dev_accuracy > best[key].dev_accuracy:
                    best[key] = fitted
    winner = max(best.values(), key=lambda cell: cell.dev_accuracy)
    return winner._replace(dev_accuracy=round(winner.dev_accuracy, 2))


def _entrants(train: Tensors, dev: Tensors, classes: int, grid: Grid, seed: int, device: str) -> list[Entrant]:
    inputs = train.x.shape[1]

    def cells() -> list[Cells]:
        return [Cells(inputs, classes, block, seed, device) for block in blocks(inputs, classes, grid, device)]

    found = [Entrant(some, train, dev) for some in cells()]
    if grid.is_logistic:
        variances, axes = spread(train.x)
        axes = axes / (variances + FLOOR * variances.mean()).sqrt()
        seen = Tensors(train.x @ axes, train.y), Tensors(dev.x @ axes, dev.y)
        found += [Entrant(some, *seen, axes) for some in cells()]
    return found


def _qualified(entrants: list[Entrant], best: Best, places: int) -> list[Entrant]:
    """Those with cells among the best; the others leave."""
    if not best:
        return entrants
    ahead = set(sorted(best, key=lambda key: -best[key].dev_accuracy)[:places])
    for entrant in entrants:
        rounder = entrant.axes is not None
        entrant.cells.keep([i for i, cell in enumerate(entrant.cells.cells) if (cell, rounder) in ahead])
    return [entrant for entrant in entrants if len(entrant.cells)]


def _run(entrant: Entrant, passes: list[tuple[Tensor, ...]], rate: float, fall: float) -> Best:
    """Train over each pass, batch by batch; every cell at its best on dev."""
    cells, best = entrant.cells, Best()
    for batches in passes:
        for rows in batches:
            cells.step(*entrant.train.batch(rows), rate)
            rate -= fall
        for position, (cell, accuracy) in enumerate(zip(cells.cells, cells.accuracy(*entrant.dev), strict=True)):
            key = cell, entrant.axes is not None
            if key not in best or accuracy > best[key].dev_accuracy:
                weight, *rest = cells.snapshot(position)
                if entrant.axes is not None:
                    weight = weight @ entrant.axes.t()  # for the vectors as they came
                best[key] = Fitted(*cell, accuracy, [weight, *rest])
    return best
