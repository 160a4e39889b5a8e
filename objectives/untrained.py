"""Untrained: the encoder with its initial weights, a random projection of word vectors."""

from collections.abc import Mapping
from typing import Any

from encoders.embedding import WordEmbedding
from encoders.encoder import Encoder
from objectives.objective import Objective


class Untrained(Objective):
    """Predicts nothing (Conneau et al. 2018, section 3.2, last sentence). The run has epoch 0 only."""

    score = "epoch"
    trains = False
    no_likelihood = "it is not trained, and has no decoder"

    @classmethod
    def without_use(cls, _settings: Mapping[str, Any], /) -> str:
        return "it is not trained, and has no loss"

    def __init__(self, encoder: Encoder, embedding: WordEmbedding, seed: int) -> None:
        super().__init__(encoder, embedding, None, seed)
