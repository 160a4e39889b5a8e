"""The published protocol: what SentEval's classifier does (facebookresearch/SentEval @5d6dc11), cell by cell."""

import numpy as np
import torch

from probes.classifiers.blocks import blocks, on_all_cores
from probes.classifiers.cells import Cell, Cells
from probes.classifiers.grid import Fitted, Grid, Tensors


def published(train: Tensors, dev: Tensors, classes: int, grid: Grid, seed: int, device: str) -> Fitted:
    """The cell with the best dev accuracy, rounded to 2 decimals; the first of the grid wins a tie."""
    cells = train_all(train, dev, classes, grid, seed, device)
    best = max(cells, key=lambda cell: round(cell.dev_accuracy, 2))
    return best._replace(dev_accuracy=round(best.dev_accuracy, 2))


def train_all(train: Tensors, dev: Tensors, classes: int, grid: Grid, seed: int, device: str) -> list[Fitted]:
    """Every cell of the grid, in its order, at its best on dev."""
    inputs = train.x.shape[1]

    def work(block: list[Cell]) -> list[Fitted]:  # makes its cells, so that few are there at once
        return train_until_they_stop(Cells(inputs, classes, block, seed, device), train, dev, grid, seed)

    parts = on_all_cores(work, blocks(inputs, classes, grid, device), device)
    return [cell for part in parts for cell in part]


def train_until_they_stop(cells: Cells, train: Tensors, dev: Tensors, grid: Grid, seed: int) -> list[Fitted]:
    """Every cell at its best on dev, each trained and stopped as the toolkit would train and stop it alone.

    A cell stops at the first evaluation without improvement after `tenacity` such, in total: improving forgives
    nothing, a tie is no improvement. The cap is looked at before a block of passes, so the block may exceed it.
    """
    order = np.random.RandomState(seed)  # the toolkit's generator
    best: dict[Cell, Fitted] = {}
    failures = dict.fromkeys(cells.cells, 0)
    passes = 0
    while len(cells) and passes <= grid.max_passes:
        for _ in range(grid.block):
            one_pass(cells, train, order.permutation(len(train.y)), grid)
        passes += grid.block
        going = []
        for position, (cell, accuracy) in enumerate(zip(cells.cells, cells.accuracy(*dev), strict=True)):
            if cell not in best or accuracy > best[cell].dev_accuracy:
                best[cell] = Fitted(*cell, accuracy, cells.snapshot(position))
            else:
                failures[cell] += 1
            if failures[cell] <= grid.tenacity:
                going.append(position)
        if len(going) < len(cells):
            cells.keep(going)
    return list(best.values())


def one_pass(cells: Cells, train: Tensors, order: np.ndarray, grid: Grid) -> None:
    """A step on each batch in turn; the last may be smaller."""
    for rows in torch.from_numpy(order).to(train.y.device).split(grid.batch):
        cells.step(*train.batch(rows), scale=1.0 if grid.reduction == "sum" else None)
