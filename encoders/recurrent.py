"""Both directions of a recurrent layer, exact for every sentence of a padded batch.

The backward direction reads each sentence reversed within its own length:

    words     w1 w2 w3 --        reversed  w3 w2 w1 --

so padding always comes last and has no effect. No packing is needed, so the fused kernels of CPU and GPU are used.

Where a CPU encodes a batch with the longest sentence first, sentences that have ended are left out of later steps:

    steps 1 to 8       steps 9 to 20
    w1 ... w8          w9 ... w20
    w1 ... w8          w9 ... w17
    w1 ... w7

From `WIDE` units on, the weights of a direction do not fit the cache and PyTorch's loop over packed sentences, which
leaves them out step by step, is faster.
"""

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from common.errors import InputError

PART_STEPS, PART_ROWS = 4, 4  # multiples; the library keeps a kernel for each shape, so there should be few
WIDE = 2048  # units of a direction
PART_WORDS = 32  # words that take the time of starting another part: its weights are put into another order


Through = Callable[[nn.Module, Tensor], Tensor]  # a layer and its inputs (T, B, E) to its states (T, B, H)


class Stretch(NamedTuple):
    """Some steps of a batch, and how many sentences take part in them: the first, which are the longest."""

    begin: int
    end: int
    rows: int


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
        whole = Stretch(0, states.shape[0], states.shape[1])
        free = not torch.is_grad_enabled() and states.device.type == "cpu" and not torch.jit.is_tracing()
        ordered = free and longest_first(lengths)
        width = self.ahead[0].get_parameter("weight_hh_l0").shape[1]
        if ordered and width >= WIDE and not (torch.is_autocast_enabled("cpu") and stays_wide("cpu")):
            through: Through = partial(packed, lengths=lengths)
        else:
            through = partial(in_parts, parts=parts_of(lengths, whole) if ordered else [whole])
        for layer, (ahead, back) in enumerate(zip(self.ahead, self.back, strict=True)):
            if layer:
                states = self.dropout(states)
            forward = through(ahead, states)
            backward = through(back, reverse(states, mirror))
            states = torch.cat([forward, reverse(backward, mirror)], 2)  # (T, B, dim)
        return (states * (steps < lengths)[:, :, None]).transpose(0, 1)


def longest_first(lengths: Tensor) -> bool:
    """Whether the sentences of a batch are sorted, the longest first, and none is empty."""
    return len(lengths) > 0 and bool((lengths[1:] <= lengths[:-1]).all()) and bool(lengths[-1] > 0)


def packed(layer: nn.Module, inputs: Tensor, lengths: Tensor) -> Tensor:
    """The states (T, B, H) of a recurrent layer over inputs (T, B, E), the longest sentence first; zero at padding."""
    own = next(layer.parameters()).dtype
    kind = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else own
    if kind != own:  # once here: autocast would convert the weights at each step
        narrow = {id(weight): nn.Parameter(weight.to(kind), requires_grad=False) for weight in layer.parameters()}
        layer = deepcopy(layer, narrow)  # which takes these for the weights
    with torch.autocast("cpu", enabled=False):
        states, _ = layer(pack_padded_sequence(inputs.to(kind), lengths))
    return pad_packed_sequence(states, total_length=len(inputs))[0]


def parts_of(lengths: Tensor, whole: Stretch) -> list[Stretch]:
    """The parts, in the least time, of a batch with the longest sentence first.

    The time of a part is that of its steps x rows and of `PART_WORDS` more.
    """
    cuts = [*range(0, whole.end, PART_STEPS), whole.end]
    alive = (lengths > torch.tensor(cuts[:-1])[:, None]).sum(1).tolist()
    rows = [min(whole.rows, -(-count // PART_ROWS) * PART_ROWS) for count in alive]
    best: list[tuple[int, list[Stretch]]] = [(0, [])]  # up to each cut: time in words, and the parts
    for end in range(1, len(cuts)):
        ways = [(best[begin][0] + (cuts[end] - cuts[begin]) * rows[begin] + PART_WORDS, begin) for begin in range(end)]
        words, begin = min(ways)
        best.append((words, [*best[begin][1], Stretch(cuts[begin], cuts[end], rows[begin])]))
    return best[-1][1]


def in_parts(layer: nn.Module, inputs: Tensor, parts: list[Stretch]) -> Tensor:
    """The states (T, B, H) of a recurrent layer over inputs (T, B, E); zero where a part leaves a sentence out."""
    if len(parts) == 1:
        return in_its_precision(layer, inputs)[0]
    found, state = [], None
    for begin, end, rows in parts:
        if state is not None:
            state = state[:, :rows] if isinstance(state, Tensor) else tuple(part[:, :rows] for part in state)
        states, state = in_its_precision(layer, inputs[begin:end, :rows], state)
        found.append(functional.pad(states, (0, 0, 0, inputs.shape[1] - rows)))
    return torch.cat(found)


def in_its_precision(layer: nn.Module, inputs: Tensor, state: Any = None) -> Any:
    """The output of a recurrent layer. Under autocast it computes in float32 where bfloat16 cannot be had.

    On a GPU autocast always gives cuDNN's recurrent layers float16, which overflows for large numbers and does not mix
    with bfloat16. On a CPU without AVX-512 oneDNN has no recurrent layer in bfloat16.
    """
    device = inputs.device.type
    if device not in ("cuda", "cpu") or not torch.is_autocast_enabled(device) or not stays_wide(device):
        return layer(inputs, state)
    wide = tuple(part.float() for part in state) if isinstance(state, tuple) else state
    with torch.autocast(device, enabled=False):
        return layer(inputs.float(), wide)


def stays_wide(device: str) -> bool:
    """Whether recurrent layers compute in float32 under autocast."""
    return device == "cuda" or not torch.ops.mkldnn._is_mkldnn_bf16_supported()


def reverse(states: Tensor, mirror: Tensor) -> Tensor:
    """States (T, B, H) with each sentence's own steps in the opposite order."""
    return states.gather(0, mirror.expand(-1, -1, states.shape[2]))
