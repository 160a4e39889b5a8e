"""Choosing balanced splits from what a corpus holds."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from datamodules.errors import InputError
from probes.task import Split, Task

FEWEST = 20  # training sentences per class; with fewer a class is left out
SHARE = 0.2  # of the wanted sentences: a class with fewer is left out rather than shrinking all others


class Sizes(NamedTuple):
    """Sentences wanted per split."""

    train: int
    dev: int
    test: int


def balanced(name: str, pools: Mapping[str, Sequence[str]], sizes: Sizes) -> Task:
    """A task with equal classes: each pool's sentences go to train, dev and test in turn.

    Classes with too few sentences are left out; then all splits shrink in proportion to the smallest class.
    """
    kept = {label: pool for label, pool in pools.items() if len(pool) >= _least(sizes, len(pools))}
    if len(kept) < 2:
        raise too_small(name, {label: len(pool) for label, pool in pools.items()})
    wanted = [size / len(kept) for size in sizes]
    scale = min(1.0, min(len(pool) for pool in kept.values()) / sum(wanted))
    counts = [max(1, math.floor(w * scale)) for w in wanted]
    edges = np.cumsum([0, *counts])
    parts = [{label: list(pool[a:b]) for label, pool in kept.items()} for a, b in pairwise(edges)]
    return assemble(name, parts)


def balanced_within(name: str, splits: Sequence[Mapping[str, Sequence[str]]], sizes: Sizes) -> Task:
    """A task with equal classes, whose candidates are already bound to a split."""
    labels = sorted(set.union(*(set(split) for split in splits)))
    least = [min(len(split.get(label, ())) for label in labels) for split in splits]
    wanted = [size / len(labels) for size in sizes]
    scale = min(1.0, *(have / want for have, want in zip(least, wanted, strict=True)))
    counts = [math.floor(want * scale) for want in wanted]
    if len(labels) < 2 or counts[0] < FEWEST or min(counts) < 1:
        raise too_small(
            name,
            {
                f"{label} in {s}": len(split.get(label, ()))
                for s, split in zip(Sizes._fields, splits, strict=True)
                for label in labels
            },
        )
    return assemble(name, [{k: list(v[:n]) for k, v in split.items()} for split, n in zip(splits, counts, strict=True)])


def assemble(name: str, parts: Sequence[Mapping[str, Sequence[str]]]) -> Task:
    """Labels to indices; the classes of a split alternate, so that any beginning of it is balanced too."""
    classes = sorted(parts[0])
    splits = []
    for part in parts:
        pairs = [(i, c, s) for c, label in enumerate(classes) for i, s in enumerate(part[label])]
        pairs.sort(key=lambda pair: pair[:2])
        splits.append(Split([s for _, _, s in pairs], np.array([c for _, c, _ in pairs], dtype=np.int64)))
    return Task(name, classes, *splits)


def too_small(name: str, counts: Mapping[str, int]) -> InputError:
    found = ", ".join(f"{label}: {count}" for label, count in sorted(counts.items(), key=lambda c: -c[1])[:8])
    return InputError(
        f"the trees are too few for {name} (sentences found: {found or 'none'}); give more trees, smaller "
        f"probes.train_size, or leave it out of probes.tasks=[...]"
    )


def _least(sizes: Sizes, classes: int) -> float:
    """How many sentences a class needs: one of two cannot be left out, so it may be small."""
    fewest = FEWEST * sum(sizes) / sizes.train
    return fewest if classes == 2 else max(fewest, SHARE * sum(sizes) / classes)


def spread_forms(candidates: Sequence[tuple[str, str, str]], sizes: Sizes) -> list[dict[str, list[str]]]:
    """Bind each word form to one split: candidates are (label, form, sentence).

    The most frequent forms are placed first, each where its class lacks most, so that no form is shared
    and the frequent ones, which few splits could carry, fall to training.
    """
    by_form: dict[tuple[str, str], list[str]] = {}
    for label, form, sentence in candidates:
        by_form.setdefault((label, form), []).append(sentence)
    labels = sorted({label for label, _ in by_form})
    homes: dict[str, int] = {}
    splits: list[dict[str, list[str]]] = [{label: [] for label in labels} for _ in sizes]
    wanted = [size / max(1, len(labels)) for size in sizes]
    for (label, form), sentences in sorted(by_form.items(), key=lambda item: (-len(item[1]), item[0])):
        lacking = [1 - len(split[label]) / want for split, want in zip(splits, wanted, strict=True)]
        home = homes.setdefault(form, int(np.argmax(lacking)))
        splits[home][label] += sentences
    return splits


def take_turns(pool: Sequence[str], key: Callable[[str], str]) -> list[str]:
    """The same sentences, one of each key in turn: no frequent form crowds out the others."""
    turns: dict[str, int] = {}
    ranked = []
    for place, sentence in enumerate(pool):
        turn = turns[key(sentence)] = turns.get(key(sentence), -1) + 1
        ranked.append((turn, place, sentence))
    return [sentence for _, _, sentence in sorted(ranked)]


def tilt(lengths: np.ndarray, target: float) -> np.ndarray:
    """Weights exp(rate * length) under which the mean length is `target`, or as near as lengths allow."""
    low, high = -2.0, 2.0
    for _ in range(60):
        rate = (low + high) / 2
        weights = np.exp(rate * (lengths - lengths.mean()))
        mean = float((weights * lengths).sum() / weights.sum())
        low, high = (rate, high) if mean < target else (low, rate)
    return weights
