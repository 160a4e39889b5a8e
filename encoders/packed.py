"""Recurrent layers on a CPU without gradients: no padding, and the product of a distinct word only once.

Words are packed step by step, the longest sentence first, so that each step reads rows that lie together:

    step 1        step 2        step 3
    a1 b1 c1      a2 b2 c2      a3 b3          sentences a, b and c of 3, 3 and 2 words

The gates of a layer are the sum of two products, one with its inputs and one with its states of the step before. The
first layer's inputs are word vectors, so their product may be taken once for each distinct word and then looked up.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

BLOCK = 512  # packed words with their gates in memory at a time, so that these stay in the processor's cache
BATCH_WORDS = 4096  # of a frozen encoder: a step should have many sentences
TABLE = 1 << 29  # bytes that the products of distinct words may take

Words = Tensor | slice  # n of the packed words
Gates = Callable[[Words, Tensor], None]  # writes what the inputs of some packed words add to the gates (n, G)
Cell = Callable[[Tensor, Tensor | None, Tensor], None]  # gates (n, G) and the states before (n, H) to states (n, H)


class Packing(NamedTuple):
    """The N packed words of a batch of B padded sentences."""

    sizes: list[int]  # sentences that have a word at each step
    order: Tensor  # (B,) the sentences by length, the longest first
    place: Tensor  # (N,) of each packed word among the B * T padded ones
    mirror: Tensor  # (N,) the packed word that is as far from the other end of its sentence


def pack(lengths: Tensor, steps: int) -> Packing:
    """The packing of sentences with `lengths (B,)`, padded to `steps` words."""
    ordered, order = lengths.sort(descending=True, stable=True)
    here = ordered > torch.arange(int(ordered[0]))[:, None]
    sizes = here.sum(1)
    step, sentence = here.nonzero().unbind(1)
    mirror = (sizes.cumsum(0) - sizes)[ordered[sentence] - 1 - step] + sentence
    return Packing(sizes.tolist(), order, order[sentence] * steps + step, mirror)


def _lstm(weight: Tensor, _: Tensor, rows: int) -> Cell:
    """The step of an LSTM over at most `rows` sentences; `weight`: of the states (H, G).

    tanh(x) is 1 - 2 sigmoid(-2x), as PyTorch's sigmoid takes a sixth of the time of its tanh.
    """
    dim = len(weight)
    cells = torch.zeros(rows, dim, dtype=torch.promote_types(weight.dtype, torch.float32))  # times -2
    free = torch.empty_like(cells)

    def step(gates: Tensor, before: Tensor | None, states: Tensor) -> None:
        if before is not None:
            gates.addmm_(before, weight)
        gates = gates.to(cells.dtype)
        new = gates[:, 2 * dim : 3 * dim]
        new.add_(new)
        into, kept, new, out = gates.sigmoid_().split(dim, 1)  # the new values are 2 new - 1
        now = cells[: len(gates)].mul_(kept).addcmul_(into, new, value=-4).add_(into, alpha=2)
        torch.addcmul(out, out, torch.sigmoid(now, out=free[: len(gates)]), value=-2, out=states)

    return step


def _gru(weight: Tensor, bias: Tensor, rows: int) -> Cell:
    """The step of a GRU over at most `rows` sentences, with the reset gate behind the product of the states."""
    dim = len(weight)
    held = torch.zeros(rows, dim, dtype=torch.promote_types(weight.dtype, torch.float32))
    less = held.new_tensor(-1.0)  # a number of Python would become a tensor at each step

    def step(gates: Tensor, before: Tensor | None, states: Tensor) -> None:
        rest = bias.expand_as(gates) if before is None else torch.addmm(bias, before, weight)
        gates, rest = gates.to(held.dtype), rest.to(held.dtype)
        reset, kept = gates[:, : 2 * dim].add_(rest[:, : 2 * dim]).sigmoid_().split(dim, 1)
        new = gates[:, 2 * dim :].addcmul_(reset, rest[:, 2 * dim :])
        new = torch.add(less, new.add_(new).sigmoid_(), alpha=2)
        states.copy_(held[: len(gates)].sub_(new).mul_(kept).add_(new))

    return step


class Direction:
    """One direction of a recurrent layer, with its weights in the precision `kind`."""

    def __init__(self, layer: nn.Module, kind: torch.dtype) -> None:
        self.kind = kind
        self.of_inputs, self.of_states, self.bias, self.state_bias = (
            layer.get_parameter(f"{name}_l0").to(kind) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        self.dim = self.of_states.shape[1]
        self.cell = _gru if isinstance(layer, nn.GRU) else _lstm
        if not isinstance(layer, nn.GRU):
            self.bias = self.bias + self.state_bias

    def gates(self, inputs: Tensor, found: Tensor | None = None) -> Tensor:
        """What inputs (n, E) add to the gates (n, G)."""
        return torch.addmm(self.bias, inputs.to(self.kind), self.of_inputs.t(), out=found)

    def states(self, gates: Gates, order: Tensor | None, sizes: Sequence[int], found: Tensor) -> None:
        """Write the states (N, H) after the packed words in an order, their own if it is None."""
        cell, before = self.cell(self.of_states.t(), self.state_bias, sizes[0]), None
        block = torch.empty(max(BLOCK, sizes[0]), len(self.bias), dtype=self.kind)
        begin = first = end = 0
        for step, size in enumerate(sizes):
            if begin == end:
                first, end = begin, begin + words_of_block(sizes[step:])
                gates(slice(first, end) if order is None else order[first:end], block[: end - first])
            now = found[begin : begin + size]
            cell(block[begin - first : begin - first + size], before if before is None else before[:size], now)
            begin, before = begin + size, now


def words_of_block(sizes: Sequence[int]) -> int:
    """The packed words of the first steps: of at least one, of more while they have no more than `BLOCK` words."""
    words = sizes[0]
    for size in sizes[1:]:
        if words + size > BLOCK:
            break
        words += size
    return words


def packed_reader(
    levels: Sequence[tuple[nn.Module, nn.Module]],
    dropout: nn.Module,
    kind: torch.dtype,
    words: Tensor,
    table: int,
) -> Callable[[Tensor, Tensor], tuple[Tensor, Packing]]:
    """The function from ids (B, T), which are rows of words (U, E), and lengths (B,) to packed states (N, D).

    `levels`: layers of both directions, with `dropout` between two levels; `kind`: the precision of products.
    The products of distinct words are taken at once where they need no more bytes than `table`.
    """
    first, *upper = [[Direction(layer, kind) for layer in level] for level in levels]
    size = len(words) * kind.itemsize * sum(len(direction.bias) for direction in first)
    tables = [direction.gates(words) for direction in first] if size <= table else None

    def read(ids: Tensor, lengths: Tensor) -> tuple[Tensor, Packing]:
        packing = pack(lengths, ids.shape[1])
        rows = ids.flatten()[packing.place]
        if tables is None:
            gates = [partial(_multiplied, direction, words, rows) for direction in first]
        else:
            gates = [partial(_looked_up, table, rows) for table in tables]
        states = both_ways(first, gates, packing)
        for level in upper:
            below = dropout(states)
            states = both_ways(level, [partial(_multiplied, direction, below, None) for direction in level], packing)
        return states, packing

    return read


def both_ways(level: Sequence[Direction], gates: Sequence[Gates], packing: Packing) -> Tensor:
    """States (N, D) of the packed words after both directions of a level."""
    words, half = len(packing.mirror), level[0].dim
    found = torch.empty(words, 2 * half, dtype=level[0].kind)
    level[0].states(gates[0], None, packing.sizes, found[:, :half])
    back = torch.empty(words, half, dtype=level[0].kind)
    level[1].states(gates[1], packing.mirror, packing.sizes, back)
    found[:, half:] = back[packing.mirror]
    return found


def _multiplied(direction: Direction, inputs: Tensor, rows: Tensor | None, words: Words, found: Tensor) -> None:
    direction.gates(inputs[words if rows is None else rows[words]], found)


def _looked_up(table: Tensor, rows: Tensor, words: Words, found: Tensor) -> None:
    torch.index_select(table, 0, rows[words], out=found)
