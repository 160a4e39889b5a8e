"""Both directions of a recurrent layer, exact for every sentence of a padded batch.

The backward direction reads each sentence reversed within its own length:

    words     w1 w2 w3 --        reversed  w3 w2 w1 --

so padding always comes last and has no effect. No packing is needed, so the fused kernels of CPU and GPU are used.
"""

from typing import Any

import torch
from torch import Tensor, nn

from common.errors import InputError


class Bidirectional(nn.Module):
    """Stacked bidirectional layers of `kind` (nn.LSTM or nn.GRU); each direction has half of `dim` units."""

    def __init__(
        self,
        kind: type[nn.LSTM] | type[nn.GRU],
        input_dim: int,
        dim: int,
        layers: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if dim < 2 or dim % 2:
            raise InputError(f"encoder.dim={dim}: each direction has half of it, so it must be even")
        widths = [input_dim] + [dim] * (layers - 1)
        self.ahead = nn.ModuleList(kind(width, dim // 2) for width in widths)
        self.back = nn.ModuleList(kind(width, dim // 2) for width in widths)
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """States (B, T, dim) for inputs (B, T, E); zero at padding."""
        states = inputs.transpose(0, 1)  # (T, B, E), the layout of the kernels
        steps = torch.arange(states.shape[0], device=lengths.device)[:, None]
        mirror = torch.where(steps < lengths, lengths - 1 - steps, steps)[:, :, None]  # (T, B, 1)
        for layer, (ahead, back) in enumerate(zip(self.ahead, self.back, strict=True)):
            if layer:
                states = self.dropout(states)
            forward, _ = in_its_precision(ahead, states)
            backward, _ = in_its_precision(back, reverse(states, mirror))
            states = torch.cat([forward, reverse(backward, mirror)], 2)  # (T, B, dim)
        return (states * (steps < lengths)[:, :, None]).transpose(0, 1)


def in_its_precision(layer: nn.Module, inputs: Tensor, state: Any = None) -> Any:
    """The output of a recurrent layer. Under autocast it computes in float32 where bfloat16 cannot be had.

    On a GPU autocast always gives cuDNN's recurrent layers float16, which overflows for large numbers and does not mix
    with bfloat16. On a CPU without AVX-512 oneDNN has no recurrent layer in bfloat16.
    """
    device = inputs.device.type
    if device not in ("cuda", "cpu") or not torch.is_autocast_enabled(device):
        return layer(inputs, state)
    if device == "cpu" and torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return layer(inputs, state)
    wide = None if state is None else tuple(part.float() for part in state)
    with torch.autocast(device, enabled=False):
        return layer(inputs.float(), wide)


def reverse(states: Tensor, mirror: Tensor) -> Tensor:
    """States (T, B, H) with each sentence's own steps in the opposite order."""
    return states.gather(0, mirror.expand(-1, -1, states.shape[2]))
