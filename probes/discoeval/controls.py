"""What a task gives away without any model: balance, lengths, order in the file, sentences in two splits."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from probes.classification import Classification
from probes.discoeval.items import ceiling
from probes.task import Items, Texts, texts_of

PERIODS = (2, 5, 6)  # a file may have its labels in turn


def controls(task: Classification) -> dict[str, float]:
    """Test accuracies in percent of controls that do not read words, and counts of shared sentences."""
    train, dev, test = (set(part.sentences) for part in task.parts)
    majority = np.bincount(task.train.gold).argmax()
    words = [len(text.split()) for text in task.train.sentences]
    return {
        "majority": 100 * float((task.test.gold == majority).mean()),
        "length only": _logistic_accuracy(_length_features(task.train), _length_features(task.test), task),
        "position only": _logistic_accuracy(_position_features(task.train), _position_features(task.test), task),
        "ceiling": ceiling(task.test),
        "sentences in two splits": len((train & dev) | (train & test) | (dev & test)),
        "words in a sentence": float(np.mean(words)),
    }


def _logistic_accuracy(train: np.ndarray, test: np.ndarray, task: Classification) -> float:
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(train, task.train.gold)
    return 100 * float((model.predict(test) == task.test.gold).mean())


def _length_features(items: Items) -> np.ndarray:
    """Words of each text of an item, their logarithms, and of lists how many texts they have."""
    counts = np.array([_word_counts(column) for column in items.texts], dtype=float)  # (k, 2, N)
    features = counts.reshape(-1, counts.shape[-1]).T
    return np.concatenate([features, np.log1p(features)], 1)


def _word_counts(column: Texts) -> list[list[int]]:
    lists = list(map(texts_of, column))
    return [[sum(len(text.split()) for text in texts) for texts in lists], [len(texts) for texts in lists]]


def _position_features(items: Items) -> np.ndarray:
    """Features of the position of an item in its file: its share of the file, and its number modulo some periods."""
    rows = np.arange(len(items.gold))
    phases = [(rows % period == rest).astype(float) for period in PERIODS for rest in range(period)]
    return np.stack([rows / len(rows), *phases], 1)
