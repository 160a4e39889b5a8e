"""The distinct words of some sentences and their vectors, also of words outside the vocabulary."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from datamodules.arrays import Ragged
from datamodules.batches import PADDING, UNKNOWN, Sentences
from datamodules.samplers import pad
from datamodules.text.vocabulary import SPECIALS, Vocabulary
from encoders.embedding import WordEmbedding

WINDOW_WORDS = 1 << 15  # enough that most of them come several times
ROW_MULTIPLE = 64  # rows: a CPU may keep a kernel of half a megabyte for each number of rows of a product

Compose = Callable[[str], np.ndarray | None]  # a word outside the vocabulary to its vector, if it can be composed


class WordRows:
    """Words to rows, and rows to vectors. Composed words have the rows after the vocabulary's."""

    def __init__(self, vocabulary: Vocabulary, embedding: WordEmbedding, compose: Compose | None) -> None:
        self.vocabulary, self.embedding, self.compose = vocabulary, embedding, compose
        self._row: dict[str, int] = {}  # of words outside the vocabulary
        self._composed: list[np.ndarray] = []

    def rows(self, sentence: str) -> list[int]:
        """The row of each word; UNKNOWN for a word without a vector."""
        rows = self.vocabulary.rows(sentence)
        if self.compose and UNKNOWN in rows:
            for position, word in enumerate(sentence.split()):
                if rows[position] != UNKNOWN or word in SPECIALS:  # as in training
                    continue
                if word not in self._row:
                    vector = self.compose(word)
                    self._row[word] = UNKNOWN if vector is None else len(self.vocabulary) + len(self._composed)
                    self._composed += [] if vector is None else [vector]
                rows[position] = self._row[word]
        return rows

    def vectors(self, rows: np.ndarray) -> Tensor:
        """Vectors (U, E) of ascending rows (U,), on the device of the word vectors."""
        in_vocabulary = np.searchsorted(rows, len(self.vocabulary))
        device = self.embedding.table.device
        vectors = self.embedding(torch.from_numpy(rows[:in_vocabulary]).to(device))
        if in_vocabulary == len(rows):
            return vectors
        composed = np.stack([self._composed[row - len(self.vocabulary)] for row in rows[in_vocabulary:]])
        return torch.cat([vectors, torch.from_numpy(composed).to(vectors)])


class Window(NamedTuple):
    """Several batches of sentences that share one table of distinct words."""

    rows: np.ndarray  # (U,) of the distinct words, ascending, that of padding first and as often as `ROW_MULTIPLE` asks
    texts: Ragged  # the sentences of all batches, one after another; ids are places among `rows`
    sentences: Sequence[np.ndarray]  # of each batch

    def batches(self) -> Iterator[tuple[np.ndarray, Sentences]]:
        """Yields for each batch the numbers of its sentences, and their padded words."""
        end = 0
        for rows in self.sentences:
            begin, end = end, end + len(rows)
            yield rows, pad(self.texts, np.arange(begin, end))


def windows(texts: Ragged, batches: Sequence[np.ndarray]) -> Iterator[Window]:
    """Groups batches of sentences into windows of about `WINDOW_WORDS` words."""
    begin, words = 0, 0
    for end, batch in enumerate(batches, start=1):
        words += int((texts.offsets[batch + 1] - texts.offsets[batch]).sum())
        if words >= WINDOW_WORDS or end == len(batches):
            window, begin, words = batches[begin:end], end, 0
            sentences = [texts.ids[texts.offsets[row] : texts.offsets[row + 1]] for batch in window for row in batch]
            rows, inverse = np.unique(np.concatenate([[PADDING], *sentences]), return_inverse=True)
            padding = -len(rows) % ROW_MULTIPLE
            rows = np.concatenate([np.full(padding, PADDING), rows])
            yield Window(rows, Ragged(inverse[1:] + padding, np.cumsum([0, *map(len, sentences)])), window)
