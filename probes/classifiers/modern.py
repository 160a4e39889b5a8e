"""The cheap protocol for curves: all cells start, those behind on dev leave, the last ones train to their end.

Successive halving (Jamieson and Talwalkar 2016) with dev accuracy as the score.
"""

from math import ceil
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from probes.classifiers.blocks import blocks, on_all_cores
from probes.classifiers.cells import Cells
from probes.classifiers.grid import Fitted, Grid, Tensors


class Heat(NamedTuple):
    """A part of the race."""

    share: float  # of the cells of the grid that run in it, the best on dev so far
    passes: int
    rate: float  # of Adam; in the last heat it falls to 0


HEATS = (Heat(1, 1, 5e-3), Heat(1 / 4, 3, 5e-3), Heat(1 / 12, 8, 3e-3))
STEPS = 16  # in a pass at least; few sentences are passed over several times
BATCH = (64, 512)  # sentences, at least and at most

Best = dict[tuple[int, float, float], Fitted]  # by width, dropout and L2


def raced(train: Tensors, dev: Tensors, classes: int, grid: Grid, seed: int, device: str) -> Fitted:
    """The cell with the best dev accuracy after any pass; the first of the grid wins a tie."""
    groups = blocks(train.x.shape[1], classes, grid, seed, device)
    entered = sum(map(len, groups))
    order = np.random.default_rng(seed)
    batch = int(np.clip(len(train.y) // STEPS, *BATCH))
    repeats = ceil(STEPS * batch / len(train.y)) if len(train.y) < STEPS * batch else 1
    best: Best = {}
    for heat in HEATS:
        groups = _qualified(groups, best, ceil(entered * heat.share))
        orders = [
            torch.from_numpy(np.concatenate([order.permutation(len(train.y)) for _ in range(repeats)]))
            for _ in range(heat.passes)
        ]
        steps = sum(ceil(len(rows) / batch) for rows in orders)
        fall = heat.rate / steps if heat is HEATS[-1] else 0.0

        def work(
            cells: Cells, orders: list[Tensor] = orders, rate: float = heat.rate, fall: float = fall
        ) -> list[Fitted]:
            return _run(cells, train, dev, [rows.split(batch) for rows in orders], rate, fall)

        for fitted in (fitted for part in on_all_cores(work, groups, device) for fitted in part):
            key = fitted.width, fitted.dropout, fitted.l2
            if key not in best or fitted.dev_accuracy > best[key].dev_accuracy:
                best[key] = fitted
    winner = max(best.values(), key=lambda cell: cell.dev_accuracy)
    return winner._replace(dev_accuracy=round(winner.dev_accuracy, 2))


def _qualified(groups: list[Cells], best: Best, places: int) -> list[Cells]:
    """Those with cells among the best; the others leave."""
    if not best:
        return groups
    ahead = set(sorted(best, key=lambda key: -best[key].dev_accuracy)[:places])
    for cells in groups:
        cells.keep([i for i, l2 in enumerate(cells.l2) if (cells.width, cells.dropout, l2) in ahead])
    return [cells for cells in groups if len(cells)]


def _run(
    cells: Cells, train: Tensors, dev: Tensors, passes: list[tuple[Tensor, ...]], rate: float, fall: float
) -> list[Fitted]:
    """Train over each pass, batch by batch; every cell at its best on dev."""
    best: dict[float, Fitted] = {}
    for batches in passes:
        for rows in batches:
            on_device = rows.to(train.y.device)
            cells.step(train.x[on_device], train.y[on_device], rate)
            rate -= fall
        for position, (l2, accuracy) in enumerate(zip(cells.l2, cells.accuracy(*dev), strict=True)):
            if l2 not in best or accuracy > best[l2].dev_accuracy:
                best[l2] = Fitted(cells.width, cells.dropout, l2, accuracy, cells.snapshot(position))
    return list(best.values())
