"""What others would run: the references of the benchmarks for training, encoding and logistic regression.

A training step as one writes it first (batches in file order, packed sequences, a decoder that computes one step at a
time, all logits of a batch at once, bags as counts over the vocabulary) and as tutorials have it; InferSent's training
loop and its way to encode (Conneau et al. 2017); scikit-learn's logistic regression. The models are the same as ours.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from datamodules.batches import Bag, InDocument, LabelledPair, SentencePair, Sentences
from encoders.encoder import Encoder
from encoders.pooling import MEAN, WordPooling
from encoders.recurrent import Bidirectional
from objectives.decoder import Attention, Memory
from objectives.layers import LOSSES, feedforward
from objectives.nli import pair_features
from probes.classifiers.examples import Labelled

Words = Callable[[Tensor], Tensor]  # ids (B, T) to word vectors (B, T, E)
VectorOf = Callable[[Any], np.ndarray]  # of a word (E,)
BATCH = 64  # sentences of InferSent, in training and in encoding
CLIP, RATE = 5.0, 0.1  # norm of the gradient at most, learning rate of SGD


class PackedEncoder(nn.Module):
    """A recurrent encoder with torch's own bidirectional layers and the same pooling; other encoders unchanged."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder: Any = encoder
        self.layers: Any = None
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
            encoded = self.encoder(embedded, lengths)
            return encoded.vector, encoded.states
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
        inputs, gold = batch.target.ids[:, :-1], batch.target.ids[:, 1:]
        scores = self.scores(vector, Memory(states, batch.source.lengths), inputs)
        return functional.cross_entropy(scores.flatten(0, 1), gold.flatten(), ignore_index=0)

    def scores(self, vector: Tensor, memory: Memory, inputs: Tensor) -> Tensor:
        """Of the next token (B, U, V), for vectors (B, D) and targets so far (B, U)."""
        state, scores = None, []
        for step in range(inputs.shape[1]):
            token = self.dropout(self.embedding(inputs[:, step]))
            hidden, state = self.lstm(torch.cat([token, vector], 1)[:, None], state)
            scores.append(self.output(self.dropout(self.attend(hidden, memory)[:, 0])))
        return torch.stack(scores, 1)

    def attend(self, hidden: Tensor, memory: Memory) -> Tensor:
        return hidden if self.attention is None else self.attention(hidden, memory)


class WholeTarget(PlainSeq2Seq):
    """A fair step: the decoder reads the whole target at once."""

    def scores(self, vector: Tensor, memory: Memory, inputs: Tensor) -> Tensor:
        steps = vector[:, None].expand(-1, inputs.shape[1], -1)
        hidden, _ = self.lstm(torch.cat([self.dropout(self.embedding(inputs)), steps], 2))
        return self.output(self.dropout(self.attend(hidden, memory)))


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
    filled = bag.sizes > 0
    shares = counts[filled] / bag.sizes[filled, None]
    return functional.cross_entropy(logits[filled], shares)


def padded(sentences: Sequence[Sequence[Any]], vector: VectorOf, width: int) -> tuple[Tensor, list[int]]:
    """Word vectors (T, B, E) of sentences, zero after their ends, and the lengths: one word at a time."""
    lengths = [len(sentence) for sentence in sentences]
    padded_words = np.zeros((max(lengths), len(sentences), width), dtype=np.float32)
    for column, sentence in enumerate(sentences):
        for step, word in enumerate(sentence):
            padded_words[step, column] = vector(word)
    return torch.from_numpy(padded_words), lengths


class PlainInferSent(nn.Module):
    """One bidirectional LSTM layer over given word vectors, and the largest state of each dimension."""

    def __init__(self, width: int, dim: int) -> None:
        super().__init__()
        self.width = width
        self.lstm = nn.LSTM(width, dim // 2, bidirectional=True)

    def forward(self, words: Tensor, lengths: list[int]) -> Tensor:
        """Vectors (B, D) for padded word vectors (T, B, E). Batches are sorted, packed and put back into order."""
        words = words.to(next(self.lstm.parameters()).device)
        order = np.argsort([-length for length in lengths], kind="stable")
        packed = pack_padded_sequence(words[:, order], [lengths[row] for row in order])
        states, _ = pad_packed_sequence(self.lstm(packed)[0])
        return torch.where(states == 0, -1e9, states).amax(0)[np.argsort(order)]

    @torch.no_grad()
    def encode(self, sentences: Sequence[Sequence[str]], vector: VectorOf) -> np.ndarray:
        """Vectors (N, D): all sentences sorted by length, the longest first, in batches."""
        order = sorted(range(len(sentences)), key=lambda row: -len(sentences[row]))
        batches = []
        for start in range(0, len(order), BATCH):
            batch = [sentences[row] for row in order[start : start + BATCH]]
            batches.append(self(*padded(batch, vector, self.width)).float().cpu().numpy())
        vectors = np.concatenate(batches)
        return vectors[np.argsort(order)]


class PlainInferSentNLI(nn.Module):
    """InferSent with its three linear layers, trained by SGD on batches in random order."""

    def __init__(self, width: int, dim: int, hidden: int = 512) -> None:
        super().__init__()
        self.encoder = PlainInferSent(width, dim)
        self.head = nn.Sequential(nn.Linear(4 * dim, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 3))
        self.optimizer = torch.optim.SGD(self.parameters(), RATE)

    def step(self, first: Sequence[Any], second: Sequence[Any], labels: Tensor, vector: VectorOf) -> None:
        u, v = (self.encoder(*padded(side, vector, self.encoder.width)) for side in (first, second))
        loss = functional.cross_entropy(self.head(pair_features(u, v)), labels.to(u.device))
        self.optimizer.zero_grad()
        loss.backward()
        norm = sum(float(p.grad.norm()) ** 2 for p in self.parameters() if p.grad is not None) ** 0.5
        self.optimizer.param_groups[0]["lr"] = RATE * min(1.0, CLIP / norm)  # the gradient is cut by its rate
        self.optimizer.step()


class RegressionSearch(NamedTuple):
    """The chosen classifier of a search over L2 values."""

    dev: float  # percent
    test: float
    weights: list[tuple[Tensor, Tensor]]  # by ascending L2, as our (D, C) and (C,)


def scikit_learn(
    train: Labelled, dev: Labelled, test: Labelled, classes: int, values: Sequence[float], tolerance: float = 1e-4
) -> RegressionSearch:
    """scikit-learn's logistic regression (lbfgs) for each L2 value, standardised; the best on dev.

    `tolerance`: on the gradient, by default as scikit-learn has it.
    """
    scaler = StandardScaler().fit(train.vectors)
    x, x_dev, x_test = (scaler.transform(part.vectors) for part in (train, dev, test))
    # with two classes scikit-learn has one weight of a feature where we have two, half as large with opposite signs
    factor = 2 if classes == 2 else 1
    strengths = [factor / (l2 * len(x)) for l2 in sorted(values)]
    models = [LogisticRegression(C=c, max_iter=2000, tol=tolerance).fit(x, train.labels) for c in strengths]
    dev_scores = [model.score(x_dev, dev.labels) for model in models]
    best = int(np.argmax(dev_scores))
    weights = [in_our_layout(model.coef_.T, model.intercept_) for model in models]
    return RegressionSearch(100 * dev_scores[best], 100 * models[best].score(x_test, test.labels), weights)


def in_our_layout(weight: np.ndarray, bias: np.ndarray) -> tuple[Tensor, Tensor]:
    """Weight (D, C) and bias (C,). Two classes are one column in scikit-learn, the difference of ours."""
    split = np.array([-0.5, 0.5]) if len(bias) == 1 else 1.0
    return torch.from_numpy(weight * split).float(), torch.from_numpy(bias * split).float()
