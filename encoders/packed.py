"""Recurrent layers on a CPU without gradients: no padding, and the product of a distinct word only once.

Words are packed step by step, the longest sentence first, so that each step reads rows that lie together:

    step 1        step 2        step 3
    a1 b1 c1      a2 b2 c2      a3 b3          sentences a, b and c of 3, 3 and 2 words

The gates of a layer are the sum of two products, one with its inputs and one with its states of the step before. The
first layer's inputs are word vectors, so their product may be taken once for each distinct word and then looked up. A
decoder also reads the sentence vector at each step, of which there is one product for each sentence.

Gain: 1.5 to 2.1 times InferSent's encode (`python benchmarks/fair.py parts=[encoding]`). The plain reference is
`Bidirectional` on padded sentences.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

BLOCK_WORDS = 512  # packed words with their gates in memory at a time, so that these stay in the processor's cache
BATCH_WORDS = 4096  # of a frozen encoder: a step should have many sentences
BLOCK_MULTIPLE = 64  # words; the library keeps half a megabyte for each shape of a product
MAX_TABLE_BYTES = 1 << 29  # that the products of distinct words may take

# The first dimension of most tensors is the direction: R is 2, or 1 for a decoder. H units each, with G gates in all.
# A step takes gates (R, n, G) and the previous states, and writes the states, both (R, n, H).
CellStep = Callable[[Tensor, Tensor | None, Tensor], None]
Inputs = Callable[[int, Tensor, Tensor], Any]  # writes what some packed words (n,) add to a direction's gates (n, G)


class Packing(NamedTuple):
    """The N packed words of a batch of B padded sentences."""

    sizes: list[int]  # sentences that have a word at each step
    order: Tensor  # (B,) the sentences by length, the longest first
    padded_index: Tensor  # (N,) of each packed word among the B * T padded ones
    words: Tensor  # (N,) 0 to N - 1: how the forward direction reads
    mirror: Tensor  # (N,) the packed word as far from the other end of its sentence: how the backward one reads


def pack(lengths: Tensor, steps: int) -> Packing:
    """How to pack sentences with `lengths (B,)`, padded to `steps` words."""
    ordered, order = lengths.sort(descending=True, stable=True)
    has_word = ordered > torch.arange(int(ordered[0]))[:, None]  # (T, B)
    sizes = has_word.sum(1)
    step, sentence = has_word.nonzero().unbind(1)
    mirror = (sizes.cumsum(0) - sizes)[ordered[sentence] - 1 - step] + sentence
    words = torch.arange(len(step))
    return Packing(sizes.tolist(), order, order[sentence] * steps + step, words, mirror)


def round_up(count: int, multiple: int) -> int:
    return -(-count // multiple) * multiple


def padded_rows(count: int) -> int:
    """How many rows a product with states has for `count` sentences: a multiple of 4 of at most 4 bits."""
    return round_up(count, max(4, 1 << max(0, count.bit_length() - 4)))


def _lstm_step(weight: Tensor, _: Tensor, rows: int) -> CellStep:
    """The step of an LSTM over at most `rows` sentences; `weight`: of the states (R, H, G).

    tanh(x) is 1 - 2 sigmoid(-2x), as PyTorch's sigmoid takes a sixth of the time of its tanh.
    """
    directions, dim = weight.shape[:2]
    cells = torch.zeros(directions, rows, dim, dtype=torch.promote_types(weight.dtype, torch.float32))  # times -2
    activated = torch.empty_like(cells)
    buffer = weight.new_empty(directions * padded_rows(rows), 4 * dim)  # of all steps, as new memory costs time

    def step(gates: Tensor, previous: Tensor | None, states: Tensor) -> None:
        if previous is not None:
            out = buffer[: directions * previous.shape[1]].view(directions, -1, 4 * dim)
            product = torch.bmm(previous, weight, out=out)
            gates.add_(product[:, : gates.shape[1]])
        gates, sentences = gates.to(cells.dtype), slice(states.shape[1])
        candidate = gates[:, :, 2 * dim : 3 * dim]
        candidate.add_(candidate)
        i, f, candidate, o = gates.sigmoid_().split(dim, 2)  # tanh of the candidate is 2 candidate - 1
        cell = cells[:, sentences].mul_(f).addcmul_(i, candidate, value=-4).add_(i, alpha=2)
        torch.addcmul(o, o, torch.sigmoid(cell, out=activated[:, sentences]), value=-2, out=states)

    return step


def _gru_step(weight: Tensor, bias: Tensor, rows: int) -> CellStep:
    """The step of a GRU, its reset gate behind the product; `weight` (R, H, G), `bias` (R, 1, G): of the states."""
    directions, dim = weight.shape[:2]
    hidden = torch.zeros(directions, rows, dim, dtype=torch.promote_types(weight.dtype, torch.float32))
    minus_one = hidden.new_tensor(-1.0)  # a number of Python would become a tensor at each step

    def step(gates: Tensor, previous: Tensor | None, states: Tensor) -> None:
        product = bias.expand_as(gates)
        if previous is not None:
            product = torch.baddbmm(bias, previous, weight)[:, : gates.shape[1]]
        gates, product = gates.to(hidden.dtype), product.to(hidden.dtype)
        reset, update = gates[:, :, : 2 * dim].add_(product[:, :, : 2 * dim]).sigmoid_().split(dim, 2)
        candidate = gates[:, :, 2 * dim :].addcmul_(reset, product[:, :, 2 * dim :])
        candidate = torch.add(minus_one, candidate.add_(candidate).sigmoid_(), alpha=2)
        states.copy_(hidden[:, : states.shape[1]].sub_(candidate).mul_(update).add_(candidate))

    return step


class PackedLayer:
    """The directions of a layer, with their weights in the precision `dtype`; `level`: of the modules' layers."""

    def __init__(self, directions: Sequence[nn.Module], dtype: torch.dtype, level: int = 0) -> None:
        def weights(name: str) -> list[Tensor]:
            return [layer.get_parameter(f"{name}_l{level}").to(dtype) for layer in directions]

        self.weight_ih, self.bias = weights("weight_ih"), weights("bias_ih")
        self.state_bias = torch.stack(weights("bias_hh"))
        self.weight_hh = torch.stack(weights("weight_hh")).transpose(1, 2)  # (R, H, G)
        self.make_step = _gru_step if isinstance(directions[0], nn.GRU) else _lstm_step
        if self.make_step is _lstm_step:
            self.bias = [bias_ih + bias_hh for bias_ih, bias_hh in zip(self.bias, self.state_bias, strict=True)]

    def gates(self, inputs: Tensor, direction: int, words: Tensor | None = None, out: Tensor | None = None) -> Tensor:
        """What inputs (n, E), or those of `words`, add to the gates (n, G) of a direction."""
        inputs = (inputs if words is None else inputs[words]).to(self.weight_hh.dtype)
        return torch.addmm(self.bias[direction], inputs, self.weight_ih[direction].t(), out=out)

    def states(self, inputs: Inputs, packing: Packing) -> Tensor:
        """States (R, N, H) of the packed words, each direction in the order in which it reads."""
        words, (directions, dim, gates) = len(packing.mirror), self.weight_hh.shape
        orders = [functional.pad(order, (0, BLOCK_MULTIPLE)) for order in (packing.words, packing.mirror)[:directions]]
        outputs = self.weight_hh.new_empty(directions, words, dim)
        block = self.weight_hh.new_empty(directions, max(BLOCK_WORDS, packing.sizes[0]) + BLOCK_MULTIPLE, gates)
        step = self.make_step(self.weight_hh, self.state_bias[:, None], packing.sizes[0])
        last = self.weight_hh.new_zeros(directions, padded_rows(packing.sizes[0]), dim)  # state of each sentence
        begin = first = end = 0
        for number, size in enumerate(packing.sizes):
            if begin == end:
                first, end = begin, begin + block_size(packing.sizes[number:])
                rows = round_up(end - first, BLOCK_MULTIPLE)
                for direction, order in enumerate(orders):
                    inputs(direction, order[first : first + rows], block[direction, :rows])
            states, words_of_step = outputs[:, begin : begin + size], slice(begin - first, begin - first + size)
            step(block[:, words_of_step], last[:, : padded_rows(size)] if number else None, states)
            last[:, :size] = states
            begin += size
        return outputs


def concat_directions(states: Tensor, packing: Packing) -> Tensor:
    """States (N, 2 H) of the packed words from those of both directions (2, N, H)."""
    return torch.cat([states[0], states[1][packing.mirror]], 1)


def block_size(sizes: Sequence[int]) -> int:
    """The packed words of the first steps: of at least one, of more while they have at most `BLOCK_WORDS` words."""
    words = sizes[0]
    for size in sizes[1:]:
        if words + size > BLOCK_WORDS:
            break
        words += size
    return words


def packed_reader(
    levels: Sequence[Sequence[nn.Module]], dropout: nn.Module, dtype: torch.dtype, words: Tensor, table: int
) -> Callable[[Tensor, Tensor], tuple[Tensor, Packing]]:
    """The function from ids (B, T), which are rows of words (U, E), and lengths (B,) to packed states (2, N, H).

    `levels`: layers of both directions, with `dropout` between two levels; `dtype`: the precision of products.
    The products of distinct words are taken at once where they need no more bytes than `table`.
    """
    first, *upper = [PackedLayer(directions, dtype) for directions in levels]
    size = len(words) * dtype.itemsize * sum(map(len, first.bias))
    tables = [first.gates(words, direction) for direction in (0, 1)] if size <= table else None

    def read(ids: Tensor, lengths: Tensor) -> tuple[Tensor, Packing]:
        packing = pack(lengths, ids.shape[1])
        rows = ids.flatten()[packing.padded_index]

        def first_inputs(direction: int, packed: Tensor, out: Tensor) -> None:
            if tables is None:
                first.gates(words, direction, rows[packed], out)
            else:
                torch.index_select(tables[direction], 0, rows[packed], out=out)

        states = first.states(first_inputs, packing)
        for level in upper:
            states = level.states(partial(level.gates, dropout(concat_directions(states, packing))), packing)
        return states, packing

    return read


def packed_decoder_states(
    lstm: nn.LSTM, dtype: torch.dtype, words: nn.Embedding, ids: Tensor, lengths: Tensor, sentences: Tensor
) -> tuple[Tensor, Packing]:
    """Packed states (N, H) of a decoder that reads `words` of ids (B, T) next to the sentence vectors (B, D).

    Gain: 1.6 times for the readings of `suite=use` (docs/use.md, Cost). The plain reference is `Decoder.forward`.
    """
    first, *upper = [PackedLayer([lstm], dtype, level) for level in range(lstm.num_layers)]
    packing = pack(lengths, ids.shape[1])
    distinct, rows = ids.flatten()[packing.padded_index].unique(return_inverse=True)
    of_words, of_sentences = first.weight_ih[0].split([words.embedding_dim, sentences.shape[1]], 1)
    word_gates = torch.addmm(first.bias[0], words.weight[distinct].to(dtype), of_words.t())
    sentence_gates = sentences.to(dtype) @ of_sentences.t()
    sentence_rows = packing.padded_index // ids.shape[1]

    def first_inputs(_: int, packed: Tensor, out: Tensor) -> None:
        torch.index_select(word_gates, 0, rows[packed], out=out)
        out.add_(sentence_gates[sentence_rows[packed]])

    states = first.states(first_inputs, packing)[0]
    for level in upper:
        states = level.states(partial(level.gates, states), packing)[0]
    return states, packing
