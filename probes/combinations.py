"""Features that are sums of an item's vectors: a linear classifier reads the vectors, and the features are not formed.

The weight of feature p for the text k is `sums[p][k]`, so W @ features = (sums' W) @ vectors. With few classes the
weights are smaller than a batch of features.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import cast

import torch
from torch import Tensor

from probes.vectors import Streamed


@dataclass(frozen=True)
class Sums:
    """k columns (n, D) to P sums of them side by side, (n, PD)."""

    sums: tuple[tuple[int, ...], ...]  # P rows of k factors

    def __call__(self, columns: Sequence[Tensor]) -> Tensor:
        return torch.cat([_sum(columns, factors) for factors in self.sums], 1)


def _sum(columns: Sequence[Tensor], factors: Sequence[int]) -> Tensor:
    parts = [column if by == 1 else by * column for column, by in zip(columns, factors, strict=True) if by]
    return reduce(torch.add, parts)


class SideBySide:
    """The k vectors of each item side by side, (N, kD), gathered when they are read, in the place of a tensor.

    What was read is overwritten at the next reading: memory that is new at each batch costs more than the products.
    """

    def __init__(self, matrix: Tensor, rows: Tensor, device: torch.device) -> None:
        """`rows (N, k)` of the matrix (M, D)."""
        self.matrix, self.rows, self.device = matrix, rows, device
        self.shape = (len(rows), rows.shape[1] * matrix.shape[1])
        self._read = torch.empty(0, matrix.shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    def index_select(self, dim: int, items: Tensor) -> Tensor:
        """The vectors (B, kD) of some items, `items (B,)`."""
        rows = self.rows[items.cpu()].flatten()
        if len(self._read) < len(rows):
            self._read = torch.empty(len(rows), self.matrix.shape[1])
        found = torch.index_select(self.matrix, 0, rows, out=self._read[: len(rows)])
        return found.view(len(items), self.shape[1]).to(self.device)

    def split(self, size: int) -> Iterator[Tensor]:
        """All items in portions of `size`, in order."""
        return (self.index_select(0, part) for part in torch.arange(len(self)).split(size))


def vectors_of_sums(x: object) -> tuple[Tensor, Tensor | None] | None:
    """What to read instead of streamed features (N, PD): the vectors (N, kD), and the factors (P, k) unless they are 1.

    None where the features are no such sums, or are more than these.
    """
    if not isinstance(x, Streamed) or not isinstance(x.make, Sums) or x.axes is not None or x.shift is not None:
        return None
    matrix = x.columns[0].matrix
    if any(column.lengths is not None or column.matrix is not matrix for column in x.columns):
        return None
    rows = torch.stack([column.rows for column in x.columns], 1)
    factors = torch.tensor(x.make.sums, dtype=matrix.dtype, device=x.device)
    same = factors.shape[0] == factors.shape[1] and torch.equal(factors, torch.eye(len(factors), device=x.device))
    return cast(Tensor, SideBySide(matrix, rows, x.device)), None if same else factors
