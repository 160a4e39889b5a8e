"""Sentences and their linearised trees (Seq2Tree): corpus to cached ids to batches.

Trees are symbol sequences with typed closing brackets, words dropped (Conneau et al. 2018, Table 1).

(ROOT (S (NP (NN rain)) (VP (VBZ falls)) (. .)))   becomes   (ROOT (S (NP NN )NP (VP VBZ )VP . )S )ROOT
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

from datamodules.arrays import save_ragged
from datamodules.base import SPLITS, SkipCountsBySplit, cached_lines, write_examples
from datamodules.corpus import Corpus, Split
from datamodules.seq2seq import SourceTarget
from datamodules.text.subwords import BEGIN, END
from datamodules.text.vocabulary import Vocabulary
from datamodules.trees.penn import Tree, corpus_texts, parse_bracketed, readable_trees

MARKS = ("<s>", "</s>")  # rows BEGIN and END
PUNCTUATION_TAGS = {",", ":", "``", "''", "."}  # tags that EVALB's COLLINS.prm deletes
ROOT_LABELS = {"ROOT", "TOP", "S1"}  # labels that EVALB ignores
EQUAL_LABELS = {"PRT": "ADVP"}  # labels that EVALB treats as equal


class SentenceTrees(SourceTarget):
    """Words of trees and their linearised trees. Sentences of more than `max_words` words are counted and left out."""

    name = "trees"

    @cached_property
    def symbols(self) -> Vocabulary:
        return Vocabulary.load(self.folder / "symbols.txt")

    @property
    def target_size(self) -> int:
        return len(self.symbols)

    def write(self, work: Path, corpus: Corpus, max_words: int) -> SkipCountsBySplit:
        limits = {"source": max_words, "target": None}
        skipped = write_examples(work, corpus, "trees", partial(_pairs, corpus), limits)
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


class Bracket(NamedTuple):
    """A labelled constituent over the words from `start` to before `end`, punctuation not counted."""

    label: str
    start: int
    end: int


def linearize(tree: Tree) -> list[str]:
    """The symbols of a tree: opening brackets, part-of-speech tags, typed closing brackets."""
    walk = tree.walk()
    return [node.label if node.word is not None else f"{')' if ends else '('}{node.label}" for node, ends in walk]


def brackets(symbols: Iterable[str]) -> Counter[Bracket] | None:
    """The labelled brackets of a linearised tree as EVALB counts them, or None if it is not well-formed.

    Well-formed: one constituent spans everything, each closing bracket closes the last open one of its
    label, and no constituent is empty. Not counted: the root, punctuation, and constituents of punctuation only.
    """
    counts: Counter[Bracket] = Counter()
    unclosed: list[tuple[str, int, int]] = []  # label, words before it, tags before it
    words = tags = trees = 0
    for symbol in symbols:
        if symbol.startswith("("):
            trees += not unclosed
            unclosed.append((symbol[1:], words, tags))
        elif symbol.startswith(")"):
            label, start, tags_before = unclosed.pop() if unclosed else ("", 0, 0)
            if label != symbol[1:] or not label or tags == tags_before:
                return None
            if label not in ROOT_LABELS and words > start:
                counts[Bracket(EQUAL_LABELS.get(label, label), start, words)] += 1
        elif not unclosed:
            return None
        else:
            tags += 1
            words += symbol not in PUNCTUATION_TAGS
    return counts if trees == 1 and not unclosed else None
