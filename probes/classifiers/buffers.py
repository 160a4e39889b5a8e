"""What a step of `Cells` writes on some sentences, made once: to make a view costs as much as a small product.

Letters: K cells, H units in the first layers of all cells, W units in one cell, B sentences, C classes.
"""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import torch
from torch import Tensor


class Group(NamedTuple):
    """Consecutive cells that share their width, or their width and dropout."""

    width: int
    cells: slice  # among the K
    rows: slice  # among the H

    def has(self, place: int) -> bool:
        """Whether the cell at `place` is in the group."""
        return self.cells.start <= place < self.cells.stop

    def of(self, hidden: Tensor) -> Tensor:
        """The part (K, W, B) of `hidden (H, B)` of the group."""
        return hidden[self.rows].view(-1, self.width, hidden.shape[1])


class SecondLayers(NamedTuple):
    """Those of one width."""

    hidden: Tensor  # (K, W, B)
    transposed: Tensor  # (K, B, W), the same
    grad_hidden: Tensor  # (K, W, B), their gradient
    scores: Tensor  # (K, C, B)
    grad_scores: Tensor  # (K, C, B), their gradient


class Dropout(NamedTuple):
    """Of cells that share width and dropout."""

    hidden: Tensor  # (K, W, B)
    grad_hidden: Tensor  # (K, W, B), their gradient
    mask: Tensor  # (W, B), what multiplies both
    words: Tensor  # (B * W / 4,) int64, random
    bits: Tensor  # (W, B) int16, the same


class Buffers(NamedTuple):
    """What a step on B sentences writes."""

    hidden: Tensor  # (H, B)
    grad_hidden: Tensor  # (H, B), its gradient
    scores: Tensor  # (K, C, B)
    grad_scores: Tensor  # (K, C, B), their gradient
    ones: Tensor  # (K, 1, B), each -1
    second: list[SecondLayers]  # by width
    dropped: list[Dropout]  # by width and dropout


def buffers_for(
    like: Tensor, shape: tuple[int, int, int], widths: Sequence[Group], dropped: Sequence[Group]
) -> Buffers:
    """Buffers of a step. `like (H, D)`: the weights of the first layers; `shape`: K, C and B.

    Without second layers the first layers' outputs are the scores.
    """
    hidden = like.new_empty(len(like), shape[2])
    scores = like.new_empty(shape) if widths else hidden.view(shape)
    grad_scores = torch.empty_like(scores)
    grad_hidden = torch.empty_like(hidden) if widths else grad_scores.flatten(0, 1)
    second = [
        SecondLayers(
            part := group.of(hidden), part.mT, group.of(grad_hidden), scores[group.cells], grad_scores[group.cells]
        )
        for group in widths
    ]
    ones = like.new_full((shape[0], 1, shape[2]), -1.0)
    return Buffers(
        hidden,
        grad_hidden,
        scores,
        grad_scores,
        ones,
        second,
        [_dropout(hidden, grad_hidden, group) for group in dropped],
    )


def _dropout(hidden: Tensor, grad_hidden: Tensor, group: Group) -> Dropout:
    mask = hidden.new_empty(group.width, hidden.shape[1])
    words = hidden.new_empty(ceil(mask.numel() / 4), dtype=torch.long)
    bits = words.view(torch.int16)[: mask.numel()].view(mask.shape)
    return Dropout(group.of(hidden), group.of(grad_hidden), mask, words, bits)
