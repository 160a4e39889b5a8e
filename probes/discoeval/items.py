"""What a discourse task is: items of k texts in three splits, their senses, and the best score that they allow."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from probes.classification import Classification
from probes.discoeval import FACTS
from probes.discoeval.features import READINGS
from probes.task import Items

SPLITS = ("train", "dev", "test")
MIN_LABEL_ITEMS = 10  # items of a label that train must have, of tasks that are built from annotations

Item = TypeVar("Item")


def group_of(name: str) -> str:
    """The column of the paper's Table 2 for a task as the published toolkit calls it: SParxiv, BSOroc, PDTB-E, RST."""
    return next(group for start, group in FACTS.groups.items() if name.startswith(start))


def discourse_task(name: str, classes: list[str], *parts: Items) -> Classification:
    """One task of DiscoEval (Chen et al. 2019, section 3) with its train, dev and test items."""
    features = READINGS[group_of(name)].features
    return Classification(name, classes, *parts, suite="discoeval", features=features, second=second_measures)


def order_task(name: str, pairs: Iterable[Items], seed: int) -> Classification:
    """BSO of the pairs of each split in their true order. Of test both orders of a pair are next to each other.

    One permutation of all items, as the published toolkit draws it for train and dev in turn.
    """
    *read, test = pairs
    random = np.random.RandomState(seed)
    parts = [both_orders(part, random.permutation(2 * len(part.gold))) for part in read]
    parts += [both_orders(test, np.arange(2 * len(test.gold)).reshape(2, -1).T.ravel())]
    return replace(discourse_task(name, ["swapped", "true order"], *parts), orders=2)


def items_from_rows(rows: Iterable[Sequence[Any]], gold: Sequence[int]) -> Items:
    """Items from the texts of each, and their classes."""
    return Items(tuple(map(list, zip(*rows, strict=True))), np.array(gold, dtype=np.int64))


def with_frequent_labels(parts: Mapping[str, list[Item]], label: Callable[[Item], str]) -> dict[str, list[Item]]:
    """The items of each split with a label that train has at least MIN_LABEL_ITEMS times."""
    counts = Counter(map(label, parts["train"]))
    return {split: [item for item in part if counts[label(item)] >= MIN_LABEL_ITEMS] for split, part in parts.items()}


def keys_of(items: Items) -> list[tuple]:
    """A key for each item: the same texts, the same key."""
    columns = ([text if isinstance(text, str) else tuple(text) for text in column] for column in items.texts)
    return list(zip(*columns, strict=True))


def second_measures(predicted: np.ndarray, items: Items) -> dict[str, float]:
    """Accuracy in percent where each sense of an item is right, and the ceiling of the main score; empty with one each.

    `predicted` (N,) int64. The PDTB gives some relations two senses; the published files repeat such an item with each.
    """
    best, senses = ceiling(items), _labels_by_texts(items)
    right = [label in senses[key] for key, label in zip(keys_of(items), predicted.tolist(), strict=True)]
    return {} if best == 100 else {"either sense": 100 * float(np.mean(right)), "ceiling": best}


def ceiling(items: Items) -> float:
    """The best accuracy in percent that anything which sees the texts alone can reach: one answer to each text."""
    return 100 * sum(max(labels.values()) for labels in _labels_by_texts(items).values()) / len(items.gold)


def _labels_by_texts(items: Items) -> dict[tuple, Counter[int]]:
    counts: dict[tuple, Counter[int]] = defaultdict(Counter)
    for key, label in zip(keys_of(items), items.gold.tolist(), strict=True):
        counts[key][label] += 1
    return counts


def both_orders(pairs: Items, rows: np.ndarray) -> Items:
    """The `rows` of all pairs in their true order (class 1), then swapped (class 0): twice as many items as lines."""
    first, second = (list(column) for column in pairs.texts)
    left, right = first + second, second + first
    gold = np.repeat([1, 0], len(first)).astype(np.int64)
    return Items(([left[i] for i in rows], [right[i] for i in rows]), gold[rows])
