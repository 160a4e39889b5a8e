"""Splits a grid into blocks of cells, and trains the blocks in parallel on the cores of the machine.

Cells are independent, so blocks can be trained in any order. The weights and Adam moments of a block fit into the
processor cache, and a block uses one core, without synchronisation. With batches of 64 this is several times faster
than one product of all cells on all cores. A GPU trains all cells in one block, because starting a kernel is slow.

Half of `Grid.memory_mb` is for the classifiers: no more blocks are trained at the same time than fit into it. Where
cells are too large for the cache and fewer blocks fit than there are cores, each block uses several cores.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from math import ceil
from typing import TypeVar

import torch
from threadpoolctl import ThreadpoolController

from encoder_lab.compute.matmul import fast_exact_matmul
from probes.classifiers.cells import Cell
from probes.classifiers.grid import Grid

BLOCK_MB = 32  # larger blocks do not fit the cache; smaller ones have too much overhead per product
MIN_BLOCKS = 2  # minimum number of blocks of a grid; 1 where features are formed when a block reads them
WEIGHT_BYTES = 16  # a weight, its gradient and two moments
COPY_BYTES = 4  # of a weight at its best on dev

Job = TypeVar("Job")
Result = TypeVar("Result")


def split_into_blocks(
    inputs: int, classes: int, grid: Grid, device: str, min_blocks: int = MIN_BLOCKS
) -> list[list[Cell]]:
    """Split the cells of a grid, in order, into blocks. On a GPU: one if it fits and `grid.block_mb` is not given.

    Otherwise the cells of a block share width and dropout, and there are `least` blocks or more. A block needs at most
    `grid.block_mb`, unless one cell needs more. Blocks do not depend on the number of cores, so results do not either.
    """
    settings = [[Cell(width, dropout, l2) for l2 in grid.l2] for width, dropout in grid.settings()]
    all_cells = [cell for cells in settings for cell in cells]
    megabytes = grid.block_mb or (BLOCK_MB if device == "cpu" else None)
    if not megabytes:
        if (WEIGHT_BYTES + COPY_BYTES) * count_weights(all_cells, inputs, classes) <= grid.memory_mb << 19:
            return [all_cells]
        megabytes = grid.memory_mb // 2
    parts = []
    for cells in settings:
        fit = max(1, (megabytes << 20) // (WEIGHT_BYTES * count_weights(cells[:1], inputs, classes)))
        size = ceil(len(cells) / max(ceil(len(cells) / fit), ceil(min_blocks / len(settings))))
        parts += [cells[first : first + size] for first in range(0, len(cells), size)]
    return parts


def count_weights(cells: Sequence[Cell], inputs: int, classes: int) -> int:
    """The number of weights of cells, without biases."""
    return sum(cell.width * (inputs + classes) or inputs * classes for cell in cells)


def max_parallel_blocks(parts: Sequence[Sequence[Cell]], inputs: int, classes: int, grid: Grid) -> int | None:
    """The number of blocks that fit into memory at the same time; None: any number, each on one core."""
    largest = max(count_weights(cells, inputs, classes) for cells in parts)
    if WEIGHT_BYTES * largest <= (grid.block_mb or BLOCK_MB) << 20:
        return None
    return max(1, min(len(parts), (grid.memory_mb << 19) // ((WEIGHT_BYTES + COPY_BYTES) * largest)))


def map_on_cores(
    work: Callable[[Job], Result], jobs: Sequence[Job], device: str = "cpu", max_parallel: int | None = None
) -> list[Result]:
    """The results of `work`, in order. Jobs start from the end of the list, because the last cells are the widest.

    Each job uses one core. Where fewer jobs run (`max_parallel`) than there are cores, they share the cores.
    """
    if device != "cpu":
        return [work(job) for job in jobs]
    with fast_exact_matmul(), _share_cores(min(len(jobs), max_parallel or len(jobs))) as workers:
        if workers == 1:  # a thread of a pool has OpenMP threads of its own, next to those of this one
            return [work(job) for job in reversed(jobs)][::-1]
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(work, reversed(jobs)))[::-1]


@contextmanager
def _share_cores(max_parallel: int) -> Iterator[int]:
    cores = torch.get_num_threads()
    workers = max(1, min(cores, max_parallel))
    torch.set_num_threads(cores // workers)
    try:
        # more threads would wait for each other on busy cores
        with _threaded_libraries().limit(limits=cores // workers, user_api="blas"):
            yield workers
    finally:
        torch.set_num_threads(cores)


@cache
def _threaded_libraries() -> ThreadpoolController:
    """The libraries with threads of this process; to find them takes as long as a small classifier."""
    return ThreadpoolController()
