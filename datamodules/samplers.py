"""Batches of similar length: little padding, each example once per epoch, an order that can be resumed."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, Sampler

from datamodules.arrays import Ragged
from datamodules.batches import PADDING, Sentences

POOL_BATCHES = 64  # sentences are sorted by length inside pools of this many batches


class LengthBatches(Sampler[np.ndarray]):
    """Index batches of one epoch: sentences of similar length together, batches in random order.

    A batch has `batch_size` sentences or, if `tokens` is given, about that many tokens, summed over all of `lengths`:
    few long sentences or many short ones. The number of batches is the same in every epoch.

    The order is a function of (seed, epoch) alone, so an interrupted run can resume: `start` skips the batches that
    are done. Memory: four bytes per sentence, plus the lengths. Each pool is sorted when its first batch is needed, so
    an epoch starts at once. With several processes a batch is `world` times as large, and each process takes every
    `world`-th sentence of it, so that their lengths are similar.
    """

    def __init__(
        self,
        lengths: Sequence[np.ndarray],
        batch_size: int,
        seed: int,
        rank: int = 0,
        world: int = 1,
        tokens: int | None = None,
    ) -> None:
        self.lengths = [to_smallest_dtype(key) for key in lengths]  # sort keys, primary key first
        self.seed, self.rank, self.world = seed, rank, world
        self.tokens = tokens
        mean = sum(map(np.sum, lengths)) / max(1, len(lengths[0]))
        self._size = world * batch_size if tokens is None else max(1, round(world * tokens / mean))  # on average
        self.epoch = 0
        self.start = 0

    def __len__(self) -> int:
        return -(-len(self.lengths[0]) // self._size)

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[np.ndarray]:
        start, self.start = self.start, 0
        random = np.random.default_rng([self.seed, self.epoch])
        shuffled = _shuffled_indices(random, len(self.lengths[0]))
        cuts: dict[int, np.ndarray] = {}  # by pool; only sorted pools
        for number in _shuffled_indices(random, len(self))[start:].tolist():
            pool_index, row = divmod(number, POOL_BATCHES)
            pool = shuffled[pool_index * POOL_BATCHES * self._size :][: POOL_BATCHES * self._size]
            if pool_index not in cuts:
                pool[:] = pool[np.lexsort([key[pool] for key in reversed(self.lengths)])]
                cuts[pool_index] = np.array([0, *self._batch_cuts(pool), len(pool)])
            batch = pool[cuts[pool_index][row] : cuts[pool_index][row + 1]].astype(np.int64)
            # repeat the sentences of a too small batch, so that each process gets one
            enough = np.resize(batch, max(len(batch), self.world))
            yield enough[self.rank :: self.world]

    def _batch_cuts(self, pool: np.ndarray) -> np.ndarray:
        """The positions at which a pool, sorted by length, is cut into batches."""
        if self.tokens is None:
            return np.arange(self._size, len(pool), self._size)
        count = -(-len(pool) // self._size)
        reached = np.cumsum(sum(key[pool].astype(np.int64) for key in self.lengths))
        indices = np.arange(count - 1)
        cuts = np.searchsorted(reached, reached[-1] * (indices + 1) / count)
        apart = np.maximum.accumulate(np.maximum(cuts, 1) - indices) + indices  # no batch is empty
        return np.minimum(apart, len(pool) - count + 1 + indices)


def to_smallest_dtype(lengths: np.ndarray) -> np.ndarray:
    """The same numbers in the smallest unsigned type that holds the largest; one byte for lengths up to 255."""
    return lengths.astype(np.min_scalar_type(lengths.max(initial=0)), copy=False)


def _shuffled_indices(random: np.random.Generator, count: int) -> np.ndarray:
    """`random.permutation(count)` in half the memory."""
    numbers = np.arange(count, dtype=np.int32 if count <= np.iinfo(np.int32).max else np.int64)
    random.shuffle(numbers)
    return numbers


class BatchDataset(Dataset):
    """A dataset of whole batches: takes an index array, returns a typed batch."""

    def __init__(self, collate: Callable[[np.ndarray], NamedTuple]) -> None:
        self.collate = collate

    def __getitem__(self, indices: np.ndarray) -> NamedTuple:  # type: ignore[override]
        return self.collate(indices)


def batch_loader(collate: Callable[[np.ndarray], NamedTuple], batches: Sampler[np.ndarray]) -> DataLoader:
    """A DataLoader of typed batches."""
    return DataLoader(
        BatchDataset(collate), batch_size=None, sampler=batches, collate_fn=None, pin_memory=torch.cuda.is_available()
    )


def pad(texts: Ragged, indices: np.ndarray) -> Sentences:
    """The sentences at `indices`, padded to the longest."""
    starts = texts.offsets[indices]
    lengths = texts.offsets[indices + 1] - starts
    steps = np.arange(lengths.max())
    mask = steps < lengths[:, None]
    ids = np.full(mask.shape, PADDING, dtype=np.int64)
    ids[mask] = texts.ids[(starts[:, None] + steps)[mask]]
    return Sentences(torch.from_numpy(ids), torch.from_numpy(lengths.astype(np.int64)))
