"""Pooling: one state per word to one vector per sentence; padding has no effect.

Each way is written twice: for padded states (B, T, H) and for packed ones (N, H) (`encoders/packed.py`).
"""

from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from encoders.packed import Packing


def valid(lengths: Tensor, steps: int) -> Tensor:
    """The mask of words, (B, T) bool; T is `steps`."""
    return torch.arange(steps, device=lengths.device) < lengths[:, None]


def max_pool(states: Tensor, lengths: Tensor) -> Tensor:
    """The largest value of each dimension over the words: (B, T, H) to (B, H)."""
    padding = ~valid(lengths, states.shape[1])[:, :, None]
    return states.masked_fill(padding, -torch.inf).amax(1)


def mean_pool(states: Tensor, lengths: Tensor) -> Tensor:
    """The mean over the words: (B, T, H) to (B, H)."""
    words = valid(lengths, states.shape[1])[:, :, None]
    return (states * words).sum(1) / lengths[:, None]


def last_pool(states: Tensor, lengths: Tensor) -> Tensor:
    """The forward half at the last word next to the backward half at the first: (B, T, H) to (B, H)."""
    half = states.shape[2] // 2
    rows = torch.arange(lengths.shape[0], device=lengths.device)
    return torch.cat([states[rows, lengths - 1, :half], states[:, 0, half:]], 1)


def packed_max_pool(states: Tensor, packing: Packing) -> Tensor:
    """`max_pool` of packed states: (N, H) to (B, H)."""
    return _by_steps(torch.maximum, states, packing)


def packed_mean_pool(states: Tensor, packing: Packing) -> Tensor:
    """`mean_pool` of packed states: (N, H) to (B, H)."""
    sizes = torch.tensor(packing.sizes)
    lengths = (sizes > torch.arange(packing.sizes[0])[:, None]).sum(1)  # the longest first
    sums = _by_steps(torch.add, states, packing)
    return sums / _in_batch_order(lengths, packing)[:, None]


def packed_last_pool(states: Tensor, packing: Packing) -> Tensor:
    """`last_pool` of packed states: (N, H) to (B, H)."""
    first, half = slice(packing.sizes[0]), states.shape[1] // 2
    found = torch.cat([states[packing.mirror[first], :half], states[first, half:]], 1)
    return _in_batch_order(found, packing)


def _by_steps(combine: Callable[..., Tensor], states: Tensor, packing: Packing) -> Tensor:
    """The states of each sentence, combined step by step: (N, H) to (B, H)."""
    found = states[: packing.sizes[0]].clone()
    for begin, end in pairwise(accumulate(packing.sizes)):
        combine(found[: end - begin], states[begin:end], out=found[: end - begin])
    return _in_batch_order(found, packing)


def _in_batch_order(ordered: Tensor, packing: Packing) -> Tensor:
    return torch.empty_like(ordered).index_copy_(0, packing.order, ordered)


class Pool(NamedTuple):
    """A way to pool padded and packed states."""

    padded: Callable[[Tensor, Tensor], Tensor]  # states (B, T, H) and lengths (B,) to vectors (B, H)
    packed: Callable[[Tensor, Packing], Tensor]  # states (N, H) and their packing to vectors (B, H)


MAX = Pool(max_pool, packed_max_pool)
MEAN = Pool(mean_pool, packed_mean_pool)
LAST = Pool(last_pool, packed_last_pool)
