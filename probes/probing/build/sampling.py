"""Balanced splits: equal classes, of the requested size or as large as the sentences allow."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from statistics import median
from typing import NamedTuple, TypeVar

import numpy as np

from encoder_lab.errors import InputError
from probes.classification import Classification
from probes.probing.build.pool import Sizes, WholeTest
from probes.task import single

MIN_PER_CLASS = 30  # minimum training sentences per class; with fewer the task is not built
MIN_FILL_SHARE = 0.5  # a class that fills less of its share is left out, so that it does not shrink all others

Item = TypeVar("Item")
Held = TypeVar("Held")
Classes = Mapping[str, Sequence[Item]]  # label to sentences, in order of preference
Plan = tuple[list[str], Sequence[int]]  # the classes that a task keeps; sentences of train, dev and perhaps test


class TaskDraft(NamedTuple):
    task: Classification
    controls: dict[str, float]
    notes: list[str]
    samples: dict[str, np.ndarray]  # measurements of each sentence, for pictures
    sources: Mapping[str, str] = {}  # changed sentences, and what they were


def plan_classes(name: str, splits: Sequence[Classes], sizes: Sequence[int], fewest: int = MIN_PER_CLASS) -> Plan:
    """Equal classes. Classes with too few sentences are left out, while two remain; then all splits shrink equally.

    Raises InputError naming the task and the missing sentences.
    """
    labels = {label for split in splits for label in split}
    fill = {  # the share of each split that a class can fill
        label: min(len(split.get(label, ())) / size for split, size in zip(splits, sizes, strict=True))
        for label in labels
    }
    chosen = sorted(labels, key=lambda label: (-fill[label], label))
    while len(chosen) > 2:
        usual = min(1 / len(chosen), median(fill[label] for label in chosen))
        least = max(MIN_FILL_SHARE * usual, needed_per_class(len(chosen), sizes, fewest) / sizes[0])
        if fill[chosen[-1]] >= least and len(chosen) <= min(sizes):
            break
        chosen.pop()
    share = min(1 / len(chosen), fill[chosen[-1]]) if chosen else 0
    counts = scale_sizes(sizes, share)
    if len(chosen) < 2 or counts[0] < needed_per_class(len(chosen), sizes, fewest) or not all(counts):
        raise too_small_error(name, splits, sizes, fewest, too_large_splits(chosen, splits, sizes, fewest))
    return sorted(chosen), counts


def deciding_splits(splits: Sequence[Held], sizes: Sizes) -> tuple[Sequence[Held], Sequence[int]]:
    """The splits and sizes that decide on classes: not a test split that is taken whole."""
    return (splits[:2], sizes[:2]) if isinstance(sizes, WholeTest) else (splits, sizes)


def scale_sizes(sizes: Sequence[int], share: float) -> tuple[int, ...]:
    return tuple(int(size * share + 1e-9) for size in sizes)


def needed_per_class(classes: int, sizes: Sequence[int], fewest: int = MIN_PER_CLASS) -> int:
    """Training sentences that a class needs: `fewest`, or less if the requested size is small."""
    return max(1, min(fewest, sizes[0] // classes))


def balanced(
    name: str,
    splits: Sequence[Classes[str]],
    sizes: Sizes,
    fewest: int = MIN_PER_CLASS,
    sources: Mapping[str, str] | None = None,
) -> TaskDraft:
    """A task of the first sentences of each class. `sources`: changed sentences, and what they were."""
    chosen, counts = plan_classes(name, *deciding_splits(splits, sizes), fewest)
    parts = [{label: split.get(label, [])[:count] for label in chosen} for split, count in zip_longest(splits, counts)]
    draft = assemble_task(name, parts, sizes, notes_on_left_out(splits, chosen))
    if sources is None:
        return draft
    texts = [s for split in draft.task.parts for s in split.sentences]
    distinct = set(texts)
    both = sum(sources.get(s, s) != s and sources[s] in distinct for s in texts)
    draft.controls["sentences in both forms"] = both  # changed ones that are there together with their originals
    return draft._replace(sources=sources)


def assemble_task(name: str, parts: Sequence[Classes[str]], sizes: Sizes, notes: Sequence[str] = ()) -> TaskDraft:
    """Turn labels into indices; the classes of a split alternate, so that its first sentences are balanced too."""
    classes = sorted(parts[0])
    splits = []
    for part in parts:
        turns = zip_longest(*(part[label] for label in classes))
        pairs = [(s, label) for turn in turns for label, s in enumerate(turn) if s is not None]
        splits.append(single([s for s, _ in pairs], np.array([label for _, label in pairs], dtype=np.int64)))
    task = Classification(name, classes, *splits)
    return TaskDraft(task, {}, [*notes_on_size(task, sizes), *notes], {})


def notes_on_size(task: Classification, sizes: Sizes) -> list[str]:
    """A note on a task that is smaller than wanted."""
    if len(task.train.gold) >= sizes.train - len(task.classes):
        return []
    actual = "/".join(f"{len(part.gold):,}" for part in task.parts)
    return [f"{actual} of {sizes.train:,}/{sizes.dev:,}/{sizes.test:,} sentences"]


def largest_draft(attempts: Iterable[Callable[[], TaskDraft]], sizes: Sizes) -> TaskDraft:
    """The first draft of the requested size, else the largest of all. Raises the last error where there is none."""
    best, last = None, InputError("no attempt to build a task")
    for attempt in attempts:
        try:
            draft = attempt()
        except InputError as error:
            last = error
            continue
        if best is None or draft.task.train.gold.size > best.task.train.gold.size:
            best = draft
        if best.task.train.gold.size > sizes.train - len(best.task.classes):
            break
    if best is None:
        raise last
    return best


def notes_on_left_out(splits: Sequence[Classes], chosen: Iterable[str]) -> list[str]:
    labels = sorted({label for split in splits for label in split} - set(chosen))
    suffix = f" and {len(labels) - 8} more" if len(labels) > 8 else ""
    return [f"left out, too few sentences: {', '.join(labels[:8])}{suffix}"] if labels else []


def too_large_splits(
    labels: Sequence[str], splits: Sequence[Classes], sizes: Sequence[int], fewest: int
) -> dict[str, int]:
    """The splits with a requested size that makes train shrink too far, and the largest size that each can have."""
    if len(labels) < 2:
        return {}
    share = needed_per_class(len(labels), sizes, fewest) / sizes[0]
    least = [min(len(split.get(label, ())) for label in labels) for split in splits]
    limits = zip(Sizes._fields, least, sizes, strict=False)
    allowed = {part: int(available / share) for part, available, size in limits if available < share * size - 1e-9}
    possible = [allowed.get(part, size) for part, size in zip(Sizes._fields, sizes, strict=False)]
    return allowed if "train" not in allowed and all(scale_sizes(possible, share)) else {}


def too_small_error(
    name: str, splits: Sequence[Classes], sizes: Sequence[int], fewest: int, limiting: Mapping[str, int] | None = None
) -> InputError:
    labels = sorted({label for split in splits for label in split})
    counts = {label: [len(split.get(label, ())) for split in splits] for label in labels}
    usable = ", ".join(f"{label} {'/'.join(map(str, count))}" for label, count in list(counts.items())[:6])
    remedy = f"it needs two classes of {fewest} training sentences: give more"
    if limiting:
        limits = " and ".join(
            f"{number} {part} sentences ({part}_size={number}, or {part}={number} of a command)"
            for part, number in limiting.items()
        )
        remedy = f"the splits shrink equally: ask for at most {limits}"
    parts = "/".join(Sizes._fields[: len(sizes)])
    reason = f"too few sentences for {name}: usable in {parts}: {usable or 'none'}; {remedy}"
    return InputError(f"{reason}, or leave {name} out of tasks=")
