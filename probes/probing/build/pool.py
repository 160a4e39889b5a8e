"""The sentences that all tasks draw from: each in one split, in one order of preference.

The order is that of a hash of the sentence: random, but the same on every machine and for all tasks. So tasks share as
many sentences as their controls allow, and an encoder has to encode fewer.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from random import Random
from typing import NamedTuple

import numpy as np

from probes.probing.build.analysis import MAX_WORDS, Analysis, Target
from probes.probing.build.tags import TagSet

TARGETS = ("object", "subject", "tense")  # properties that depend on one word form
CLASS_RESERVE = 3  # sentences in the pool per sentence that a class may need
TASK_RESERVE = 8  # sentences in the pool per sentence that a task needs, of any class
MAX_FORM_SHARES = (0.1, 0.2, 0.4, 1.0)  # largest share of one word form in its class in dev or test; tried in turn
DEPTH_COUNT = 64
RANK_BYTES = 12  # bytes


class Sizes(NamedTuple):
    """Sentences requested per split."""

    train: int
    dev: int
    test: int


TEST_SPLIT = Sizes._fields.index("test")


class WholeTest(Sizes):
    """Sizes where the test split is taken as it is, without balancing; `test`: its number of sentences."""

    __slots__ = ()


class Pool(NamedTuple):
    """Analysed sentences: train, dev and test, each in order of preference; and counts over all text read."""

    splits: tuple[list[Analysis], list[Analysis], list[Analysis]]
    form_splits: dict[str, dict[str, int]]  # target, word form: the split of the form
    words: Counter[str]  # how often each word occurs
    shape: np.ndarray  # (MAX_WORDS + 1, DEPTH_COUNT) how many sentences have this length and depth
    seed: int
    tags: TagSet  # the tag set of the sentences; `capitals` with the words that mostly have one inside a sentence

    def all(self) -> Iterator[Analysis]:
        return (s for split in self.splits for s in split)

    def by_class(self, label: Callable[[Analysis], str | None]) -> list[dict[str, list[str]]]:
        """For each split its sentences by their label, in order of preference; without those that have none."""
        splits: list[dict[str, list[str]]] = [{} for _ in self.splits]
        for classes, split in zip(splits, self.splits, strict=True):
            for s in split:
                if name := label(s):
                    classes.setdefault(name, []).append(s.sentence)
        return splits

    def random(self, sentence: str, task: str) -> Random:
        """Random numbers of one task for one sentence; they do not depend on other sentences."""
        return Random(f"{self.seed} {task} {sentence}")


def gather_pool(analyses: Iterable[Analysis], sizes: Sizes, seed: int, tags: TagSet) -> Pool:
    """Read all analyses once.

    Memory is bounded by `sizes`. Kept are the first sentences of each class in order of preference, CLASS_RESERVE times
    as many as a task could need; of all sentences TASK_RESERVE times as many as a task needs; and counts of words.
    """
    by_rank: dict[bytes, Analysis] = {}
    pruned = False
    words: Counter[str] = Counter()
    shape = np.zeros((MAX_WORDS + 1, DEPTH_COUNT), dtype=np.int64)
    limit = 20 * sum(sizes)
    key = str(seed).encode()
    for analysis in analyses:
        tokens = analysis.words
        words.update(tokens)
        shape[len(tokens), min(analysis.depth, DEPTH_COUNT - 1)] += 1
        by_rank.setdefault(_rank(analysis, key), analysis)
        if len(by_rank) > limit:
            by_rank, pruned = _prune(by_rank, sizes), True
            limit = max(limit, 3 * len(by_rank) // 2)
    if pruned:  # otherwise the sentences since the last pruning would depend on the order of the text
        by_rank = _prune(by_rank, sizes)
    by_split = sorted(by_rank.items(), key=lambda item: (item[1].split or 0, item[0]))
    parses = {rank[:RANK_BYTES]: analysis for rank, analysis in by_split}  # one per sentence; that of the last split
    ordered = [(analysis, int.from_bytes(rank[-4:], "big") / 2**32) for rank, analysis in sorted(parses.items())]
    assign = _assign_forms if all(s.split is None for s, _ in ordered) else assign_forms_in_splits
    form_splits = {
        target: assign([(word, s.split or 0) for s, _ in ordered if (word := getattr(s, target))], sizes)
        for target in TARGETS
    }
    splits = _assign_sentences(ordered, form_splits, sizes)
    inside = Counter(word for split in splits for s in split for word in s.words[1:])
    capitals = {word for word in inside if word[:1].isupper() and inside[word] > inside[word.lower()]}
    return Pool(splits, form_splits, words, shape, seed, tags._replace(capitals=tags.capitals | capitals))


def _rank(analysis: Analysis, key: bytes) -> bytes:
    """The rank of a sentence in the order of preference, followed by the rank of this parse."""
    sentence = hashlib.blake2b(analysis.sentence.encode(), digest_size=RANK_BYTES, key=key).digest()
    suffix = repr((analysis.features, analysis.split)) if analysis.features or analysis.split is not None else ""
    texts = f"{analysis!r}{suffix}", repr((analysis.classes, analysis.id))
    return sentence + b"".join(hashlib.blake2b(text.encode(), digest_size=4).digest() for text in texts)


def _assign_sentences(
    ordered: Sequence[tuple[Analysis, float]], form_splits: Mapping[str, Mapping[str, int]], sizes: Sizes
) -> tuple[list[Analysis], list[Analysis], list[Analysis]]:
    """Assign each sentence to the split of one of its target forms; at random if it has no target.

    A sentence of a treebank with splits of its own stays there. If its targets are in different splits, it goes to the
    split where its class is scarcest and not yet full.
    """
    counts = Counter((target, word.label) for s, _ in ordered for target in TARGETS if (word := getattr(s, target)))
    scarcity = {label: min(1.0, sum(sizes) / 2 / count) for label, count in counts.items()}
    shares = list(accumulate(size / sum(sizes) for size in sizes))
    splits: tuple[list[Analysis], list[Analysis], list[Analysis]] = ([], [], [])
    assigned: Counter[tuple[int, str, str]] = Counter()
    for s, chance in ordered:
        options = [(form_splits[t][word.form], t, word.label) for t in TARGETS if (word := getattr(s, t))]
        need: dict[int, float] = {}
        for split, *label in options:
            full = 2 * assigned[split, label[0], label[1]] / sizes[split]
            need[split] = need.get(split, 0.0) + scarcity[label[0], label[1]] * max(0.0, 1 - full)
        by_chance = min(sum(chance >= share for share in shares), len(shares) - 1)
        split = max(need, key=need.__getitem__) if need else by_chance
        split = split if s.split is None else s.split
        assigned.update(option for option in options if option[0] == split)
        splits[split].append(s)
    return splits


def _prune(by_rank: dict[bytes, Analysis], sizes: Sizes) -> dict[bytes, Analysis]:
    counts: Counter[object] = Counter()
    chosen = {}
    for rank in sorted(by_rank):
        analysis = by_rank[rank]
        counts[analysis.split] += 1
        is_needed = counts[analysis.split] <= TASK_RESERVE * sum(sizes)
        for label, classes in _classes_of(analysis):
            counts[analysis.split, label] += 1
            is_needed = is_needed or counts[analysis.split, label] <= CLASS_RESERVE * sum(sizes) / classes
        if is_needed:
            chosen[rank] = analysis
    return chosen


def _classes_of(s: Analysis) -> Iterator[tuple[object, int]]:
    """The classes of a sentence in all tasks, each with the number of classes of the task."""
    yield ("length", s.length // 4), 6
    yield ("depth", s.depth, s.length), 80
    yield ("top", s.top), 20
    for target in TARGETS:
        if word := getattr(s, target):
            yield (target, word.label), 2
    for feature in (*s.features, *s.classes):
        yield feature, 2
    if s.clauses:
        yield "clauses", 1


def _assign_forms(targets: Iterable[tuple[Target, int]], sizes: Sizes) -> dict[str, int]:
    """Assign each word form to one split, so that every split gets its share of each class.

    The most frequent forms are assigned first, to the split that lacks most of their class. A form that would be too
    large a part of its class in dev or test goes to train; the limit depends on the number of forms.
    """
    forms: dict[str, Counter[str]] = {}
    for target, _ in targets:
        forms.setdefault(target.form, Counter())[target.label] += 1
    totals = sum(forms.values(), Counter[str]())
    quotas = [Counter({label: total * size / sum(sizes) for label, total in totals.items()}) for size in sizes]
    ranked = sorted(forms.items(), key=lambda item: (-item[1].total(), item[0]))
    form_splits: dict[str, int] = {}
    for share in MAX_FORM_SHARES:
        rows = [Counter[str]() for _ in sizes]
        for form, counts in ranked:
            label, count = max(counts.items(), key=lambda item: (item[1], item[0]))
            fits = [split for split, quota in enumerate(quotas) if split == 0 or count <= share * quota[label]]
            form_splits[form] = min(fits, key=lambda split: rows[split][label] / quotas[split][label])
            rows[form_splits[form]] += counts
        if all(row[label] >= 0.8 * quota[label] for row, quota in zip(rows, quotas, strict=True) for label in totals):
            break
    return form_splits


def assign_forms_in_splits(targets: Iterable[tuple[Target, int]], sizes: Sizes) -> dict[str, int]:
    """Assign each word form to one of the splits of a treebank. Its sentences in the other splits are not used.

    A form of one split stays there. The others, the most frequent first, go to the split where their classes grow
    most in proportion, up to the requested size: so no split is left without forms.
    """
    forms: dict[str, list[Counter[str]]] = {}
    for target, split in targets:
        forms.setdefault(target.form, [Counter() for _ in sizes])[split][target.label] += 1
    labels = {label for counts in forms.values() for count in counts for label in count}
    full = [size / len(labels) if labels else 0 for size in sizes]
    filled = [Counter[str]() for _ in sizes]
    form_splits: dict[str, int] = {}

    def growth(counts: Sequence[Counter[str]], split: int) -> float:
        pairs = ((count, filled[split][label]) for label, count in counts[split].items())
        return sum(min(count, max(0.0, full[split] - current)) / (1 + current) for count, current in pairs)

    def priority(item: tuple[str, list[Counter[str]]]) -> tuple[bool, int, str]:
        return sum(map(bool, item[1])) > 1, -sum(count.total() for count in item[1]), item[0]

    for form, counts in sorted(forms.items(), key=priority):
        form_splits[form] = max(range(len(sizes)), key=lambda split: (growth(counts, split), counts[split].total()))
        filled[form_splits[form]] += counts[form_splits[form]]
    return form_splits
