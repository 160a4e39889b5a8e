"""What can be had without an encoder: the baseline rows of the probing tables.

Conneau et al. 2018, section 4 "Baselines": majority vote; a linear classifier on sentence length alone;
Naive Bayes on tf-idf of words, and of words and bigrams.
"""

import time
from collections.abc import Callable

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from probes.classifiers.classifier import Score
from probes.task import Task

Predict = Callable[[list[str]], np.ndarray]


def _majority(task: Task) -> Predict:
    most = int(np.bincount(task.train.labels).argmax())
    return lambda sentences: np.full(len(sentences), most)


def _length(task: Task) -> Predict:
    """Powers of the length up to the third let a linear classifier tell a middle length from both ends."""

    def features(sentences: list[str]) -> np.ndarray:
        lengths = np.array([[len(s.split())] for s in sentences], dtype=float)
        return np.hstack([lengths, lengths**2, lengths**3])

    if len(np.unique(task.train.labels)) == 1:  # as the drawn labels of a small control task may be
        return _majority(task)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=1e4, max_iter=2000))
    model.fit(features(task.train.sentences), task.train.labels)
    return lambda sentences: model.predict(features(sentences))


def _naive_bayes(longest: int) -> Callable[[Task], Predict]:
    def fit(task: Task) -> Predict:
        words = TfidfVectorizer(token_pattern=r"\S+", lowercase=False, ngram_range=(1, longest))
        model = make_pipeline(words, MultinomialNB()).fit(task.train.sentences, task.train.labels)
        return model.predict

    return fit


BASELINES: dict[str, Callable[[Task], Predict]] = {
    "majority": _majority,
    "length": _length,
    "nb-uni-tfidf": _naive_bayes(1),
    "nb-bi-tfidf": _naive_bayes(2),
}


def score_baseline(name: str, task: Task) -> Score:
    """Fit a baseline on a task's training sentences and score it on dev and test."""
    started = time.monotonic()
    predict = BASELINES[name](task)
    dev = predict(task.dev.sentences) == task.dev.labels
    test = predict(task.test.sentences) == task.test.labels
    return Score(
        dev_accuracy=100 * float(dev.mean()),
        test_accuracy=100 * float(test.mean()),
        test_correct=test,
        hyperparameters={},
        seconds=time.monotonic() - started,
    )
