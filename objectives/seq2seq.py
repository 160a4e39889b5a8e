"""Sequence to sequence: translation (NMT) and AutoEncoder are one module with different data."""

import sacrebleu
import torch
from torch import Tensor

from datamodules.batches import SentencePair
from datamodules.seq2seq import TextPairs
from datamodules.text.subwords import BEGIN, END
from objectives.attention import Memory
from objectives.sequence import SequenceObjective


class Seq2Seq(SequenceObjective):
    """Predict the target sentence, subword by subword.

    Score: BLEU of greedy translations of the dev sentences, tokenised, unsmoothed as multi-bleu.perl.
    """

    score = "val/bleu"
    data: TextPairs
    no_likelihood = "its decoder writes a translation or a copy of a sentence, not the sentence after it"

    def on_validation_epoch_start(self) -> None:
        super().on_validation_epoch_start()
        self._hypotheses: dict[int, str] = {}  # row of the dev set -> greedy translation

    def examine(self, batch: SentencePair, batch_idx: int, vector: Tensor, memory: Memory | None) -> None:
        limits = 2 * batch.source.lengths + 10
        produced = self.decoder.greedy(vector, BEGIN, END, limits, memory)
        rows = self.data.dev_rows(batch_idx)
        self._hypotheses.update(zip(rows.tolist(), self.data.subwords.decode(produced), strict=True))

    def on_validation_epoch_end(self) -> None:
        super().on_validation_epoch_end()
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
