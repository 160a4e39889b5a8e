"""Premise and hypothesis pairs (NLI): corpus to cached ids to batches."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from datamodules.base import SPLITS, CachedData, SkipCountsBySplit, cached_lines, write_examples
from datamodules.batches import LabelledPair
from datamodules.corpus import LABELS, Corpus


class InferencePairs(CachedData):
    """Premises, hypotheses and labels. Leaves out pairs with an empty side or a side of over `max_words` words."""

    name = "inference"
    sources = sides = ("premise", "hypothesis")

    def write(self, work: Path, corpus: Corpus, max_words: int) -> SkipCountsBySplit:
        limits = {"premise": max_words, "hypothesis": max_words, "label": None}
        name = "premise-hypothesis pairs"
        skipped = write_examples(work, corpus, name, corpus.inference, limits, self.sources)
        for split in SPLITS:
            labels = [LABELS.index(label) for label in cached_lines(work / f"{split}.label.txt")]
            np.save(work / f"{split}.labels.npy", np.array(labels, dtype=np.int64))
        return skipped

    def labels(self, split: str) -> np.ndarray:
        """(N,) int64, index into LABELS."""
        return np.load(self.folder / f"{split}.labels.npy")

    def _collate(self, split: str) -> Callable[[np.ndarray], LabelledPair]:
        labels = torch.from_numpy(self.labels(split))

        def collate(rows: np.ndarray) -> LabelledPair:
            premise, hypothesis = (self.words(split, side, rows) for side in self.sources)
            return LabelledPair(premise, hypothesis, labels[rows])

        return collate
