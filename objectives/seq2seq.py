"""Sequence to sequence: translation (NMT) and AutoEncoder are one module with different data."""

import math

import sacrebleu
import torch
from torch import Tensor

from datamodules.batches import SentencePair
from datamodules.subwords import BEGIN, END
from datamodules.text_pairs import TextPairs
from encoders.embedding import WordEmbedding
from encoders.encoder import Encoder
from objectives.decoder import Decoder
from objectives.objective import MakeOptimizer, Objective


class Seq2Seq(Objective):
    """Predict the target sentence, subword by subword, from the sentence vector.

    Loss: mean over target tokens of -log p(t_u | t_<u, s). Batch: SentencePair.
    Score: BLEU of greedy translations of the dev sentences, tokenised, unsmoothed as multi-bleu.perl.
    Source: Conneau et al. 2018, sections 3.2 and 3.3, appendix.
    """

    score = "val/bleu"

    def __init__(
        self,
        encoder: Encoder,
        embedding: WordEmbedding,
        data: TextPairs,
        optimizer: MakeOptimizer,
        seed: int,
        decoder_embedding: int = 256,
        decoder_hidden: int = 512,
        decoder_layers: int = 2,
        dropout: float = 0.2,
    ) -> None:
        super().__init__(encoder, embedding, optimizer, seed)
        self.data = data
        self.decoder = Decoder(
            data.subwords.size, encoder.dim, decoder_embedding, decoder_hidden, decoder_layers, dropout
        )
        self._hypotheses: dict[int, str] = {}  # row of the dev set -> greedy translation
        self._nats_and_tokens = torch.zeros(2)

    def training_step(self, batch: SentencePair, batch_idx: int) -> Tensor:
        nats, tokens = self.decoder.loss(self.encode(batch.source).vector, batch.target.ids)
        loss = nats / tokens
        self.log_score("train/loss", loss.detach(), batch_size=len(batch.source.lengths), prog_bar=True)
        return loss

    def on_validation_epoch_start(self) -> None:
        self._hypotheses = {}
        self._nats_and_tokens = torch.zeros(2, dtype=torch.float64, device=self.device)

    def validation_step(self, batch: SentencePair, batch_idx: int) -> None:
        vector = self.encode(batch.source).vector
        self._nats_and_tokens += torch.stack(self.decoder.loss(vector, batch.target.ids)).double()
        limit = 2 * int(batch.source.lengths.max()) + 10
        produced = self.decoder.greedy(vector, BEGIN, END, limit)
        rows = self.data.dev_rows(batch_idx)
        self._hypotheses.update(zip(rows.tolist(), self.data.subwords.decode(produced), strict=True))

    def on_validation_epoch_end(self) -> None:
        nats, tokens = self.all_gather(self._nats_and_tokens).reshape(-1, 2).sum(0).tolist()
        self.log_score("val/loss", nats / tokens)
        self.log_score("val/perplexity", math.exp(min(20.0, nats / tokens)))
        self.log_score("val/bleu", self._bleu(), prog_bar=True)

    def _bleu(self) -> float:
        hypotheses = self._hypotheses
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            parts: list[dict[int, str]] = [{} for _ in range(torch.distributed.get_world_size())]
            torch.distributed.all_gather_object(parts, hypotheses)
            hypotheses = {row: text for part in parts for row, text in part.items()}
        references = self.data.dev_targets()
        rows = sorted(hypotheses)
        return bleu([hypotheses[row] for row in rows], [references[row] for row in rows])


def bleu(hypotheses: list[str], references: list[str]) -> float:
    """BLEU in percent on tokenised text, as multi-bleu.perl counts it: four orders, no smoothing."""
    return sacrebleu.corpus_bleu(hypotheses, [references], tokenize="none", smooth_method="none", force=True).score
