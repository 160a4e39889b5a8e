"""Baselines without an encoder: the baseline rows of the probing tables.

Conneau et al. 2018, section 4 "Baselines": majority vote; a linear classifier on sentence length alone;
Naive Bayes on tf-idf of words, and of words and bigrams.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from probes.classifiers.examples import Score
from probes.task import Items

Predict = Callable[[Items], np.ndarray]


def _fit_majority(train: Items) -> Predict:
    majority = int(np.bincount(train.gold).argmax())
    return lambda items: np.full(len(items.gold), majority)


def _fit_length(train: Items) -> Predict:
    from sklearn.linear_model import LogisticRegression  # slow, and no run needs it
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def token_counts(items: Items) -> np.ndarray:
        return np.array([[len(s.split())] for s in items.sentences], dtype=float)

    if len(np.unique(train.gold)) == 1:  # as the drawn labels of a small control task may be
        return _fit_majority(train)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=1e4, max_iter=2000))
    model.fit(token_counts(train), train.gold)
    return lambda items: model.predict(token_counts(items))


def _fit_naive_bayes(train: Items, longest: int) -> Predict:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    words = TfidfVectorizer(token_pattern=r"\S+", lowercase=False, ngram_range=(1, longest))
    model = make_pipeline(words, MultinomialNB()).fit(list(train.sentences), train.gold)
    return lambda items: model.predict(list(items.sentences))


BASELINES: dict[str, Callable[[Items], Predict]] = {
    "majority": _fit_majority,
    "length": _fit_length,
    "nb-uni-tfidf": partial(_fit_naive_bayes, longest=1),
    "nb-bi-tfidf": partial(_fit_naive_bayes, longest=2),
}


def score_baseline(name: str, train: Items, dev: Items, test: Items) -> Score:
    """Fit a baseline on the training items and score it on dev and test."""
    predict = BASELINES[name](train)
    predicted, dev_accuracy = predict(test), 100 * float((predict(dev) == dev.gold).mean())
    correct = predicted == test.gold
    return Score(dev_accuracy, 100 * float(correct.mean()), correct, {}, predicted)
