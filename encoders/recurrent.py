"""Both directions of a recurrent layer, exact for every sentence of a padded batch.

The backward direction reads each sentence reversed within its own length:

    words     w1 w2 w3 --        reversed  w3 w2 w1 --

so padding always comes last and has no effect. No packing is needed, so the fused kernels of CPU and GPU are used.

On a CPU without gradients a layer reads packed words instead, unless the sentences are few (`encoders/packed.py`).
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn

from encoder_lab.errors import InputError
from encoders.packed import MAX_TABLE_BYTES, Packing, concat_directions, packed_reader
from encoders.pooling import WordPooling, valid

MIN_PACKED = 8  # sentences; the kernels for padded ones are faster for fewer


class Bidirectional(nn.Module):
    """Stacked bidirectional layers (nn.LSTM or nn.GRU); each direction has half of `dim` units."""

    def __init__(
        self, layer: type[nn.LSTM] | type[nn.GRU], input_dim: int, dim: int, layers: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        if dim < 2 or dim % 2:
            raise InputError(f"encoder.dim={dim}: each direction has half of it, so it must be even")
        widths = [input_dim] + [dim] * (layers - 1)
        self.forward_layers = nn.ModuleList(layer(width, dim // 2) for width in widths)
        self.backward_layers = nn.ModuleList(layer(width, dim // 2) for width in widths)
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """States (B, T, dim) for inputs (B, T, E); zero at padding."""
        if reads_packed(lengths):
            ids = torch.arange(inputs[..., 0].numel()).view(inputs.shape[:2])
            read = self._packed_reader(inputs.flatten(0, 1), 0)  # no two words are known to be the same
            states, packing = read(ids, lengths)
            padded = states.new_zeros(ids.numel(), 2 * states.shape[2])
            padded[packing.padded_index] = concat_directions(states, packing)
            return padded.view(*ids.shape, -1)
        states = inputs.transpose(0, 1)  # (T, B, E), the layout of the kernels
        mirror = mirror_steps(lengths, states.shape[0])
        for level, (forward, backward) in enumerate(zip(self.forward_layers, self.backward_layers, strict=True)):
            states = both_directions(forward, backward, self.dropout(states) if level else states, mirror)
        return (states * valid(lengths, states.shape[0]).t()[:, :, None]).transpose(0, 1)

    def pooled_reader(self, words: Tensor, pool: WordPooling) -> Callable[[Tensor, Tensor], Tensor]:
        """The function from ids (B, T), which are rows of words (U, E), and lengths (B,) to pooled states (B, dim)."""
        packed = cache(partial(self._packed_reader, words, MAX_TABLE_BYTES))  # for all batches, once one needs it

        def vectors(ids: Tensor, lengths: Tensor) -> Tensor:
            if reads_packed(lengths):
                return pool.packed(*packed()(ids, lengths))
            return pool.padded(self(words[ids], lengths), lengths)

        return vectors

    def _packed_reader(self, words: Tensor, table: int) -> Callable[[Tensor, Tensor], tuple[Tensor, Packing]]:
        dtype = products_dtype(self.forward_layers[0].get_parameter("weight_hh_l0").dtype)
        with torch.autocast("cpu", enabled=False):
            read = packed_reader(
                list(zip(self.forward_layers, self.backward_layers, strict=True)), self.dropout, dtype, words, table
            )
        return torch.autocast("cpu", enabled=False)(read)


def reads_packed(lengths: Tensor) -> bool:
    """Whether sentences with `lengths (B,)` are read packed: on a CPU, without gradients, unless they are few."""
    traced = torch.jit.is_tracing() or torch.compiler.is_compiling()
    return lengths.device.type == "cpu" and len(lengths) >= MIN_PACKED and not torch.is_grad_enabled() and not traced


def products_dtype(weights: torch.dtype) -> torch.dtype:
    """The dtype in which recurrent layers with `weights` of a dtype multiply on a CPU."""
    narrow = torch.is_autocast_enabled("cpu") and not computes_in_float32("cpu")
    return torch.get_autocast_dtype("cpu") if narrow else weights


def computes_in_float32(device: str) -> bool:
    """Whether recurrent layers compute in float32 under autocast."""
    return device == "cuda" or not torch.ops.mkldnn._is_mkldnn_bf16_supported()


def recurrent_output(layer: nn.Module, inputs: Tensor, state: Any = None) -> Any:
    """The output of a recurrent layer. Under autocast it computes in float32 where bfloat16 cannot be had.

    On a GPU autocast always gives cuDNN's recurrent layers float16, which overflows for large numbers and does not mix
    with bfloat16. On a CPU without AVX-512 oneDNN has no recurrent layer in bfloat16.
    """
    device = inputs.device.type
    if device not in ("cuda", "cpu") or not torch.is_autocast_enabled(device) or not computes_in_float32(device):
        return layer(inputs, state)
    state = tuple(part.float() for part in state) if isinstance(state, tuple) else state
    with torch.autocast(device, enabled=False):
        return layer(inputs.float(), state)


def mirror_steps(lengths: Tensor, steps: int) -> Tensor:
    """The step (T, B, 1) as far from the other end of its sentence; that of padding stays. T is `steps`."""
    step = torch.arange(steps, device=lengths.device)[:, None]
    return torch.where(step < lengths, lengths - 1 - step, step)[:, :, None]


def both_directions(forward: nn.Module, backward: nn.Module, states: Tensor, mirror: Tensor) -> Tensor:
    """The states (T, B, 2 H) of two recurrent layers that read inputs (T, B, E) from both ends."""
    forward_states = recurrent_output(forward, states)[0]
    backward_states = recurrent_output(backward, reverse(states, mirror))[0]
    return torch.cat([forward_states, reverse(backward_states, mirror)], 2)


def reverse(states: Tensor, mirror: Tensor) -> Tensor:
    """States (T, B, H) with each sentence's own steps in the opposite order."""
    return states.gather(0, mirror.expand(-1, -1, states.shape[2]))
