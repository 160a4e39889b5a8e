"""The hard test items of a task: the majority label of a word says another class than the gold one."""

from collections import defaultdict

import numpy as np

from probes.classification import Classification
from probes.task import Items


def hard_items(task: Classification) -> np.ndarray:
    """Which test items (N_test,) are hard.

    Of the words of an item, the one that decides has the surest majority label in the training items, by its share
    with one more count of each class. An item without a known word has the majority label of the task.
    """
    classes = len(task.classes)
    counts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(classes, np.int64))
    for words, gold in zip(_words(task.train), task.train.gold, strict=True):
        for word in words:
            counts[word][gold] += 1
    labels = {word: (int(n.argmax()), (n.max() + 1) / (n.sum() + classes)) for word, n in counts.items()}
    most = int(np.bincount(task.train.gold, minlength=classes).argmax())
    deciding = [
        max((labels[w] for w in words if w in labels), key=lambda x: x[1], default=(most,))
        for words in _words(task.test)
    ]
    return np.array([label[0] for label in deciding], dtype=np.int64) != task.test.gold


def _words(items: Items) -> list[list[str]]:
    """The distinct words of each item, in their order."""
    texts = [" ".join(map(str, columns)) for columns in zip(*items.texts, strict=True)]
    return [list(dict.fromkeys(text.split())) for text in texts]
