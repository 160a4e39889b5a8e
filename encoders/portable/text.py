"""Sentences to rows of words and vectors of unknown words, as the run read them. A part of each export.

`encoders/portable/source.py` puts it into the exported file, with what it imports of this project.
"""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from datamodules.word_vectors.fasttext_model import ngram_rows

UNKNOWN_ROW = 1  # row 0 is padding


def refuse_string(sentences: Sequence[str]) -> None:
    """Raises TypeError for one string: its characters would be the sentences."""
    if isinstance(sentences, str):
        raise TypeError(f"encode takes a list of sentences, not one string: encode([{sentences[:40]!r}])")


class TextReader:
    """Words to rows; a word that the run does not have is composed of its character n-grams, as in fastText."""

    tokenize: Callable[[str], str] = staticmethod(str)  # replaced where raw text is tokenised

    def __init__(self, settings: Mapping[str, Any], ngrams: np.ndarray | None) -> None:
        """`settings`: what the export wrote. `ngrams` (buckets, E): vectors of character n-grams."""
        self.word_count = len(settings["words"])
        self.rows = {word: row for row, word in enumerate(settings["words"])}
        self.dim, self.vector_dim, self.max_words = settings["input_dim"], settings["dim"], settings["longest"]
        self.lowercase, self.lowercase_lookup = settings["lowercase"], settings["lowercase_lookup"]
        self.shortest_ngram, self.longest_ngram = settings["ngram_sizes"]
        self.ngrams = ngrams

    def read(self, sentences: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows (N, T), lengths (N,) and the vectors (U, E) of unknown words, with rows after those of all words.

        T and U are at least 1. Padding is row 0; an empty sentence has length 0.
        """
        texts = (unicodedata.normalize("NFC", sentence) for sentence in sentences)
        tokenized = (self.tokenize(text) for text in texts)
        words = [(text.lower() if self.lowercase else text).split()[: self.max_words] for text in tokenized]
        lengths = np.array([len(row) for row in words], dtype=np.int64)
        ids = np.zeros((len(words), max(1, lengths.max(initial=0))), dtype=np.int64)
        new: dict[str, int] = {}
        vectors = [np.zeros(self.dim, dtype=np.float32)]
        for row, sentence in zip(ids, words, strict=True):
            for position, word in enumerate(sentence):
                if self.lowercase_lookup and word not in self.rows:
                    word = word.lower()
                if word in self.rows:
                    row[position] = self.rows[word]
                    continue
                if word not in new:
                    vector = self.compose(word)
                    new[word] = self.word_count + len(vectors) if vector.any() else UNKNOWN_ROW
                    vectors += [vector] if vector.any() else []
                row[position] = new[word]
        return ids, lengths, np.stack(vectors)

    def compose(self, word: str) -> np.ndarray:
        """The mean (E,) of the vectors of the word's n-grams; zeros if there are none."""
        if self.ngrams is None:
            return np.zeros(self.dim, np.float32)
        rows = ngram_rows(word, self.shortest_ngram, self.longest_ngram, len(self.ngrams))
        return self.ngrams[rows].mean(0) if rows else np.zeros(self.dim, np.float32)
