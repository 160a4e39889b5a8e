"""An exported encoder: sentences in, a vector each, from a folder alone. `encoders/portable/source.py` exports it."""

import json
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from torch import Tensor, nn
from torch.nn import functional

from datamodules.text.languages import unspaced_script
from datamodules.word_vectors.fasttext_file import ngram_rows

WEIGHTS = "model.safetensors"
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
        if any(unspaced_script(Counter(row)) for row in words):
            warnings.warn(
                "sentences without spaces between their words: segment them as the training text", stacklevel=2
            )
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


class SentenceEncoder(nn.Module):
    """Word vectors, an encoder, and what reads sentences. Also the one module of a sentence-transformers folder."""

    encoder_class: Any  # the class of the encoder

    def __init__(self, encoder: nn.Module, table: Tensor, reader: TextReader) -> None:
        super().__init__()
        self.encoder, self.reader = encoder, reader
        self.table: Tensor
        self.register_buffer("table", table, persistent=False)

    @classmethod
    def load(cls, folder: str) -> "SentenceEncoder":
        """The encoder of the weights in a folder."""
        with safe_open(Path(folder) / WEIGHTS, "pt") as file:
            settings = json.loads(file.metadata()["settings"])
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no dictionary
        table, ngrams = weights.pop("table"), weights.pop("ngrams", None)
        encoder = cls.encoder_class(input_dim=settings["input_dim"], **settings["encoder"]).to(table.dtype)
        encoder.load_state_dict(weights)
        return cls(encoder, table, TextReader(settings, None if ngrams is None else ngrams.numpy())).eval()

    def vectors(self, ids: Tensor, lengths: Tensor, unknown: Tensor) -> Tensor:
        """Vectors (N, D) of sentences as `TextReader.read` gives them; zeros for an empty sentence."""
        table_rows = len(self.table)
        embedded = functional.embedding(ids.clamp(max=table_rows - 1), self.table)
        new = functional.embedding((ids - table_rows).clamp(min=0), unknown.to(self.table.dtype))
        embedded = torch.where((ids < table_rows)[:, :, None], embedded, new)
        return self.encoder(embedded, lengths.clamp(min=1)).vector * (lengths > 0)[:, None]

    @torch.inference_mode()
    def encode(self, sentences: Sequence[str], batch_size: int = 64) -> np.ndarray:
        """Vectors (N, D) float32 of sentences, in their order. Raises TypeError for one string."""
        refuse_string(sentences)
        order = sorted(range(len(sentences)), key=lambda row: len(sentences[row].split()))
        out = np.zeros((len(sentences), self.get_embedding_dimension()), np.float32)
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            features = self.preprocess([sentences[row] for row in rows])
            out[rows] = self.vectors(*(part.to(self.table.device) for part in features.values())).float().cpu().numpy()
        return out

    def preprocess(self, inputs: Sequence[str], prompt: Any = None, task: Any = None) -> dict[str, Tensor]:
        """The features of sentences; sentence-transformers calls it, with the `task` query or document too."""
        arrays = self.reader.read([(prompt or "") + text for text in inputs])
        return dict(zip(("input_ids", "lengths", "unknown"), map(torch.from_numpy, arrays), strict=True))

    def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        """Adds the vectors to the features; sentence-transformers calls it."""
        vectors = self.vectors(features["input_ids"], features["lengths"], features["unknown"])
        return {**features, "sentence_embedding": vectors}

    @property
    def max_seq_length(self) -> int:
        """Words after which a sentence is cut; sentence-transformers reads and sets it."""
        return int(self.reader.max_words)

    @max_seq_length.setter
    def max_seq_length(self, words: int) -> None:
        self.reader.max_words = words

    def get_embedding_dimension(self) -> int:
        """D."""
        return int(self.reader.vector_dim)
