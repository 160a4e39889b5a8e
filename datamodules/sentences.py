"""Single sentences, for objectives that need nothing else: corpus to cached ids to batches."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from datamodules.base import SPLITS, CachedData, SkippedBySplit, write_sides, write_words
from datamodules.batches import SingleSentences
from datamodules.corpus import Corpus


class PlainSentences(CachedData):
    """The sentences of a corpus as word ids. Leaves out empty ones and those of over `max_words` words."""

    name = "sentences"

    def __init__(
        self,
        corpus: Corpus,
        cache: Path,
        seed: int,
        batch_size: int | None = None,
        batch_tokens: int | None = None,
        max_words: int = 100,
    ) -> None:
        super().__init__(corpus, cache, seed, batch_size, batch_tokens, _build, max_words)

    def _collate(self, split: str) -> Callable[[np.ndarray], SingleSentences]:
        return lambda rows: SingleSentences(self.words(split, "source", rows))


def _build(work: Path, corpus: Corpus, max_words: int) -> SkippedBySplit:
    limits: dict[str, int | None] = {"source": max_words}
    write = partial(write_sides, work, what=f"{corpus.name} sentences", limits=limits, excluded=corpus.excluded)
    skipped = {split: write(split, examples=zip(corpus.sentences(split))) for split in SPLITS}
    write_words(work, ("source",))
    return skipped
