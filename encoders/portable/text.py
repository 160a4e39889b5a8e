"""Sentences to rows of words and vectors of unknown words, as the run read them. A part of each export.

Imports nothing of this project: `encoders/portable/source.py` puts it into the exported file.
"""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

UNKNOWN_ROW = 1  # row 0 is padding


class TextReader:
    """Words to rows; a word that the run does not have is composed of its character n-grams, as in fastText."""

    tokenize: Callable[[str], str] = staticmethod(str)  # replaced where raw text is tokenised

    def __init__(self, settings: Mapping[str, Any], ngrams: np.ndarray | None) -> None:
        """`settings`: what the export wrote. `ngrams` (buckets, E): vectors of character n-grams."""
        self.words = len(settings["words"])
        self.rows = {word: row for row, word in enumerate(settings["words"])}
        self.dim, self.vector_dim, self.longest = settings["input_dim"], settings["dim"], settings["longest"]
        self.lowercase, self.lowercase_lookup = settings["lowercase"], settings["lowercase_lookup"]
        self.shortest_ngram, self.longest_ngram = settings["ngram_sizes"]
        self.ngrams = ngrams

    def read(self, sentences: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows (N, T), lengths (N,) and the vectors (U, E) of unknown words, with rows after those of all words.

        T and U are at least 1. Padding is row 0; an empty sentence has length 0.
        """
        texts = (unicodedata.normalize("NFC", sentence) for sentence in sentences)
        tokenized = (self.tokenize(text) for text in texts)
        words = [(text.lower() if self.lowercase else text).split()[: self.longest] for text in tokenized]
        lengths = np.array([len(row) for row in words], dtype=np.int64)
        ids = np.zeros((len(words), max(1, lengths.max(initial=0))), dtype=np.int64)
        new: dict[str, int] = {}
        vectors = [np.zeros(self.dim, dtype=np.float32)]
        for row, sentence in zip(ids, words, strict=True):
            for place, word in enumerate(sentence):
                if self.lowercase_lookup and word not in self.rows:
                    word = word.lower()
                if word in self.rows:
                    row[place] = self.rows[word]
                    continue
                if word not in new:
                    vector = self.composed(word)
                    new[word] = self.words + len(vectors) if vector.any() else UNKNOWN_ROW
                    vectors += [vector] if vector.any() else []
                row[place] = new[word]
        return ids, lengths, np.stack(vectors)

    def composed(self, word: str) -> np.ndarray:
        """The mean (E,) of the vectors of the word's n-grams; zeros if there are none."""
        rows = self.ngram_rows(word) if self.ngrams is not None else []
        return self.ngrams[rows].mean(0) if self.ngrams is not None and rows else np.zeros(self.dim, np.float32)

    def ngram_rows(self, word: str) -> list[int]:
        """The buckets of the character n-grams of `<word>`."""
        assert self.ngrams is not None
        text, rows = f"<{word}>", []
        for start in range(len(text)):
            for end in range(start + self.shortest_ngram, min(start + self.longest_ngram, len(text)) + 1):
                if end - start > 1 or (start > 0 and end < len(text)):
                    rows.append(hash_of(text[start:end].encode()) % len(self.ngrams))
        return rows


def hash_of(text: bytes) -> int:
    """The 32-bit FNV-1a hash of fastText, which reads bytes with a sign."""
    value = 2166136261
    for byte in text:
        value ^= byte if byte < 128 else byte | 0xFFFFFF00
        value = value * 16777619 & 0xFFFFFFFF
    return value
