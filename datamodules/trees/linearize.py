"""Trees as symbol sequences with typed closing brackets, words dropped (Conneau et al. 2018, Table 1).

(ROOT (S (NP (NN rain)) (VP (VBZ falls)) (. .)))   becomes   (ROOT (S (NP NN )NP (VP VBZ )VP . )S )ROOT
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from datamodules.trees.penn import Tree

PUNCTUATION_TAGS = {",", ":", "``", "''", "."}  # tags that EVALB's COLLINS.prm deletes
ROOT_LABELS = {"ROOT", "TOP", "S1"}  # labels that EVALB ignores
EQUAL_LABELS = {"PRT": "ADVP"}  # labels that EVALB treats as equal


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
