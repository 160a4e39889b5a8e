"""Seq2Tree: predict the linearised parse tree of the sentence (Vinyals et al. 2015)."""

from collections.abc import Mapping

import torch
from torch import Tensor

from datamodules.batches import SentencePair
from datamodules.seq2tree import SentenceTrees, brackets
from datamodules.text.subwords import BEGIN, END
from objectives.decoder import Memory
from objectives.metrics import ratio
from objectives.sequence import SequenceObjective

TREE_COUNTS = ("trees", "exact_match", "well_formed", "matched", "produced", "gold")  # what is counted of decoded trees
MAX_SYMBOLS_PER_WORD = 4  # limit of decoding; treebanks have 2.7 to 2.9 on average


class Seq2Tree(SequenceObjective):
    """Predict brackets and part-of-speech tags, symbol by symbol.

    Score: accuracy per symbol, given the gold symbols before it. Also reported for greedy decoding, in percent: exact
    match, the share of well-formed trees, and labelled bracket F1 over these (conventions of EVALB).
    Source: Conneau et al. 2018, section 3.2, Table 1, appendix.
    """

    score = "val/accuracy"
    no_likelihood = "its decoder writes the tree of a sentence, no words"
    data: SentenceTrees

    def examine_decoder(
        self, batch: SentencePair, vector: Tensor, memory: Memory | None, decode: bool
    ) -> dict[str, Tensor]:
        targets = batch.target.ids
        hidden, _ = self.decoder(vector, targets[:, :-1], memory=memory)
        guessed, gold = self.decoder.output(hidden).argmax(2), targets[:, 1:]
        counts = {"right": ((guessed == gold) & (gold != 0)).sum(1)}
        if not decode:
            return counts
        limits = MAX_SYMBOLS_PER_WORD * batch.source.lengths + 10
        produced = self.decoder.greedy(vector, BEGIN, END, limits, memory)
        references = zip(targets.tolist(), batch.target.lengths.tolist(), strict=True)
        trees = [
            compare_trees(self.data.symbols_of(row), self.data.symbols_of(gold[:length]))
            for row, (gold, length) in zip(produced, references, strict=True)
        ]
        return counts | dict(zip(TREE_COUNTS, torch.tensor(trees, dtype=torch.double).T, strict=True))

    def scores_of(self, sums: Mapping[str, float]) -> dict[str, float]:
        scores = super().scores_of(sums) | {"val/accuracy": 100 * ratio(sums["right"], sums["tokens"])}
        if TREE_COUNTS[0] not in sums:
            return scores
        trees, f = sums["trees"], f1(sums["matched"], sums["produced"], sums["gold"])
        shares = {f"val/{name}": 100 * ratio(sums[name], trees) for name in ("exact_match", "well_formed")}
        return scores | shares | {"val/bracket_f1": 100 * f}


def compare_trees(produced: list[str], gold: list[str]) -> tuple[int, ...]:
    """The TREE_COUNTS of two trees given as symbols; the last three count brackets of two well-formed trees."""
    predicted, expected = brackets(produced), brackets(gold)
    if predicted is None or expected is None:
        return 1, produced == gold, 0, 0, 0, 0
    return 1, produced == gold, 1, sum((predicted & expected).values()), sum(predicted.values()), sum(expected.values())


def f1(matched: float, produced: float, gold: float) -> float:
    """Harmonic mean of precision matched/produced and recall matched/gold."""
    return ratio(2 * matched, produced + gold)
