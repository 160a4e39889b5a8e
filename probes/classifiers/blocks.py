"""A grid in blocks of cells, and the blocks on the cores of the machine.

Cells never touch each other, so a block may be trained whenever there is a core for it. A block whose weights and
moments stay in the processor's cache is trained at the speed of the cache, and a core that works alone waits for
nobody: this is several times faster than all cells in one product over all cores, at batches of 64. A GPU, which is
slow to start and fast to end, takes them in one.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import ceil
from typing import TypeVar

import torch

from common.matmul import whole_products
from probes.classifiers.cells import Cell
from probes.classifiers.grid import Grid

BLOCK_MB = 32  # larger blocks leave the cache, smaller ones spend their time on starting small products
BLOCKS = 2  # of a grid, at least
WEIGHT_BYTES = 16  # with its gradient and two moments

Job = TypeVar("Job")
Result = TypeVar("Result")


def blocks(inputs: int, classes: int, grid: Grid, device: str) -> list[list[Cell]]:
    """The cells of a grid in its order: on a GPU in one block, unless `grid.block_mb` is given.

    Otherwise those of a block share width and dropout, and there are two blocks at least. A block takes
    `grid.block_mb` at most, unless one cell takes more. The number of cores has no say, so that no result depends on
    it.
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
    """The results of `work`, in order. Each core takes the next job from the end, where the widest cells are."""
    if device != "cpu":
        return [work(job) for job in jobs]
    with whole_products(), _one_core_each() as cores, ThreadPoolExecutor(cores) as pool:
        return list(pool.map(work, reversed(jobs)))[::-1]


@contextmanager
def _one_core_each() -> Iterator[int]:
    cores = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield cores
    finally:
        torch.set_num_threads(cores)
