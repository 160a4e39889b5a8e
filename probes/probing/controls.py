"""Control tasks: random labels show how much a classifier memorises instead of reading the vectors."""

from dataclasses import replace
from hashlib import sha256
from typing import Literal

import numpy as np

from probes.classification import Classification
from probes.task import Items

CONTROL = "control"  # the suite of control tasks
CONTROL_UNITS: tuple[Literal["word", "sentence"], ...] = ("word", "sentence")


def control_task(task: Classification, per: Literal["word", "sentence"], seed: int) -> Classification:
    """The same sentences and classes, with labels drawn at random (Hewitt and Liang 2019, section 2).

    Per sentence: each distinct sentence has a label of its own, so that nothing generalises to unseen ones.
    Per word: the first of the longest words decides, so that word identities are enough. Labels are drawn
    from the task's label distribution in training. The classifier is the one chosen for the task, as selectivity
    compares the same one on both.
    """
    shares = np.bincount(task.train.gold, minlength=len(task.classes)) / len(task.train.gold)

    def relabel(split: Items) -> Items:
        items = [" ".join(map(str, texts)) for texts in zip(*split.texts, strict=True)]
        deciding = [text if per == "sentence" else max(text.split(), key=len, default="") for text in items]
        digests = [sha256(f"{seed} {text}".encode()).digest()[:6] for text in deciding]  # equal texts, equal labels
        uniform = np.array([int.from_bytes(digest, "big") for digest in digests]) / 2**48
        labels = np.minimum(np.searchsorted(shares.cumsum(), uniform, side="right"), len(shares) - 1)
        return Items(split.texts, labels.astype(np.int64))

    train, dev, test = map(relabel, task.parts)
    name = f"{task.name} {CONTROL} per {per}"
    return replace(task, name=name, suite=CONTROL, train=train, dev=dev, test=test, cell_of=task)
