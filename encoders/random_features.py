"""Encoders that learn nothing: random references for trained ones (Wieting and Kiela 2019).

Their weights are drawn once and stay: a trained encoder that is not above them owes its scores to its word vectors.
"""

from math import sqrt
from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn

from encoder_lab.errors import InputError
from encoder_lab.settings.types import AboveZero, Width
from encoders.encoder import Encoded, Encoder
from encoders.pooling import MAX, valid
from encoders.recurrent import both_directions, mirror_steps


class BOREP(Encoder):
    """A bag of random embedding projections: each word vector times one random matrix, then the maximum over words."""

    projection: Tensor  # (E, D), uniform in +-1 / sqrt(E) (section 3.1.1)

    def __init__(self, input_dim: int, dim: Annotated[Width, "sentence vector (section 4)"] = 4096) -> None:
        super().__init__()
        self.dim = self.state_dim = dim
        largest = 1 / sqrt(input_dim)
        self.register_buffer("projection", torch.empty(input_dim, dim).uniform_(-largest, largest))

    def forward(self, embedded: Tensor, lengths: Tensor) -> Encoded:
        states = embedded @ self.projection
        return Encoded(MAX.padded(states, lengths), states * valid(lengths, states.shape[1])[:, :, None])


class EchoState(Encoder):
    """A bidirectional echo state network, the maximum over its states (section 3.1.3).

    h(t) = tanh(W x(t) + b + V h(t - 1)), with sparse V.
    """

    def __init__(
        self,
        input_dim: int,
        dim: Annotated[Width, "sentence vector; each direction has half of it (section 4)"] = 4096,
        radius: Annotated[AboveZero, "spectral radius of the recurrent weights"] = 0.8,
        density: Annotated[float, Field(gt=0, le=1, title="above 0, at most 1", description="part not 0")] = 0.5,
        scale: Annotated[AboveZero, "input weights are uniform in -scale to scale"] = 0.1,
    ) -> None:
        super().__init__()
        if dim < 2 or dim % 2:
            raise InputError(f"encoder.dim={dim}: each direction has half of it, so it must be even")
        self.dim = self.state_dim = dim
        # circular law: a matrix of n^2 numbers of variance s^2 has the spectral radius s sqrt(n)
        largest = radius * sqrt(3 / (density * (dim // 2)))
        self.directions = nn.ModuleList(nn.RNN(input_dim, dim // 2).requires_grad_(False) for _ in range(2))
        for layer in self.directions:
            for name in ("weight_ih_l0", "bias_ih_l0"):
                nn.init.uniform_(layer.get_parameter(name), -scale, scale)
            nn.init.zeros_(layer.get_parameter("bias_hh_l0"))
            sparse = torch.rand(dim // 2, dim // 2) < density
            nn.init.uniform_(layer.get_parameter("weight_hh_l0"), -largest, largest).mul_(sparse)

    def forward(self, embedded: Tensor, lengths: Tensor) -> Encoded:
        mirror = mirror_steps(lengths, embedded.shape[1])
        forward, backward = self.directions
        states = both_directions(forward, backward, embedded.transpose(0, 1), mirror).transpose(0, 1)  # (B, T, D)
        return Encoded(MAX.padded(states, lengths), states * valid(lengths, states.shape[1])[:, :, None])
