"""What people would run instead: the peers of benchmarks/fair.py, written plainly.

A PyTorch training step as tutorials have it, InferSent's training loop and its way to encode (Conneau et al. 2017),
and scikit-learn's logistic regression.
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

from benchmarks.plain import PlainSeq2Seq, Words
from datamodules.batches import SentencePair
from objectives.attention import Memory
from objectives.nli import features
from probes.classifiers.grid import Labelled

VectorOf = Callable[[Any], np.ndarray]  # of a word (E,)
BATCH = 64  # sentences, in training and in encoding
CLIP, RATE = 5.0, 0.1  # norm of the gradient at most, learning rate of SGD


class WholeTarget(PlainSeq2Seq):
    """A fair step: the decoder reads the whole target at once, and one call has the cross-entropy of all tokens."""

    def loss(self, words: Words, batch: SentencePair) -> Tensor:
        vector, states = self.encoder(words, batch.source)
        inputs, gold = batch.target.ids[:, :-1], batch.target.ids[:, 1:]
        steps = vector[:, None].expand(-1, inputs.shape[1], -1)
        hidden, _ = self.lstm(torch.cat([self.dropout(self.embedding(inputs)), steps], 2))
        if self.attention is not None:
            hidden = self.attention(hidden, Memory(states, batch.source.lengths))
        scores = self.output(self.dropout(hidden))
        return functional.cross_entropy(scores.flatten(0, 1), gold.flatten(), ignore_index=0)


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
        words = words.to(self.lstm.weight_ih_l0.device)
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
            some = [sentences[row] for row in order[start : start + BATCH]]
            batches.append(self(*padded(some, vector, self.width)).float().cpu().numpy())
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
        loss = functional.cross_entropy(self.head(features(u, v)), labels.to(u.device))
        self.optimizer.zero_grad()
        loss.backward()
        norm = sum(float(p.grad.norm()) ** 2 for p in self.parameters() if p.grad is not None) ** 0.5
        self.optimizer.param_groups[0]["lr"] = RATE * min(1.0, CLIP / norm)  # the gradient is cut by its rate
        self.optimizer.step()


class Searched(NamedTuple):
    """The chosen classifier of a search over L2 values."""

    dev: float  # percent
    test: float
    weights: list[tuple[Tensor, Tensor]]  # by ascending L2, as our (D, C) and (C,)


def scikit_learn(
    train: Labelled, dev: Labelled, test: Labelled, classes: int, values: Sequence[float], tolerance: float = 1e-4
) -> Searched:
    """scikit-learn's logistic regression (lbfgs) for each L2 value, standardised; the best on dev.

    `tolerance`: on the gradient, by default as scikit-learn has it.
    """
    scaler = StandardScaler().fit(train.vectors)
    x, x_dev, x_test = (scaler.transform(part.vectors) for part in (train, dev, test))
    # with two classes scikit-learn has one weight of a feature where we have two, half as large with opposite signs
    same = 2 if classes == 2 else 1
    strengths = [same / (l2 * len(x)) for l2 in sorted(values)]
    fitted = [LogisticRegression(C=c, max_iter=2000, tol=tolerance).fit(x, train.labels) for c in strengths]
    dev_scores = [one.score(x_dev, dev.labels) for one in fitted]
    best = int(np.argmax(dev_scores))
    weights = [as_ours(one.coef_.T, one.intercept_) for one in fitted]
    return Searched(100 * dev_scores[best], 100 * fitted[best].score(x_test, test.labels), weights)


def as_ours(weight: np.ndarray, bias: np.ndarray) -> tuple[Tensor, Tensor]:
    """Weight (D, C) and bias (C,). Two classes are one column in scikit-learn, the difference of ours."""
    both = np.array([-0.5, 0.5]) if len(bias) == 1 else 1.0
    return torch.from_numpy(weight * both).float(), torch.from_numpy(bias * both).float()
