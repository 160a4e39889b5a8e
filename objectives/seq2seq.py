"""Sequence to sequence: translation (NMT) and AutoEncoder are one module with different data."""

from collections.abc import Mapping, Sequence

import torch
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.helpers import extract_all_word_ngrams
from torch import Tensor

from datamodules.batches import SentencePair
from datamodules.seq2seq import TextPairs
from datamodules.text.subwords import BEGIN, END
from objectives.decoder import Memory
from objectives.sequence import SequenceObjective

ORDERS = range(1, 5)  # of n-grams
COUNT_NAMES = ("hypothesis", "reference", *(f"{prefix}_{n}" for prefix in ("right", "all") for n in ORDERS))


class Seq2Seq(SequenceObjective):
    """Predict the target sentence, subword by subword.

    Score: BLEU of greedy translations of the dev sentences, tokenised, unsmoothed as multi-bleu.perl.
    """

    score = "val/bleu"
    data: TextPairs
    no_likelihood = "its decoder writes a translation or a copy of a sentence, not the sentence after it"

    def examine_decoder(
        self, batch: SentencePair, vector: Tensor, memory: Memory | None, decode: bool
    ) -> dict[str, Tensor]:
        if not decode:
            return {}
        limits = 2 * batch.source.lengths + 10
        texts = self.data.subwords.decode(self.decoder.greedy(vector, BEGIN, END, limits, memory))
        assert batch.rows is not None
        references = self.data.validation_targets()
        counts = [ngram_counts(text, references[row]) for text, row in zip(texts, batch.rows, strict=True)]
        return dict(zip(COUNT_NAMES, torch.tensor(counts, dtype=torch.double).T, strict=True))

    def scores_of(self, sums: Mapping[str, float]) -> dict[str, float]:
        counted = {"val/bleu": bleu([sums[name] for name in COUNT_NAMES])} if COUNT_NAMES[0] in sums else {}
        return super().scores_of(sums) | counted


def ngram_counts(hypothesis: str, reference: str) -> list[int]:
    """BLEU's counts of two tokenised texts (COUNT_NAMES): words of both, common n-grams, those of the hypothesis."""
    produced, hypothesis_length = extract_all_word_ngrams(hypothesis, 1, 4)
    expected, reference_length = extract_all_word_ngrams(reference, 1, 4)
    counters = (produced & expected, produced)
    counts = [sum(count for gram, count in ngrams.items() if len(gram) == n) for ngrams in counters for n in ORDERS]
    return [hypothesis_length, reference_length, *counts]


def bleu(counts: Sequence[float]) -> float:
    """BLEU in percent of summed `ngram_counts`, as multi-bleu.perl counts it: four orders, no smoothing."""
    hypothesis_length, reference_length, *ngrams = map(int, counts)
    return BLEU.compute_bleu(ngrams[:4], ngrams[4:], hypothesis_length, reference_length, smooth_method="none").score
