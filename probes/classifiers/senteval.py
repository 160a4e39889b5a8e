"""The published protocol: the classifier of SentEval (facebookresearch/SentEval @5d6dc11), for each cell."""

import numpy as np
import torch
from torch import Tensor

from probes.classifiers.blocks import MIN_BLOCKS, map_on_cores, max_parallel_blocks, split_into_blocks
from probes.classifiers.cells import Cell, Cells
from probes.classifiers.examples import Data, Fitted, best_on_dev, complexity
from probes.classifiers.grid import Grid

ACCURACY_DIGITS = 2  # of an accuracy in percent, as the toolkit compares them


def best_senteval_cell(train: Data, dev: Data, classes: int, grid: Grid, seed: int, device: str) -> Fitted:
    """The cell with the best dev accuracy, rounded to 2 decimals; the first of the grid wins a tie."""
    fitted = train_grid(train, dev, classes, grid, seed, device)
    best = best_on_dev(fitted, ACCURACY_DIGITS)
    points = [point for cell in fitted for point in cell.points]
    return best._replace(dev_accuracy=round(best.dev_accuracy, ACCURACY_DIGITS), points=points)


def train_grid(train: Data, dev: Data, classes: int, grid: Grid, seed: int, device: str) -> list[Fitted]:
    """All cells of the grid, in order, each at its best on dev; only the best of a block has its weights."""
    formed = not isinstance(train.x, Tensor)
    # features that each block forms take longer than logistic regression itself
    jobs = split_into_blocks(train.x.shape[1], classes, grid, device, min_blocks=1 if formed else MIN_BLOCKS)

    def train_block(block: list[Cell]) -> list[Fitted]:  # creates its own cells, so that few are in memory at once
        cells = Cells(train.x.shape[1], classes, block, seed, device, grid.optimiser)
        trained = train_with_early_stopping(cells, train, dev, grid, seed)
        fitted = [cell._replace(points=[(complexity(cell.parameters), cell.dev_accuracy)]) for cell in trained]
        best = best_on_dev(fitted, ACCURACY_DIGITS)
        return [cell if cell is best else cell._replace(parameters=[]) for cell in fitted]

    limit = 1 if formed and len(jobs) == 1 else max_parallel_blocks(jobs, train.x.shape[1], classes, grid)
    results = map_on_cores(train_block, jobs, device, limit)
    return [cell for block in results for cell in block]


def train_with_early_stopping(cells: Cells, train: Data, dev: Data, grid: Grid, seed: int) -> list[Fitted]:
    """All cells, each at its best on dev; each result equals that of the toolkit for this cell alone.

    A cell stops when more than `tenacity` evaluations brought no improvement. The count is over all evaluations and is
    never reset; a tie is no improvement. `max_passes` is checked before a block of passes, so a block may exceed it.
    """
    order = np.random.RandomState(seed)  # the generator that the toolkit uses
    best: dict[Cell, Fitted] = {}
    failures = dict.fromkeys(cells.cells, 0)
    passes = 0
    while len(cells) and passes <= grid.max_passes:
        for _ in range(grid.block):
            for x, y in train.batches(torch.from_numpy(order.permutation(len(train.y))).to(train.y.device), grid.batch):
                cells.step(x, y, scale=1.0 if grid.reduction == "sum" else None)
        passes += grid.block
        running = []
        for position, (cell, accuracy) in enumerate(zip(cells.cells, cells.accuracy(*dev), strict=True)):
            if cell not in best or accuracy > best[cell].dev_accuracy:
                parameters = cells.snapshot(position, best[cell].parameters if cell in best else None)
                best[cell] = Fitted(*cell, accuracy, parameters)
            else:
                failures[cell] += 1
            if failures[cell] <= grid.tenacity:
                running.append(position)
        if len(running) < len(cells):
            cells.keep(running)
    return list(best.values())
