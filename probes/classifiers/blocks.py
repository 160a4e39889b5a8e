"""Splits a grid into blocks of cells, and trains the blocks in parallel on the cores of the machine.

Cells are independent, so blocks can be trained in any order. The weights and Adam moments of a block fit into the
processor cache, and a block uses one core, without synchronisation. With batches of 64 this is several times faster
than one product of all cells on all cores. A GPU trains all cells in one block, because starting a kernel is slow.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import ceil
from typing import TypeVar

import torch

from common.matmul import fast_exact_matmul
from probes.classifiers.cells import Cell
from probes.classifiers.grid import Grid

BLOCK_MB = 32  # larger blocks do not fit the cache; smaller ones have too much overhead per product
BLOCKS = 2  # minimum number of blocks of a grid
WEIGHT_BYTES = 16  # a weight, its gradient and two moments

Job = TypeVar("Job")
Result = TypeVar("Result")


def blocks(inputs: int, classes: int, grid: Grid, device: str) -> list[list[Cell]]:
    """Split the cells of a grid, in order, into blocks. On a GPU: one block, unless `grid.block_mb` is given.

    Otherwise the cells of a block share width and dropout, and there are at least two blocks. A block needs at most
    `grid.block_mb`, unless one cell needs more. Blocks do not depend on the number of cores, so results do not either.
    """
    megabytes = grid.block_mb or (BLOCK_MB if device == "cpu" else None)
    settings = [[Cell(width, dropout, l2) for l2 in grid.l2] for width, dropout in grid.settings()]
    if not megabytes:
        return [[cell for cells in settings for cell in cells]]
    found = []
    for cells in settings:
        width = cells[0].width
        weights = width * (inputs + classes) or inputs * classes
        fit = max(1, (megabytes << 20) // (WEIGHT_BYTES * weights))
        size = ceil(len(cells) / max(ceil(len(cells) / fit), ceil(BLOCKS / len(settings))))
        found += [cells[first : first + size] for first in range(0, len(cells), size)]
    return found


def on_all_cores(work: Callable[[Job], Result], jobs: Sequence[Job], device: str = "cpu") -> list[Result]:
    """The results of `work`, in order. Jobs start from the end of the list, because the last cells are the widest."""
    if device != "cpu":
        return [work(job) for job in jobs]
    with fast_exact_matmul(), _one_core_each() as cores, ThreadPoolExecutor(cores) as pool:
        return list(pool.map(work, reversed(jobs)))[::-1]


@contextmanager
def _one_core_each() -> Iterator[int]:
    cores = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield cores
    finally:
        torch.set_num_threads(cores)
