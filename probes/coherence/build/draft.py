"""What a build makes: suites, and what it left out."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np

from probes.coherence.suite_file import Item, TestSuite

REFERENCE = "Beyer et al. 2021, Is Incoherence Surprising?"


class DraftPair(NamedTuple):
    """One item before it has a number."""

    source: str
    texts: tuple[tuple[str, ...], ...]  # (C, R)
    twins: str = ""  # items of the same name exchange what differs; empty: it has no twin


class Draft(NamedTuple):
    """Suites that one phenomenon gives, how many candidates were left out and how many changed, by reason."""

    suites: list[TestSuite]
    excluded: Counter[str]
    changed: Mapping[str, int] = {}


def draw_items(suite: TestSuite, items: int | None, seed: int) -> TestSuite:
    """At most `items` of a suite, twins together, in their order and with new numbers; None: all."""
    if items is None or items >= len(suite.items):
        return suite
    groups: dict[str | int, list[int]] = {}
    for i, item in enumerate(suite.items):
        groups.setdefault(item.twins or i, []).append(i)
    names, chosen = list(groups), list[int]()
    for i in np.random.default_rng(seed).permutation(len(names)):
        if len(chosen) + len(groups[names[i]]) <= items:
            chosen += groups[names[i]]
    return suite._replace(items=tuple(suite.items[i]._replace(number=n) for n, i in enumerate(sorted(chosen), 1)))


def suite_of_pairs(
    name: str, regions: Sequence[str], conditions: Sequence[str], scored: int, pairs: Iterable[DraftPair], comment: str
) -> TestSuite:
    """A suite with the mean bits of a token as its metric, as in the paper (section 3).

    In the `scored` region, from 1, the first condition is less surprising than each other one.
    """
    first, *rest = conditions
    predictions = (f"({scored};%{first}%) < ({scored};%{other}%)" for other in rest)
    items = tuple(Item(number, pair.texts, pair.source, pair.twins) for number, pair in enumerate(pairs, 1))
    meta = {"reference": REFERENCE, "comment": comment}
    return TestSuite(name, "mean", tuple(regions), tuple(conditions), tuple(predictions), items, meta)


def item_generator(seed: int, source: str) -> np.random.Generator:
    """Random numbers of one item: they do not depend on which other items there are."""
    return np.random.default_rng([seed, crc32(source.encode())])


def single_spaced(text: str) -> str:
    """The text with single spaces, as a region has them."""
    return " ".join(text.split())


FINAL_MARKS = tuple(".!?…\"'”’)")
SEPARATE_MARK = re.compile(r"\s[.,!?;]")  # a mark that is a token by itself


def with_final_mark(text: str, tokenized: bool = False) -> str:
    """The sentence or turn with a full stop where it has no final mark, apart from its words where its marks are."""
    if not text or text.endswith(FINAL_MARKS):
        return text
    return f"{text} ." if tokenized or SEPARATE_MARK.search(text) else f"{text}."
