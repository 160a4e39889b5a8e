"""A straightforward implementation of training: the reference of benchmarks/training.py.

Batches in file order, packed sequences for recurrent encoders, a decoder that computes one step at a time, all logits
of a batch at once, bags as counts over the vocabulary, default Adam of torch. The model is the same.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from datamodules.batches import Bag, InDocument, LabelledPair, SentencePair, Sentences
from encoders.encoder import Encoder
from encoders.pooling import MEAN, WordPooling
from encoders.recurrent import Bidirectional
from objectives.attention import Attention, Memory
from objectives.layers import LOSSES, feedforward

Words = Callable[[Tensor], Tensor]  # ids (B, T) to word vectors (B, T, E)


class PackedEncoder(nn.Module):
    """A recurrent encoder with torch's own bidirectional layers and the same pooling; other encoders unchanged."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder, self.layers = encoder, None
        self.pool: WordPooling = getattr(encoder, "pool", MEAN)  # BiGRU has mean pooling
        recurrent = next((module for module in encoder.modules() if isinstance(module, Bidirectional)), None)
        if recurrent is not None:
            first: Any = recurrent.forward_layers[0]
            self.layers = type(first)(
                first.input_size,
                first.hidden_size,
                len(recurrent.forward_layers),
                dropout=recurrent.dropout.p,
                batch_first=True,
                bidirectional=True,
            )

    def forward(self, words: Words, sentences: Sentences) -> tuple[Tensor, Tensor]:
        """Vectors (B, D) and states (B, T, D)."""
        embedded, lengths = words(sentences.ids), sentences.lengths
        if self.layers is None:
            found = self.encoder(embedded, lengths)
            return found.vector, found.states
        if hasattr(self.encoder, "projection"):
            embedded = self.encoder.dropout(self.encoder.projection(embedded))
        packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.layers(packed)[0], batch_first=True)
        return self.pool.padded(states, lengths), states


class PlainSeq2Seq(nn.Module):
    """Encoder and decoder, one target token at a time, with a softmax over the whole batch at the end."""

    def __init__(
        self, encoder: Encoder, symbols: int, embedding: int, hidden: int, layers: int, dropout: float
    ) -> None:
        super().__init__()
        self.encoder = PackedEncoder(encoder)
        self.attention = Attention(hidden, encoder.state_dim) if encoder.attention else None
        self.embedding = nn.Embedding(symbols, embedding, padding_idx=0)
        self.lstm = nn.LSTM(embedding + encoder.dim, hidden, layers, dropout=dropout, batch_first=True)
        self.dropout, self.output = nn.Dropout(dropout), nn.Linear(hidden, symbols)

    def loss(self, words: Words, batch: SentencePair) -> Tensor:
        vector, states = self.encoder(words, batch.source)
        state, logits = None, []
        for step in range(batch.target.ids.shape[1] - 1):
            token = self.dropout(self.embedding(batch.target.ids[:, step]))
            hidden, state = self.lstm(torch.cat([token, vector], 1)[:, None], state)
            if self.attention is not None:
                hidden = self.attention(hidden, Memory(states, batch.source.lengths))
            logits.append(self.output(self.dropout(hidden[:, 0])))
        scores = torch.stack(logits, 1)  # (B, U, V)
        return functional.cross_entropy(scores.flatten(0, 1), batch.target.ids[:, 1:].flatten(), ignore_index=0)


class PlainNLI(nn.Module):
    """Two sentences through one encoder, and a small classifier."""

    def __init__(self, encoder: Encoder, hidden: int) -> None:
        super().__init__()
        self.encoder = PackedEncoder(encoder)
        self.head = nn.Sequential(nn.Linear(4 * encoder.dim, hidden), nn.Tanh(), nn.Linear(hidden, 3))

    def loss(self, words: Words, batch: LabelledPair) -> Tensor:
        u, _ = self.encoder(words, batch.premise)
        v, _ = self.encoder(words, batch.hypothesis)
        return functional.cross_entropy(self.head(torch.cat([u, v, (u - v).abs(), u * v], 1)), batch.label)


class PlainDiscourse(nn.Module):
    """The discourse losses on one sentence vector."""

    def __init__(self, encoder: Encoder, data: Any, hidden: int) -> None:
        super().__init__()
        self.encoder = PackedEncoder(encoder)
        self.targets = {f"{name}_{part}": target for name in LOSSES for part, target in LOSSES[name].items()}
        self.heads = nn.ModuleDict(
            {name: feedforward(encoder.dim, hidden, target.classes(data), 0.0) for name, target in self.targets.items()}
        )

    def loss(self, words: Words, batch: InDocument) -> Tensor:
        vector, _ = self.encoder(words, batch.sentence)
        bags = {
            "nsp_previous": batch.previous,
            "nsp_next": batch.next,
            "sdt_section": batch.section_title,
            "sdt_document": batch.document_title,
        }
        total = vector.new_zeros(())
        for name, head in self.heads.items():
            if name in bags:
                total = total + counts_loss(head(vector), bags[name])
            else:
                term = self.targets[name].loss(head(vector), batch)
                total = total + term.nats.sum() / term.targets.sum()
        return total


def counts_loss(logits: Tensor, bag: Bag) -> Tensor:
    """Mean cross-entropy of the words of each bag, as counts over the vocabulary."""
    inside = torch.arange(bag.ids.shape[1], device=bag.ids.device) < bag.sizes[:, None]
    counts = torch.zeros_like(logits).scatter_add_(1, bag.ids, inside.to(logits.dtype))
    there = bag.sizes > 0
    shares = counts[there] / bag.sizes[there, None]
    return functional.cross_entropy(logits[there], shares)
