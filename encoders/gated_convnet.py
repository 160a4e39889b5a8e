"""Gated ConvNet (Conneau et al. 2018, section 3.1; blocks of Gehring et al. 2017).

x -> + position -> [ mask -> conv 3 -> (a, b) -> a * sigmoid(b) -> + x ] x 8 -> max over words
"""

import math
from typing import Annotated, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from encoder_lab.errors import InputError
from encoder_lab.settings.types import Depth, Fraction, Width
from encoders.encoder import Encoded, Encoder
from encoders.pooling import max_pool, valid

POSITION_SCALE = 0.1  # smaller than word vectors; the standard deviation of embeddings in Gehring et al. 2017
RESIDUAL_SCALE = math.sqrt(0.5)  # scales the sum of two unit-variance terms (Gehring et al. 2017, section 3.5)


class GatedConvNet(Encoder):
    """Stacked gated convolutions over projected word vectors with positions, max-pooled over the words.

    The defaults are 8 x (512 -> 1024, kernel 3): 12.6M weights in the convolutions and 0.2M in the projection. The
    paper has "8 convolutional layers of 512 hidden units, kernel size 3 (~12M parameters)". Padding is zeroed before
    each convolution, so that it equals the zero padding at the ends of the sentence.
    """

    def __init__(
        self,
        input_dim: int,
        dim: Annotated[Width, 'channels, "input embedding size" and sentence vector (Conneau et al. 2018, 3.3)'] = 512,
        layers: Annotated[Depth, "convolutions (section 3.3)"] = 8,
        kernel: Annotated[Depth, "words seen by one convolution; odd (section 3.3)"] = 3,
        dropout: Annotated[Fraction, "on the input of every convolution (0.1 in Gehring et al. 2017)"] = 0.1,
        positions: Annotated[
            Literal["sinusoidal", "sukhbaatar"],
            "added to the words (Vaswani et al. 2017), or factors of them (Sukhbaatar et al. 2015, as cited)",
        ] = "sinusoidal",
    ) -> None:
        super().__init__()
        if kernel % 2 == 0:
            raise InputError(f"encoder.kernel={kernel}: give an odd number, so that the window is centred on a word")
        self.dim = self.state_dim = dim
        self.positions = positions
        self.projection = nn.Linear(input_dim, dim)
        self.dropout = nn.Dropout(dropout)
        self.kernel = kernel
        self.convolutions = nn.ModuleList(_gated_convolution(dim, kernel) for _ in range(layers))

    def forward(self, embedded: Tensor, lengths: Tensor) -> Encoded:
        words = valid(lengths, embedded.shape[1])[:, :, None]  # (B, T, 1)
        projected = self.projection(embedded)
        if self.positions == "sukhbaatar":
            placed = projected * position_factors(lengths, embedded.shape[1], self.dim).to(projected.dtype)
        else:
            encodings = POSITION_SCALE * sinusoidal_positions(embedded.shape[1], self.dim, embedded.device)
            placed = projected + encodings.to(projected.dtype)
        states = self.dropout(placed) * words  # (B, T, D)
        for convolution in self.convolutions:
            gated = functional.glu(convolution(self._windows(self.dropout(states))), 2)
            states = (states + gated) * RESIDUAL_SCALE * words
        return Encoded(max_pool(states, lengths), states)

    def _windows(self, states: Tensor) -> Tensor:
        """Each word with its neighbours: (B, T, D) to (B, T, D * kernel). A convolution is then one matrix product."""
        border = self.kernel // 2
        return functional.pad(states, (0, 0, border, border)).unfold(1, self.kernel, 1).flatten(2)


def _gated_convolution(dim: int, kernel: int) -> nn.Linear:
    """A convolution to values and gates; initialised to keep the variance (Gehring et al. 2017, section 3.5).

    There the standard deviation also has the root of 1 - dropout; without it an untrained encoder is the same with any.
    """
    convolution = nn.Linear(dim * kernel, 2 * dim)
    nn.init.normal_(convolution.weight, std=math.sqrt(4 / (kernel * dim)))
    nn.init.zeros_(convolution.bias)
    return convolution


def position_factors(lengths: Tensor, steps: int, dim: int) -> Tensor:
    """Position encodings (B, T, D) that multiply word vectors (Sukhbaatar et al. 2015, section 4.1).

    (1 - j/J) - (k/d) (1 - 2j/J) for word j of J and dimension k of d, both from 1.
    """
    word = torch.arange(1, steps + 1, device=lengths.device)[None, :, None] / lengths[:, None, None]
    share = torch.arange(1, dim + 1, device=lengths.device) / dim
    return (1 - word) - share * (1 - 2 * word)


def sinusoidal_positions(steps: int, dim: int, device: torch.device) -> Tensor:
    """Sinusoidal positional encodings (T, D) (Vaswani et al. 2017, section 3.5): no length limit, no weights."""
    step = torch.arange(steps, device=device, dtype=torch.float32)[:, None]
    rate = torch.exp(torch.arange(0, dim, 2, device=device) * (-math.log(10_000.0) / dim))
    return torch.stack([torch.sin(step * rate), torch.cos(step * rate)], 2).flatten(1)[:, :dim]
