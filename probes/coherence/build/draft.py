"""What a build makes: suites, and what it left out."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np

from probes.coherence.suite_file import Item, TestSuite

REFERENCE = "Beyer et al. 2021, Is Incoherence Surprising?"


class Draft(NamedTuple):
    """Suites that one phenomenon gives, and how many candidates were left out, by reason."""

    suites: list[TestSuite]
    excluded: Counter[str]


class DraftPair(NamedTuple):
    """One item before it has a number."""

    source: str
    texts: tuple[tuple[str, ...], ...]  # (C, R)


def suite_of_pairs(
    name: str,
    regions: Sequence[str],
    conditions: Sequence[str],
    predictions: Iterable[str],
    pairs: Iterable[DraftPair],
    comment: str,
) -> TestSuite:
    """A suite with the mean bits of a token as its metric, as in the paper (section 3)."""
    items = tuple(Item(number, pair.texts, pair.source) for number, pair in enumerate(pairs, 1))
    meta = {"reference": REFERENCE, "comment": comment}
    return TestSuite(name, "mean", tuple(regions), tuple(conditions), tuple(predictions), items, meta)


def generator(seed: int, source: str) -> np.random.Generator:
    """Random numbers of one item: they do not depend on which other items there are."""
    return np.random.default_rng([seed, crc32(source.encode())])


def clean(text: str) -> str:
    """The text with single spaces, as a region has them."""
    return " ".join(text.split())


def capital(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]
