"""SkipThought: predict the next sentence of the document."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from datamodules.seq2seq import TextPairs
from datamodules.text.subwords import BEGIN, END, Piece, Subwords
from encoder_lab.errors import InputError
from encoders.load import SavedRun, matching_weights
from objectives.decoder import Decoder
from objectives.likelihood import SentenceTokens, decoder_file, pad_ids
from objectives.sequence import SequenceObjective

SUBWORDS_FILE = "subwords.model"


class SkipThought(SequenceObjective):
    """Predict the next sentence, subword by subword (Kiros et al. 2015, with one decoder as in Tang et al. 2017).

    Score: perplexity per subword, as in Conneau et al. 2018, appendix. Data: TextPairs with target "next".
    """

    score = "val/perplexity"
    data: TextPairs

    @classmethod
    def without_likelihood(cls, settings: Mapping[str, Any], /) -> str:
        if settings["objective"].get("attention") or settings["encoder"].get("attention"):
            return "its decoder attends over the words of the sentence before, and a first sentence has none"
        return ""

    def likelihood(self) -> "NextSentence":
        return NextSentence(self.decoder, self.data.subwords)

    def likelihood_files(self) -> dict[str, Path]:
        return {SUBWORDS_FILE: self.data.folder / SUBWORDS_FILE}

    @classmethod
    def saved_likelihood(cls, saved: SavedRun, ends: bool = False) -> "NextSentence":
        subwords = Subwords.load(decoder_file(saved, SUBWORDS_FILE))
        shapes = {name: weight.shape for name, weight in saved.weights.items() if name.startswith("decoder.")}
        try:
            size, embedding_dim = shapes["decoder.embedding.weight"]
            width, hidden = shapes["decoder.lstm.weight_ih_l0"][1], shapes["decoder.lstm.weight_hh_l0"][1]
        except (KeyError, IndexError, ValueError):
            raise InputError(f"{saved.checkpoint}: no weights of an LSTM decoder in it; copy the whole run") from None
        if size != subwords.size:
            problem = f"{subwords.size} codes, the decoder has {size}; copy the whole run folder"
            raise InputError(f"{decoder_file(saved, SUBWORDS_FILE)}: {problem}")
        layers = sum(name.startswith("decoder.lstm.weight_ih_l") for name in shapes)
        with torch.device("meta"):  # the weights come from the checkpoint
            decoder = Decoder(np.zeros(size), width - embedding_dim, embedding_dim, hidden, layers)
        decoder.load_state_dict(matching_weights(saved.checkpoint, decoder, "decoder.", saved.weights), assign=True)
        return NextSentence(decoder, subwords, ends)


class NextSentence:
    """log p of the subwords of a sentence given the vector of the one before it, as the decoder is trained.

    The mark that begins a sentence is context. The one that ends it is scored only with `ends`, and
    has its last character.
    """

    def __init__(self, decoder: Decoder, subwords: Subwords, ends: bool = False) -> None:
        self.network, self.subwords, self.ends = decoder, subwords, ends

    def tokens(self, sentence: str) -> SentenceTokens:
        pieces = self.subwords.pieces(sentence)
        pieces += [Piece(END, "</s>", len(sentence) - 1, len(sentence))] if self.ends else []
        spans = np.array([(piece.first, piece.end) for piece in pieces], np.int64).reshape(-1, 2)
        return SentenceTokens([piece.id for piece in pieces], [piece.text for piece in pieces], spans)

    def log_probabilities(self, vectors: Tensor, rows: Sequence[list[int]]) -> Tensor:
        return -self.network.token_nats(vectors, pad_ids([[BEGIN, *row] for row in rows], vectors.device))
