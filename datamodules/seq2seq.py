"""Pairs of sentences for sequence-to-sequence training: corpus to cached ids to batches."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from datamodules.arrays import save_ragged
from datamodules.base import SPLITS, CachedData, SkipCountsBySplit, cached_lines, write_examples
from datamodules.batches import SentencePair
from datamodules.corpus import Corpus, Document, Split
from datamodules.samplers import pad
from datamodules.text.subwords import Subwords, without_word_marks
from encoder_lab.errors import InputError
from encoder_lab.settings.types import BatchSize, BatchTokens, Count, MaxWords

CHUNK_SYMBOLS = 1 << 20  # counted at a time; numpy copies them to int64


class SourceTarget(CachedData):
    """A datamodule of sentences and the sequence that a decoder must produce for each."""

    sides = ("source", "target")

    @property
    def target_size(self) -> int:
        """Target symbols, including the sentence marks."""
        raise NotImplementedError

    def target_counts(self) -> np.ndarray:
        """How often each symbol occurs in the training targets, (target_size,)."""
        ids = self.ids("train", "target").ids
        counts = np.zeros(self.target_size, dtype=np.int64)
        for first in range(0, len(ids), CHUNK_SYMBOLS):
            counts += np.bincount(ids[first : first + CHUNK_SYMBOLS], minlength=self.target_size)
        return counts

    def _collate(self, split: str) -> Callable[[np.ndarray], SentencePair]:
        target = self.ids(split, "target")
        return lambda rows: SentencePair(self.words(split, "source", rows), pad(target, rows), rows)


class TextPairs(SourceTarget):
    """Sentences and their targets: a translation ("fr"), the sentence itself ("same"), or the next one ("next").

    The corpus is read once; words, subword codes and ids are cached under `cache` and memory-mapped. Pairs with an
    empty side, or a side of more than `max_words` words, are counted and left out.
    """

    name = "pairs"

    def __init__(
        self,
        corpus: Corpus,
        target: Annotated[
            str,
            Field(title="same, next or a language (of nmt, corpus.target_language=)", description="what is predicted"),
        ],
        cache: Path,
        seed: int,
        codes: Annotated[Count, "maximum number of BPE codes; at most one per five training pairs, or 1,000"] = 40_000,
        batch_size: BatchSize = None,
        batch_tokens: BatchTokens = None,
        max_words: MaxWords = 100,
    ) -> None:
        super().__init__(corpus, cache, seed, batch_size, batch_tokens, max_words, target, codes)
        self.subwords = Subwords.load(self.folder / "subwords.model")

    @property
    def target_size(self) -> int:
        return self.subwords.size

    def write(self, work: Path, corpus: Corpus, max_words: int, target: str, codes: int) -> SkipCountsBySplit:
        name, examples = f"{corpus.source_language}-{target}", partial(_pairs, corpus, target)
        skipped = write_examples(work, corpus, name, examples, {"source": max_words, "target": max_words})
        pairs = sum(1 for _ in cached_lines(work / "train.target.txt"))
        size = min(codes, max(1000, pairs // 5))
        lines, place = cached_lines(work / "train.target.txt"), f"{corpus.place('target')} in {target}"
        subwords = Subwords.train(lines, work / "subwords.model", size, place)
        for split in SPLITS:
            save_ragged(work / f"{split}.target", subwords.encode_all(cached_lines(work / f"{split}.target.txt")))
        return skipped

    def validation_targets(self) -> list[str]:
        """The tokenised references of the validation split, in corpus order."""
        return list(cached_lines(self.folder / f"{self.validation_split}.target.txt"))

    def sentence_text(self, field: str, ids: list[int]) -> str:
        return self.subwords.decode([ids])[0] if field == "target" else super().sentence_text(field, ids)


def _pairs(corpus: Corpus, target: str, split: Split) -> Iterator[tuple[str, str]]:
    pairs: Iterator[tuple[str, str]]
    if target == "same":
        pairs = ((sentence, sentence) for sentence in corpus.sentences(split))
    elif target == corpus.source_language:
        raise InputError(f"datamodule.target={target} is the source language: give another, or objective=autoencoder")
    elif target == "next":
        pairs = next_sentence_pairs(corpus.documents(split), split)
    else:
        pairs = corpus.parallel(split, target)
    return ((source, without_word_marks(other)) for source, other in pairs)


def next_sentence_pairs(documents: Iterable[Document], split: Split = "train") -> Iterator[tuple[str, str]]:
    """Each sentence with the one after it in the same document. Raises InputError where none of train has one."""
    alone = False  # whether all documents so far have one sentence
    for number, document in enumerate(documents):
        pairs = list(pairwise(document.sentences()))
        alone = not pairs and (alone or not number)
        yield from pairs
    if alone and split == "train":
        remedy = "put each sentence of a document on a line of its own, and blank lines between documents alone"
        raise InputError(f"no sentence has one after it, as every document has one sentence; {remedy}")
