"""The base of objectives with a decoder: NMT, AutoEncoder, SkipThought, Seq2Tree."""

from collections.abc import Mapping
from typing import Annotated, Any

import torch
from torch import Tensor

from datamodules.batches import SentencePair, Sentences
from datamodules.seq2seq import SourceTarget
from encoder_lab.settings.types import Depth, Fraction, Width
from encoders.embedding import WordEmbedding
from encoders.encoder import Encoder
from objectives.decoder import Decoder, Memory
from objectives.metrics import perplexity
from objectives.objective import READS_STATES_REASON, MakeOptimizer, Objective


class SequenceObjective(Objective):
    """Predict the target sequence, token by token, from the sentence vector.

    Loss: mean over target tokens of -log p(t_u | t_<u, s). Batch: SentencePair. Validation logs it and the
    perplexity; subclasses add the score that selects. With `attention`, or if the encoder has `attention`, the decoder
    also attends over the word states (the upper reference of Table 3).
    Source: Conneau et al. 2018, sections 3.2 and 3.3, appendix.
    """

    @classmethod
    def without_use(cls, settings: Mapping[str, Any], /) -> str:
        attends = settings["objective"].get("attention") or settings["encoder"].get("attention")
        return READS_STATES_REASON if attends else super().without_use(settings)

    def __init__(
        self,
        encoder: Encoder,
        embedding: WordEmbedding,
        data: SourceTarget,
        optimizer: MakeOptimizer | None,
        seed: int,
        decoder_embedding: Annotated[Width, "width of the target subword embeddings"] = 256,
        decoder_hidden: Annotated[Width, "LSTM units per layer (Conneau et al. 2018, appendix)"] = 512,
        decoder_layers: Annotated[Depth, "of LSTM units"] = 2,
        dropout: Annotated[Fraction, "on decoder inputs, between its layers and before the softmax"] = 0.2,
        attention: Annotated[bool, "attend over the word states too; encoder=bilstm_att implies it"] = False,
    ) -> None:
        super().__init__(encoder, embedding, optimizer, seed)
        self.data = data
        self.attends = attention or encoder.attention
        sizes, attends_over = (decoder_embedding, decoder_hidden), encoder.state_dim if self.attends else None
        self.decoder = Decoder(data.target_counts(), encoder.dim, *sizes, decoder_layers, dropout, attends_over)

    def encode_source(self, source: Sentences) -> tuple[Tensor, Memory | None]:
        """The input of the decoder: vectors (B, D), and the word states if it attends over them."""
        encoded = self.encode(source)
        return encoded.vector, Memory(encoded.states, source.lengths) if self.attends else None

    def training_step(self, batch: SentencePair, batch_idx: int) -> Tensor:
        vector, memory = self.encode_source(batch.source)
        nats, tokens = self.decoder.loss(vector, batch.target.ids, memory)
        return self.mean_over(nats, tokens, "train/loss")

    def examine(self, batch: SentencePair, decode: bool = True) -> dict[str, Tensor]:
        vector, memory = self.encode_source(batch.source)
        nats = self.decoder.token_nats(vector, batch.target.ids, memory)
        counts = {"nats": nats.sum(1, dtype=torch.double), "tokens": batch.target.lengths - 1}
        return counts | self.examine_decoder(batch, vector, memory, decode)

    def examine_decoder(
        self, batch: SentencePair, vector: Tensor, memory: Memory | None, decode: bool
    ) -> dict[str, Tensor]:
        """Hook for further counts of a validation batch."""
        return {}

    def scores_of(self, sums: Mapping[str, float]) -> dict[str, float]:
        loss = sums["nats"] / sums["tokens"]
        return {"val/loss": loss, "val/perplexity": perplexity(loss)}
