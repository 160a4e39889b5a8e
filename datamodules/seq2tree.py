"""Sentences and their linearised trees (Seq2Tree): corpus to cached ids to batches."""

from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import Path

from datamodules.arrays import save_ragged
from datamodules.base import SPLITS, SkipCountsBySplit, cached_lines, write_examples, write_words
from datamodules.corpus import Corpus, Split
from datamodules.seq2seq import SourceTarget
from datamodules.text.subwords import BEGIN, END
from datamodules.text.vocabulary import Vocabulary
from datamodules.trees.linearize import linearize
from datamodules.trees.penn import corpus_texts, parse_bracketed, readable_trees

MARKS = ("<s>", "</s>")  # rows BEGIN and END


class SentenceTrees(SourceTarget):
    """The words of trees and their linearised trees, over a small vocabulary of brackets and tags.

    Sentences of more than `max_words` words are counted and left out.
    """

    name = "trees"

    @cached_property
    def symbols(self) -> Vocabulary:
        return Vocabulary.load(self.folder / "symbols.txt")

    @property
    def target_size(self) -> int:
        return len(self.symbols)

    def write(self, work: Path, corpus: Corpus, max_words: int) -> SkipCountsBySplit:
        limits = {"source": max_words, "target": None}
        skipped = write_examples(work, f"{corpus.name} trees", partial(_pairs, corpus), limits, corpus.excluded)
        write_words(work, ("source",))
        counted = Vocabulary.count(cached_lines(work / "train.target.txt"))
        symbols = Vocabulary([*MARKS, *counted.words[BEGIN:]])
        symbols.save(work / "symbols.txt")
        for split in SPLITS:
            rows = ([BEGIN, *symbols.rows(line), END] for line in cached_lines(work / f"{split}.target.txt"))
            save_ragged(work / f"{split}.target", rows)
        return skipped

    def symbols_of(self, rows: list[int]) -> list[str]:
        """The symbols of a predicted or gold sequence, without sentence marks."""
        return [self.symbols.words[row] for row in rows if row not in (BEGIN, END)]

    def sentence_text(self, field: str, ids: list[int]) -> str:
        return " ".join(self.symbols_of(ids)) if field == "target" else super().sentence_text(field, ids)


def _pairs(corpus: Corpus, split: Split) -> Iterator[tuple[str, str]]:
    for tree in readable_trees(map(parse_bracketed, corpus_texts(corpus.trees(split)))):
        yield " ".join(tree.words()), " ".join(linearize(tree))
