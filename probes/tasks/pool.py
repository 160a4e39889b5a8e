"""The sentences that all tasks draw from, each in one split, in one order of preference.

The order is that of a hash of the sentence, so that it is random, the same on every machine, and the same for
all tasks: they share as many sentences as their controls allow, and an encoder reads few.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from random import Random
from typing import NamedTuple

import numpy as np

from probes.tasks.analysis import LONGEST, Analysis, Target

TARGETS = ("object", "subject", "tense")  # the scarcest first: it says where a sentence goes
SPARE = 3  # sentences remembered for each that a class may want
GENERAL = 8  # sentences remembered for each that a task wants, whatever they are
MOST_SHARE = 0.1  # of its class in dev or test that one word form may make up
DEPTHS = 64


class Sizes(NamedTuple):
    """Sentences wanted per split."""

    train: int
    dev: int
    test: int


class Pool(NamedTuple):
    """Analysed sentences: train, dev and test, each in order of preference; and counts over all text read."""

    splits: tuple[list[Analysis], list[Analysis], list[Analysis]]
    homes: dict[str, dict[str, int]]  # target, word form: the split that the form lives in
    words: Counter[str]  # how often each word occurs
    shape: np.ndarray  # (LONGEST + 1, DEPTHS) how many sentences have this length and depth
    seed: int

    def all(self) -> Iterator[Analysis]:
        return (s for split in self.splits for s in split)

    def random(self, sentence: str, task: str) -> Random:
        """The random choices of one task for one sentence, whatever other sentences there are."""
        return Random(f"{self.seed} {task} {sentence}")


def gather(analyses: Iterable[Analysis], sizes: Sizes, seed: int) -> Pool:
    """Read all analyses once.

    Memory is bounded by `sizes`: of each class the first sentences in order of preference are kept, SPARE times as
    many as a task could want of it, and of all sentences GENERAL times as many as a task wants; besides that only
    counts of words.
    """
    kept: dict[bytes, Analysis] = {}
    words: Counter[str] = Counter()
    shape = np.zeros((LONGEST + 1, DEPTHS), dtype=np.int64)
    limit = 20 * sum(sizes)
    key = str(seed).encode()
    for found in analyses:
        tokens = found.words
        words.update(tokens)
        shape[len(tokens), min(found.depth, DEPTHS - 1)] += 1
        kept.setdefault(hashlib.blake2b(found.sentence.encode(), digest_size=12, key=key).digest(), found)
        if len(kept) > limit:
            kept = _prune(kept, sizes)
            limit = max(limit, 3 * len(kept) // 2)
    homes = {target: _homes((getattr(s, target) for s in kept.values()), sizes) for target in TARGETS}
    splits: tuple[list[Analysis], list[Analysis], list[Analysis]] = ([], [], [])
    shares = list(accumulate(size / sum(sizes) for size in sizes))
    for rank in sorted(kept):
        found = kept[rank]
        splits[_home(found, homes, int.from_bytes(rank[-4:], "big") / 2**32, shares)].append(found)
    return Pool(splits, homes, words, shape, seed)


def _prune(kept: dict[bytes, Analysis], sizes: Sizes) -> dict[bytes, Analysis]:
    room: Counter[object] = Counter()
    chosen = {}
    for place, rank in enumerate(sorted(kept)):
        found = kept[rank]
        wanted = place < GENERAL * sum(sizes)
        for kind, classes in _kinds(found):
            room[kind] += 1
            wanted = wanted or room[kind] <= SPARE * sum(sizes) / classes
        if wanted:
            chosen[rank] = found
    return chosen


def _kinds(s: Analysis) -> Iterator[tuple[object, int]]:
    """The classes that a sentence may stand for, and how many classes the task has."""
    yield ("length", s.length // 4), 6
    yield ("depth", s.depth, s.length), 80
    yield ("top", s.top), 20
    for target in TARGETS:
        if found := getattr(s, target):
            yield (target, found.label), 2
    if s.clauses:
        yield "clauses", 1


def _homes(targets: Iterable[Target | None], sizes: Sizes) -> dict[str, int]:
    """Bind each word form to one split, so that every split gets its share of each class.

    The most frequent forms are placed first, where their class is furthest behind; a form that would make up more
    than MOST_SHARE of dev or test goes to train.
    """
    counts = Counter(target for target in targets if target)
    forms: dict[str, Counter[str]] = {}
    totals: Counter[str] = Counter()
    for (label, form), count in counts.items():
        forms.setdefault(form, Counter())[label] += count
        totals[label] += count
    have = [Counter[str]() for _ in sizes]
    homes = {}
    for form, by_label in sorted(forms.items(), key=lambda item: (-item[1].total(), item[0])):
        label, count = max(by_label.items(), key=lambda item: (item[1], item[0]))
        fits = [
            split
            for split, size in enumerate(sizes)
            if split == 0 or count <= MOST_SHARE * totals[label] * size / sum(sizes)
        ]
        homes[form] = min(fits, key=lambda split: have[split][label] / sizes[split])
        have[homes[form]] += by_label
    return homes


def _home(s: Analysis, homes: Mapping[str, Mapping[str, int]], chance: float, shares: list[float]) -> int:
    """The split of a sentence: where its scarcest target's form lives, or by chance if it has none."""
    for target in TARGETS:
        if found := getattr(s, target):
            return homes[target][found.form]
    return next(split for split, share in enumerate(shares) if chance < share or split == len(shares) - 1)
