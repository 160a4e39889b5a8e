"""The LSTM decoder: a language model of the target that sees the sentence vector at every step.

sentence vector s ----+--------+--------+
                      |        |        |
targets   <s> -> [e;s] -> [e;s] -> [e;s] -> ...     2 layers of 512 units
                      |        |        |
predicts             t1       t2       t3

With attention, the output of the LSTM at each step first attends over the word states of the source (Luong et al. 2015,
sections 3.1 and 3.3).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from encoders.packed import packed_decoder_states
from encoders.recurrent import products_dtype, reads_packed, recurrent_output
from objectives.chunked_cross_entropy import PADDING, cross_entropies, cross_entropy_sum
from objectives.layers import Logits

State = tuple[Tensor, Tensor]  # hidden and cell, each (layers, B, H)


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


class Decoder(nn.Module):
    """LSTM decoder conditioned on the sentence vector (Conneau et al. 2018, appendix).

    `counts (V,)`: the training frequency of each target symbol. The softmax bias starts at the log frequencies.
    Otherwise the first steps learn only these, and the encoder collapses to one vector for all sentences.
    `attends_over`: the width of the word states to attend over; None for a decoder without attention.
    """

    def __init__(
        self,
        counts: Sequence[int] | np.ndarray,
        sentence_dim: int,
        embedding_dim: int = 256,
        hidden: int = 512,
        layers: int = 2,
        dropout: float = 0.2,
        attends_over: int | None = None,
    ) -> None:
        super().__init__()
        size = len(counts)
        self.embedding = nn.Embedding(size, embedding_dim, padding_idx=0)
        width, between = embedding_dim + sentence_dim, dropout if layers > 1 else 0.0
        self.lstm = nn.LSTM(width, hidden, layers, dropout=between, batch_first=True)
        self.attention = Attention(hidden, attends_over) if attends_over else None
        self.dropout = nn.Dropout(dropout)
        self.output = Logits(hidden, size)
        shares = torch.as_tensor(np.asarray(counts) + 1.0, dtype=torch.float32)
        self.output.bias.data = (shares / shares.sum()).log()

    def forward(
        self, sentence: Tensor, inputs: Tensor, state: State | None = None, memory: Memory | None = None
    ) -> tuple[Tensor, State]:
        """Hidden states (B, U, H) after each of the `inputs` (B, U), for sentence vectors (B, D)."""
        embedded = self.dropout(self.embedding(inputs))  # (B, U, E)
        steps = sentence[:, None].expand(-1, inputs.shape[1], -1)  # (B, U, D)
        hidden, state = recurrent_output(self.lstm, torch.cat([embedded, steps], 2), state)
        if self.attention is not None:
            assert memory is not None
            hidden = self.attention(hidden, memory)
        return self.dropout(hidden), state

    def loss(self, sentence: Tensor, targets: Tensor, memory: Memory | None = None) -> tuple[Tensor, Tensor]:
        """Summed loss in nats and number of predicted tokens for `targets` (B, U), teacher-forced."""
        hidden, _ = self(sentence, targets[:, :-1], memory=memory)
        gold = targets[:, 1:]
        real = gold != 0
        if gold.device.type == "cpu":
            hidden, scored = hidden[real], gold[real]
        else:  # a GPU multiplies the padding too: it would wait until the number of real tokens is known
            hidden, scored = hidden.flatten(0, 1), gold.masked_fill(~real, PADDING).flatten()
        return cross_entropy_sum(hidden, self.output.weight, self.output.bias, scored), real.sum()

    @torch.no_grad()
    def token_nats(self, sentence: Tensor, targets: Tensor, memory: Memory | None = None) -> Tensor:
        """-log p of each token of `targets` (B, U) but the first, (B, U - 1), teacher-forced; 0 at padding.

        Without dropout, so in evaluation mode.
        """
        inputs, gold = targets[:, :-1], targets[:, 1:].flatten()
        lengths = (targets[:, 1:] != 0).sum(1)
        if memory is None and reads_packed(lengths):
            dtype = products_dtype(self.output.bias.dtype)
            with torch.autocast("cpu", enabled=False):
                hidden, packing = packed_decoder_states(self.lstm, dtype, self.embedding, inputs, lengths, sentence)
            real = packing.padded_index
        else:
            real = gold.nonzero()[:, 0]
            hidden = self(sentence, inputs, memory=memory)[0].flatten(0, 1)[real]
        nats = torch.zeros(gold.shape, dtype=self.output.bias.dtype, device=gold.device)
        nats[real] = cross_entropies(hidden, self.output.weight, self.output.bias, gold[real])
        return nats.view(inputs.shape)

    @torch.no_grad()
    def greedy(
        self, sentence: Tensor, begin: int, end: int, limits: Tensor, memory: Memory | None = None
    ) -> list[list[int]]:
        """Greedy decoding of B sentences: the most likely token until `end`, at most `limits (B,)` tokens."""
        tokens = torch.full((len(sentence), int(limits.max())), end, device=sentence.device)
        rows = torch.arange(len(sentence), device=sentence.device)  # of the sentences that have not ended
        token = torch.full_like(rows, begin)
        states = [sentence.new_zeros(len(sentence), self.lstm.hidden_size)] * (2 * self.lstm.num_layers)
        for step in range(tokens.shape[1]):
            hidden, states = self._step(sentence, token, states, memory)
            token = self.output(hidden).argmax(1)
            going = ((token != end) & (limits > step)).nonzero()[:, 0]
            if len(going) < len(rows):
                rows, sentence, token, limits, *states = (
                    part[going] for part in (rows, sentence, token, limits, *states)
                )
                memory = memory and Memory(memory.states[going], memory.lengths[going])
            if not len(rows):
                break
            tokens[rows, step] = token
        return [row[: row.index(end)] if end in row else row for row in tokens.tolist()]

    def _step(
        self, sentence: Tensor, token: Tensor, states: list[Tensor], memory: Memory | None
    ) -> tuple[Tensor, list[Tensor]]:
        """Hidden states (B, H) after one more token (B,), and the states h and c of each layer, each (B, H).

        Without dropout, so in evaluation mode.
        """
        # cells: nn.LSTM copies its weights at each call, and all of `greedy` takes 2.1 times as long with it
        hidden, new = torch.cat([self.embedding(token), sentence], 1), []
        for weights, h, c in zip(self.lstm.all_weights, states[::2], states[1::2], strict=True):
            hidden, cell = torch.lstm_cell(hidden, (h, c), *weights)
            new += [hidden, cell]
        if self.attention is not None:
            assert memory is not None
            hidden = self.attention(hidden[:, None], memory)[:, 0]
        return hidden, new
