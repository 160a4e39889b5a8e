"""Pooling: one state per word to one vector per sentence; padding has no effect."""

import torch
from torch import Tensor


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
