"""Single sentences, for objectives that need nothing else: corpus to cached ids to batches."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from datamodules.base import CachedData, SkipCountsBySplit, write_examples, write_words
from datamodules.batches import SingleSentences
from datamodules.corpus import Corpus


class PlainSentences(CachedData):
    """The sentences of a corpus as word ids. Leaves out empty ones and those of over `max_words` words."""

    name = "sentences"

    def write(self, work: Path, corpus: Corpus, max_words: int) -> SkipCountsBySplit:
        limits: dict[str, int | None] = {"source": max_words}
        name = f"{corpus.name} sentences"
        skipped = write_examples(work, name, lambda split: zip(corpus.sentences(split)), limits, corpus.excluded)
        write_words(work, ("source",))
        return skipped

    def _collate(self, split: str) -> Callable[[np.ndarray], SingleSentences]:
        return lambda rows: SingleSentences(self.words(split, "source", rows))
