"""Single sentences, for objectives that need nothing else: corpus to cached ids to batches."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from torch.utils.data import DataLoader

from datamodules.base import SPLITS, CachedData, write_sides, write_words
from datamodules.batches import SingleSentences
from datamodules.corpus import Corpus, made_of
from encoder_lab.storage.code import code_of
from encoder_lab.storage.content import key_of
from encoder_lab.storage.files import build_once


class PlainSentences(CachedData):
    """The sentences of a corpus as word ids. Leaves out empty ones and those of over `max_words` words."""

    def __init__(
        self,
        corpus: Corpus,
        cache: Path,
        seed: int,
        batch_size: int | None = None,
        batch_tokens: int | None = None,
        max_words: int = 100,
    ) -> None:
        key = key_of(code_of(type(self)), made_of(corpus), max_words)
        folder = cache / f"sentences-{corpus.name}-{key}"
        build_once(folder, lambda work: _build(work, corpus, max_words))
        super().__init__(folder, batch_size, seed, batch_tokens)

    def train_dataloader(self) -> DataLoader:
        return self.shuffled([self.lengths("train", "source")], self._collate("train"))

    def val_dataloader(self) -> DataLoader:
        return self.by_length(self.lengths(self.validated, "source"), self._collate(self.validated))

    def _collate(self, split: str) -> Callable[[np.ndarray], SingleSentences]:
        return lambda rows: SingleSentences(self.words(split, "source", rows))


def _build(work: Path, corpus: Corpus, max_words: int) -> None:
    limits: dict[str, int | None] = {"source": max_words}
    skipped = {}
    for split in SPLITS:
        sentences = ((sentence,) for sentence in corpus.sentences(split))
        skipped[split] = write_sides(work, split, f"{corpus.name} sentences", sentences, limits, corpus.excluded)
    write_words(work, ("source",))
    (work / "skipped.json").write_text(json.dumps(skipped))
