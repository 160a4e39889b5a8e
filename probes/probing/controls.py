"""Control tasks: labels that mean nothing, to tell what the vectors say from what the classifier memorises."""

from hashlib import sha256
from typing import Literal

import numpy as np

from probes.task import Split, Task


def control_task(task: Task, per: Literal["word", "sentence"], seed: int) -> Task:
    """The same sentences and classes, with labels drawn at random (Hewitt and Liang 2019, section 2).

    Per sentence: each distinct sentence has a label of its own, so that nothing carries over to unseen ones.
    Per word: the first of the longest words decides, so that knowing word identities is enough. Labels are drawn
    from the task's label distribution in training.
    """
    shares = np.bincount(task.train.labels, minlength=len(task.classes)) / len(task.train.labels)

    def relabelled(split: Split) -> Split:
        return Split(split.sentences, _draw([_decides(s, per) for s in split.sentences], shares, seed))

    splits = relabelled(task.train), relabelled(task.dev), relabelled(task.test)
    return Task(f"{task.name} control per {per}", task.classes, *splits)


def _decides(sentence: str, per: str) -> str:
    return sentence if per == "sentence" else max(sentence.split(), key=len, default="")


def _draw(texts: list[str], shares: np.ndarray, seed: int) -> np.ndarray:
    """A class per text; equal texts have equal classes, whatever else is in the list."""
    digests = [sha256(f"{seed} {text}".encode()).digest()[:6] for text in texts]
    uniform = np.array([int.from_bytes(digest, "big") for digest in digests]) / 2**48
    return np.minimum(np.searchsorted(shares.cumsum(), uniform, side="right"), len(shares) - 1).astype(np.int64)
