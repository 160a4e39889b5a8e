"""Training as one would write it first: the yardstick of benchmarks/training.py.

Batches in file order, packed sequences for recurrent encoders, a decoder that takes one step at a time, all logits of
a batch at once, Adam as torch gives it by default.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from datamodules.batches import LabelledPair, SentencePair
from encoders.encoder import Encoder
from encoders.recurrent import Bidirectional


class PackedEncoder(nn.Module):
    """A recurrent encoder through torch's own bidirectional layers; any other encoder as it is."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder, self.layers = encoder, None
        recurrent = next((module for module in encoder.modules() if isinstance(module, Bidirectional)), None)
        if recurrent is not None:
            first: Any = recurrent.ahead[0]
            self.layers = type(first)(
                first.input_size, first.hidden_size, len(recurrent.ahead), batch_first=True, bidirectional=True
            )

    def forward(self, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors (B, D) and states (B, T, D)."""
        if self.layers is None:
            found = self.encoder(embedded, lengths)
            return found.vector, found.states
        inputs = self.encoder.projection(embedded) if hasattr(self.encoder, "projection") else embedded
        packed = pack_padded_sequence(inputs, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.layers(packed)[0], batch_first=True, padding_value=-1e9)
        return states.max(1).values, states.clamp_min(-1e8)


class PlainSeq2Seq(nn.Module):
    """Encoder and decoder, one target token at a time, with a softmax over the whole batch at the end."""

    def __init__(
        self, encoder: Encoder, symbols: int, embedding: int, hidden: int, layers: int, dropout: float
    ) -> None:
        super().__init__()
        self.encoder = PackedEncoder(encoder)
        self.embedding = nn.Embedding(symbols, embedding, padding_idx=0)
        self.lstm = nn.LSTM(embedding + encoder.dim, hidden, layers, dropout=dropout, batch_first=True)
        self.dropout, self.output = nn.Dropout(dropout), nn.Linear(hidden, symbols)

    def loss(self, words: Tensor, batch: SentencePair) -> Tensor:
        vector, _ = self.encoder(words, batch.source.lengths)
        state, logits = None, []
        for step in range(batch.target.ids.shape[1] - 1):
            token = self.dropout(self.embedding(batch.target.ids[:, step]))
            hidden, state = self.lstm(torch.cat([token, vector], 1)[:, None], state)
            logits.append(self.output(self.dropout(hidden[:, 0])))
        scores = torch.stack(logits, 1)  # (B, U, V)
        return functional.cross_entropy(scores.flatten(0, 1), batch.target.ids[:, 1:].flatten(), ignore_index=0)


class PlainNLI(nn.Module):
    """Two sentences through one encoder, and a small classifier."""

    def __init__(self, encoder: Encoder, hidden: int) -> None:
        super().__init__()
        self.encoder = PackedEncoder(encoder)
        self.head = nn.Sequential(nn.Linear(4 * encoder.dim, hidden), nn.ReLU(), nn.Linear(hidden, 3))

    def loss(self, words: tuple[Tensor, Tensor], batch: LabelledPair) -> Tensor:
        u, _ = self.encoder(words[0], batch.premise.lengths)
        v, _ = self.encoder(words[1], batch.hypothesis.lengths)
        return functional.cross_entropy(self.head(torch.cat([u, v, (u - v).abs(), u * v], 1)), batch.label)
