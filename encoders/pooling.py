"""Pooling: one state per word to one vector per sentence; padding has no effect.

Each way is written twice: for padded states (B, T, H) and for packed ones (2, N, H) (`encoders/packed.py`).
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


def end_pool(states: Tensor, lengths: Tensor) -> Tensor:
    """Both directions at the last word, where the backward one has read a word alone: (B, T, H) to (B, H)."""
    return states[torch.arange(lengths.shape[0], device=lengths.device), lengths - 1]


def packed_max_pool(states: Tensor, packing: Packing) -> Tensor:
    """`max_pool` of packed states: (2, N, H) to (B, 2 H)."""
    return in_batch_order(_combine_steps(torch.maximum, states, packing), packing)


def packed_mean_pool(states: Tensor, packing: Packing) -> Tensor:
    """`mean_pool` of packed states: (2, N, H) to (B, 2 H)."""
    words = torch.tensor(packing.sizes) > torch.arange(packing.sizes[0])[:, None]  # (B, T), the longest first
    return in_batch_order(_combine_steps(torch.add, states, packing) / words.sum(1)[:, None], packing)


def packed_last_pool(states: Tensor, packing: Packing) -> Tensor:
    """`last_pool` of packed states: (2, N, H) to (B, 2 H). Each direction reads last what the other one reads first."""
    return in_batch_order(states[:, packing.mirror[: packing.sizes[0]]], packing)


def packed_end_pool(states: Tensor, packing: Packing) -> Tensor:
    """`end_pool` of packed states: (2, N, H) to (B, 2 H). The backward direction reads the last word first."""
    first = packing.sizes[0]
    return in_batch_order(torch.stack([states[0, packing.mirror[:first]], states[1, :first]]), packing)


def _combine_steps(combine: Callable[..., Tensor], states: Tensor, packing: Packing) -> Tensor:
    """The states of each sentence, combined step by step: (2, N, H) to (2, B, H), the longest sentence first.

    At least in float32: a sum of a hundred numbers in bfloat16 is off by a percent.
    """
    combined = states[:, : packing.sizes[0]].to(torch.promote_types(states.dtype, torch.float32), copy=True)
    for begin, end in pairwise(accumulate(packing.sizes)):
        here = combined[:, : end - begin]
        combine(here, states[:, begin:end], out=here)
    return combined


def in_batch_order(ordered: Tensor, packing: Packing) -> Tensor:
    """Both directions (2, B, H), the longest sentence first, as vectors (B, 2 H) in the order of the batch."""
    vectors = torch.cat([ordered[0], ordered[1]], 1)
    return torch.empty_like(vectors).index_copy_(0, packing.order, vectors)


class WordPooling(NamedTuple):
    """A way to pool padded and packed states."""

    padded: Callable[[Tensor, Tensor], Tensor]  # states (B, T, H) and lengths (B,) to vectors (B, H)
    packed: Callable[[Tensor, Packing], Tensor]  # states (2, N, H) and their packing to vectors (B, 2 H)


MAX = WordPooling(max_pool, packed_max_pool)
MEAN = WordPooling(mean_pool, packed_mean_pool)
LAST = WordPooling(last_pool, packed_last_pool)
END = WordPooling(end_pool, packed_end_pool)
