"""Attention of a decoder over the words of the source sentence (Luong et al. 2015, sections 3.1 and 3.3)."""

from typing import NamedTuple

import torch
from torch import Tensor, nn


class Memory(NamedTuple):
    """The word states that a decoder attends over."""

    states: Tensor  # (B, T, H)
    lengths: Tensor  # (B,)


class Attention(nn.Module):
    """Global attention with the bilinear score, after the recurrence, so that all steps are one product.

    a = softmax(q W m)    c = sum a m    out = tanh(V [c; q])
    """

    def __init__(self, query_dim: int, memory_dim: int) -> None:
        super().__init__()
        self.score = nn.Linear(query_dim, memory_dim, bias=False)
        self.combine = nn.Linear(memory_dim + query_dim, query_dim, bias=False)

    def forward(self, queries: Tensor, memory: Memory) -> Tensor:
        """Attended queries (B, U, Q) for queries (B, U, Q); padding gets no weight."""
        states, lengths = memory
        scores = self.score(queries) @ states.transpose(1, 2)  # (B, U, T)
        padding = torch.arange(states.shape[1], device=states.device) >= lengths[:, None]
        weights = scores.masked_fill(padding[:, None], -torch.inf).softmax(2)
        return torch.tanh(self.combine(torch.cat([weights @ states, queries], 2)))
