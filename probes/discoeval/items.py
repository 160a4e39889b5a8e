"""What a discourse task is: items of k texts in three splits, their senses, and the best score that they allow."""

from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np

from probes.task import Items
from probes.vectors import distinct

SPLITS = ("train", "dev", "test")


class DiscourseTask(NamedTuple):
    """One task of DiscoEval (Chen et al. 2019, section 3)."""

    name: str  # as the published toolkit calls it: SParxiv, BSOroc, DCchat, SSPabs, PDTB-E, RST
    group: str  # the column of the paper's Table 2: SP, BSO, DC, SSP, PDTB-E, PDTB-I, RST-DT
    classes: list[str]
    train: Items
    dev: Items
    test: Items

    @property
    def sentences(self) -> list[str]:
        """The distinct texts that a model must encode, in a fixed order."""
        return distinct(text for part in (self.train, self.dev, self.test) for text in part.sentences)


def keys_of(items: Items) -> list[tuple]:
    """A key for each item: the same texts, the same key."""
    columns = ([text if isinstance(text, str) else tuple(text) for text in column] for column in items.texts)
    return list(zip(*columns, strict=True))


def second_measures(predicted: np.ndarray, items: Items) -> dict[str, float]:
    """Of items that have several senses: accuracy where either is right, and the ceiling of the main score."""
    best = ceiling(items)
    if best == 100:
        return {}
    classes = 1 + int(max(items.gold.max(), predicted.max()))
    return {"either sense": either_sense(predicted, items, classes), "ceiling": best}


def senses(items: Items, classes: int) -> np.ndarray:
    """Which classes are right for each item (N, C) bool: an item on several lines has the label of each.

    The PDTB gives some relations two senses; the published files repeat such an item with each label.
    """
    rows = defaultdict(list)
    for row, key in enumerate(keys_of(items)):
        rows[key].append(row)
    right = np.zeros((len(items.gold), classes), dtype=bool)
    for same in map(np.array, rows.values()):
        right[np.ix_(same, items.gold[same])] = True
    return right


def ceiling(items: Items) -> float:
    """The best accuracy in percent that anything which sees the texts alone can reach: one answer to each text."""
    counts: dict[tuple, Counter[int]] = defaultdict(Counter)
    for key, label in zip(keys_of(items), items.gold.tolist(), strict=True):
        counts[key][label] += 1
    return 100 * sum(max(labels.values()) for labels in counts.values()) / len(items.gold)


def either_sense(predicted: np.ndarray, items: Items, classes: int) -> float:
    """Accuracy in percent where each sense of an item is right; `predicted` (N,) int64."""
    return 100 * float(senses(items, classes)[np.arange(len(predicted)), predicted].mean())


def both_orders(pairs: Items, order: np.random.RandomState) -> Items:
    """Each pair in its true order (class 1) and swapped (class 0), shuffled: BSO has twice as many items as lines.

    One permutation of all 2N, as the published toolkit draws it for train, dev and test in turn.
    """
    first, second = (list(column) for column in pairs.texts)
    shuffled = order.permutation(2 * len(first))
    left, right = first + second, second + first
    gold = np.repeat([1, 0], len(first)).astype(np.int64)
    return Items(([left[i] for i in shuffled], [right[i] for i in shuffled]), gold[shuffled])
