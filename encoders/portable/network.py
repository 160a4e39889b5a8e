"""An exported encoder: sentences in, one vector each, from a folder alone. A part of each export.

Imports nothing of this project: `encoders/portable/source.py` puts it into the exported file.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from torch import Tensor, nn
from torch.nn import functional

from encoders.portable.text import TextReader, refuse_string

WEIGHTS = "model.safetensors"


class SentenceEncoder(nn.Module):
    """Word vectors, an encoder, and what reads sentences. Also the one module of a sentence-transformers folder."""

    encoder_class: Any  # the class of the encoder

    def __init__(self, encoder: nn.Module, table: Tensor, reader: TextReader) -> None:
        super().__init__()
        self.encoder, self.reader = encoder, reader
        self.register_buffer("table", table, persistent=False)

    @classmethod
    def load(cls, folder: str) -> "SentenceEncoder":
        """The encoder of the weights in a folder."""
        with safe_open(Path(folder) / WEIGHTS, "pt") as file:
            settings = json.loads(file.metadata()["settings"])
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no dictionary
        table, ngrams = weights.pop("table"), weights.pop("ngrams", None)
        encoder = cls.encoder_class(input_dim=settings["input_dim"], **settings["encoder"])
        encoder.load_state_dict(weights)
        return cls(encoder, table, TextReader(settings, None if ngrams is None else ngrams.numpy())).eval()

    def vectors(self, ids: Tensor, lengths: Tensor, unknown: Tensor) -> Tensor:
        """Vectors (N, D) of sentences as `TextReader.read` gives them; zeros for an empty sentence."""
        table_rows = len(self.table)  # type: ignore[arg-type]
        embedded = functional.embedding(ids.clamp(max=table_rows - 1), self.table)  # type: ignore[arg-type]
        new = functional.embedding((ids - table_rows).clamp(min=0), unknown)
        embedded = torch.where((ids < table_rows)[:, :, None], embedded, new)
        return self.encoder(embedded, lengths.clamp(min=1)).vector * (lengths > 0)[:, None]

    @torch.inference_mode()
    def encode(self, sentences: Sequence[str], batch_size: int = 64) -> np.ndarray:
        """Vectors (N, D) float32 of sentences, in their order. Raises TypeError for one string."""
        refuse_string(sentences)
        order = sorted(range(len(sentences)), key=lambda row: len(sentences[row].split()))
        out = np.zeros((len(sentences), self.get_embedding_dimension()), np.float32)
        device: Any = self.table.device
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            features = self.preprocess([sentences[row] for row in rows])
            out[rows] = self.vectors(*(part.to(device) for part in features.values())).float().cpu().numpy()
        return out

    def preprocess(self, inputs: Sequence[str], prompt: str | None = None) -> dict[str, Tensor]:
        """The features of sentences; sentence-transformers calls it."""
        arrays = self.reader.read([(prompt or "") + text for text in inputs])
        return dict(zip(("input_ids", "lengths", "unknown"), map(torch.from_numpy, arrays), strict=True))

    def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        """Adds the vectors to the features; sentence-transformers calls it."""
        vectors = self.vectors(features["input_ids"], features["lengths"], features["unknown"])
        return {**features, "sentence_embedding": vectors}

    def get_embedding_dimension(self) -> int:
        """D."""
        return int(self.reader.vector_dim)
