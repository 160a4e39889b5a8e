"""Single sentences, for objectives that need nothing else: corpus to cached ids to batches."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from datamodules.base import CachedData, Limits, SkipCountsBySplit, write_examples
from datamodules.batches import SingleSentences
from datamodules.corpus import Corpus


class PlainSentences(CachedData):
    """The sentences of a corpus as word ids. Leaves out empty ones and those of over `max_words` words."""

    name = "sentences"

    def write(self, work: Path, corpus: Corpus, max_words: int) -> SkipCountsBySplit:
        limits: Limits = {"source": max_words}
        return write_examples(work, corpus, "sentences", lambda split: zip(corpus.sentences(split)), limits)

    def _collate(self, split: str) -> Callable[[np.ndarray], SingleSentences]:
        return lambda rows: SingleSentences(self.words(split, "source", rows))
