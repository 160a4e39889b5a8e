"""Encoders that learn nothing: random references for trained ones (Wieting and Kiela 2019).

Their weights are drawn once and stay: a trained encoder that is not above them owes its scores to its word vectors.
"""

from math import sqrt
from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor

from encoder_lab.errors import InputError
from encoder_lab.settings.types import AboveZero, Width
from encoders.encoder import Encoded, Encoder
from encoders.pooling import MAX, valid
from encoders.recurrent import reverse


class BOREP(Encoder):
    """A bag of random embedding projections: each word vector times one random matrix, then the maximum over words."""

    projection: Tensor  # (E, D), uniform in +-1 / sqrt(E) (section 3.1.1)

    def __init__(self, input_dim: int, dim: Annotated[Width, "sentence vector (section 4)"] = 4096) -> None:
        super().__init__()
        self.dim = self.state_dim = dim
        self.register_buffer("projection", _uniform(1 / sqrt(input_dim), input_dim, dim))

    def forward(self, embedded: Tensor, lengths: Tensor) -> Encoded:
        states = embedded @ self.projection
        return Encoded(MAX.padded(states, lengths), states * valid(lengths, states.shape[1])[:, :, None])


class EchoState(Encoder):
    """A bidirectional echo state network, the maximum over its states (section 3.1.3).

    h(t) = (1 - leak) h(t - 1) + leak tanh(W x(t) + b + V h(t - 1)), with sparse V.
    """

    inward: Tensor  # (2, E, D / 2), for each direction
    bias: Tensor  # (2, D / 2)
    recurrent: Tensor  # (2, D / 2, D / 2)

    def __init__(
        self,
        input_dim: int,
        dim: Annotated[Width, "sentence vector; each direction has half of it (section 4)"] = 4096,
        radius: Annotated[AboveZero, "spectral radius of the recurrent weights"] = 0.8,
        density: Annotated[
            float, Field(gt=0, le=1, title="above 0, at most 1", description="part of them that are not 0")
        ] = 0.5,
        scale: Annotated[AboveZero, "input weights are uniform in -scale to scale"] = 0.1,
        leak: Annotated[
            float, Field(gt=0, le=1, title="above 0, at most 1", description="1: nothing of the last state stays")
        ] = 1.0,
    ) -> None:
        super().__init__()
        if dim < 2 or dim % 2:
            raise InputError(f"encoder.dim={dim}: each direction has half of it, so it must be even")
        self.dim = self.state_dim = dim
        self.leak = leak
        self.register_buffer("inward", _uniform(scale, 2, input_dim, dim // 2))
        self.register_buffer("bias", _uniform(scale, 2, 1, dim // 2))
        # circular law: a matrix of n^2 numbers of variance s^2 has the spectral radius s sqrt(n)
        largest = radius * sqrt(3 / (density * (dim // 2)))
        sparse = torch.rand(2, dim // 2, dim // 2) < density
        self.register_buffer("recurrent", _uniform(largest, 2, dim // 2, dim // 2) * sparse)

    def forward(self, embedded: Tensor, lengths: Tensor) -> Encoded:
        words = embedded.transpose(0, 1)  # (T, B, E)
        steps = torch.arange(len(words), device=lengths.device)[:, None]
        mirror = torch.where(steps < lengths, lengths - 1 - steps, steps)[:, :, None]  # padding stays last
        forward, backward = (self._states(inputs, i) for i, inputs in enumerate((words, reverse(words, mirror))))
        states = torch.cat([forward, reverse(backward, mirror)], 2).transpose(0, 1)
        return Encoded(MAX.padded(states, lengths), states * valid(lengths, len(words))[:, :, None])

    def _states(self, words: Tensor, direction: int) -> Tensor:
        """The states (T, B, D / 2) of a direction."""
        inputs, recurrent = words @ self.inward[direction] + self.bias[direction], self.recurrent[direction]
        state = torch.zeros_like(inputs[0])
        states = []
        for step in inputs:
            state = state + self.leak * (torch.tanh(step + state @ recurrent) - state)
            states.append(state)
        return torch.stack(states)


def _uniform(largest: float, *shape: int) -> Tensor:
    return torch.empty(*shape).uniform_(-largest, largest)
