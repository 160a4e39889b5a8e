"""Features that are sums of an item's vectors: a linear classifier reads the vectors, and the features are not formed.

The weight of feature p for the text k is `sums[p][k]`, so W @ features = (sums' W) @ vectors. With few classes the
weights are smaller than a batch of features.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce

import torch
from torch import Tensor

from probes.vectors import Features, Streamed


@dataclass(frozen=True)
class Sums:
    """k columns (n, D) to P sums of them side by side, (n, PD)."""

    sums: tuple[tuple[int, ...], ...]  # P rows of k factors

    def __call__(self, columns: Sequence[Tensor]) -> Tensor:
        return torch.cat([_sum(columns, factors) for factors in self.sums], 1)


def _sum(columns: Sequence[Tensor], factors: Sequence[int]) -> Tensor:
    parts = [column if by == 1 else by * column for column, by in zip(columns, factors, strict=True) if by]
    return reduce(torch.add, parts)


class SideBySide(Streamed):
    """The k vectors of each item side by side, (N, kD).

    What was read is overwritten at the next reading: memory that is new at each batch costs more than the products.
    """

    def __init__(self, features: Streamed) -> None:
        """The vectors that the features are made of; all columns are rows of one matrix."""
        super().__init__(features.columns, partial(torch.cat, dim=1), str(features.device))
        self.matrix = features.columns[0].matrix
        self.rows = torch.stack([column.rows for column in features.columns], 1)  # (N, k)
        self._buffer = torch.empty(0, self.matrix.shape[1])

    def index_select(self, dim: int, items: Tensor) -> Tensor:
        """The vectors (B, kD) of some items, `items (B,)`."""
        rows = self.rows[items.cpu()].flatten()
        if len(self._buffer) < len(rows):
            self._buffer = torch.empty(len(rows), self.matrix.shape[1])
        read = torch.index_select(self.matrix, 0, rows, out=self._buffer[: len(rows)])
        return read.view(len(items), self.shape[1]).to(self.device)


def vectors_of_sums(x: Features) -> tuple[SideBySide, Tensor | None] | None:
    """What to read instead of streamed features (N, PD): the vectors (N, kD), and the factors (P, k) unless they are 1.

    None where the features are no such sums, or are more than these.
    """
    if not isinstance(x, Streamed) or not isinstance(x.make, Sums) or x.axes is not None or x.shift is not None:
        return None
    matrix = x.columns[0].matrix
    if any(column.lengths is not None or column.matrix is not matrix for column in x.columns):
        return None
    factors = torch.tensor(x.make.sums, dtype=matrix.dtype, device=x.device)
    same = factors.shape[0] == factors.shape[1] and torch.equal(factors, torch.eye(len(factors), device=x.device))
    return SideBySide(x), None if same else factors
