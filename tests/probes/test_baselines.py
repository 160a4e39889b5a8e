from dataclasses import replace

import numpy as np
import pytest

from probes.baselines import BASELINES, score_baseline
from probes.classification import Classification
from probes.task import single


def task_of(rule: str) -> Classification:
    """Six hundred random sentences, labelled by their length band or by whether they contain the word `yes`."""
    random = np.random.default_rng(0)
    sentences = [" ".join(random.choice(["yes", *"abcdefghijkl"], random.integers(3, 16))) for _ in range(600)]
    if rule == "length":
        labels = np.array([(len(s.split()) - 3) // 5 for s in sentences]).clip(max=2)
    else:
        labels = np.array(["yes" in s for s in sentences], dtype=int)
    parts = [single(sentences[i : i + 200], labels[i : i + 200]) for i in (0, 200, 400)]
    return Classification(rule, [str(c) for c in range(labels.max() + 1)], *parts)


def test_majority_scores_the_share_of_the_most_frequent_class() -> None:
    task = task_of("words")
    most = np.bincount(task.train.gold).argmax()
    assert score_baseline("majority", *task.parts).test_accuracy == pytest.approx(100 * np.mean(task.test.gold == most))


def test_length_alone_solves_a_task_of_lengths() -> None:
    assert score_baseline("length", *task_of("length").parts).test_accuracy > 95


@pytest.mark.parametrize("name", BASELINES)
def test_labels_that_are_all_alike_in_training_are_predicted(name) -> None:
    task = task_of("words")
    alike = replace(task, train=single(task.train.sentences, np.ones_like(task.train.gold)))
    assert score_baseline(name, *alike.parts).test_accuracy == pytest.approx(100 * task.test.gold.mean())


@pytest.mark.parametrize("name", ["nb-uni-tfidf", "nb-bi-tfidf"])
def test_naive_bayes_reads_words_but_not_lengths(name) -> None:
    words, length = score_baseline(name, *task_of("words").parts), score_baseline("majority", *task_of("words").parts)
    assert words.test_accuracy > length.test_accuracy


@pytest.mark.parametrize("name", BASELINES)
def test_the_accuracy_is_the_share_of_correct_items(name) -> None:
    score = score_baseline(name, *task_of("words").parts)
    assert score.test_accuracy == pytest.approx(100 * score.test_correct.mean())
