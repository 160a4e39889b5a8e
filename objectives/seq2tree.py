"""Seq2Tree: predict the linearised parse tree of the sentence (Vinyals et al. 2015)."""

from torch import Tensor

from datamodules.batches import SentencePair
from datamodules.seq2tree import SentenceTrees
from datamodules.text.subwords import BEGIN, END
from datamodules.trees.linearize import brackets
from objectives.attention import Memory
from objectives.metrics import MetricSums, ratio
from objectives.sequence import SequenceObjective

SYMBOLS_PER_WORD = 4  # limit of decoding; treebanks have 2.7 to 2.9 on average


class Seq2Tree(SequenceObjective):
    """Predict brackets and part-of-speech tags, symbol by symbol.

    Score: accuracy per symbol, given the gold symbols before it. Also reported for greedy decoding, in percent: exact
    match, the share of well-formed trees, and labelled bracket F1 over these (conventions of EVALB).
    Source: Conneau et al. 2018, section 3.2, Table 1, appendix.
    """

    score = "val/accuracy"
    no_likelihood = "its decoder writes the tree of a sentence, no words"
    data: SentenceTrees

    def on_validation_epoch_start(self) -> None:
        super().on_validation_epoch_start()
        self._trees = MetricSums("correct", "symbols", "exact", "well_formed", "trees", "matched", "produced", "gold")

    def examine(self, batch: SentencePair, batch_idx: int, vector: Tensor, memory: Memory | None) -> None:
        targets = batch.target.ids
        hidden, _ = self.decoder(vector, targets[:, :-1], memory=memory)
        guessed, gold, real = self.decoder.output(hidden).argmax(2), targets[:, 1:], targets[:, 1:] != 0
        self._trees.add(correct=((guessed == gold) & real).sum(), symbols=real.sum())
        limits = SYMBOLS_PER_WORD * batch.source.lengths + 10
        produced = self.decoder.greedy(vector, BEGIN, END, limits, memory)
        for row, wanted, length in zip(produced, targets.tolist(), batch.target.lengths.tolist(), strict=True):
            self._compare(self.data.symbols_of(row), self.data.symbols_of(wanted[:length]))

    def _compare(self, produced: list[str], gold: list[str]) -> None:
        self._trees.add(trees=1, exact=produced == gold)
        found, wanted = brackets(produced), brackets(gold)
        if found is not None and wanted is not None:
            matched = sum((found & wanted).values())
            self._trees.add(well_formed=1, matched=matched, produced=sum(found.values()), gold=sum(wanted.values()))

    def on_validation_epoch_end(self) -> None:
        super().on_validation_epoch_end()
        sums = self._trees.totals(self)
        self.log_score("val/accuracy", 100 * ratio(sums["correct"], sums["symbols"]), prog_bar=True)
        self.log_score("val/exact_match", 100 * ratio(sums["exact"], sums["trees"]))
        self.log_score("val/well_formed", 100 * ratio(sums["well_formed"], sums["trees"]))
        self.log_score("val/bracket_f1", 100 * f1(sums["matched"], sums["produced"], sums["gold"]), prog_bar=True)


def f1(matched: float, produced: float, gold: float) -> float:
    """Harmonic mean of precision matched/produced and recall matched/gold."""
    return ratio(2 * matched, produced + gold)
