"""Control tasks and description lengths where the answer is known."""

from dataclasses import replace
from math import log2

import numpy as np
import pytest

from encoder_lab.reports.terminal import selectivities
from probes.classification import Classification
from probes.classifiers.classifier import Grid, Labelled
from probes.description_length import description_length
from probes.evaluation import Evaluated
from probes.probing.controls import control_task
from probes.results import Answers, ProbeRow
from probes.statistics import compare
from probes.task import single

WORDS = ("a", "bb", "ccc", "dddd", "eeeee")


def task(sentences: int = 3000) -> Classification:
    random = np.random.default_rng(1)
    texts = [" ".join(random.choice(WORDS, 3)) for _ in range(sentences)]
    split = single(texts, (random.random(sentences) < 0.25).astype(np.int64))
    return Classification("Tense", ["PAST", "PRES"], split, split, single(texts[:100], split.gold[:100]))


@pytest.mark.parametrize("per", ["word", "sentence"])
def test_equal_sentences_have_equal_control_labels_in_every_split(per: str) -> None:
    control = control_task(task(), per, seed=1)
    labels = dict(zip(control.train.sentences, control.train.gold, strict=True))
    assert [labels[s] for s in control.test.sentences] == control.test.gold.tolist()


def test_per_word_the_longest_word_decides() -> None:
    control = control_task(task(), "word", seed=2)
    deciding = [max(map(len, s.split())) for s in control.train.sentences]
    assert len(set(zip(deciding, control.train.gold.tolist(), strict=True))) == len(set(deciding))


def test_control_labels_have_the_distribution_of_the_task() -> None:
    many = task()
    distinct = single([f"{i} {s}" for i, s in enumerate(many.train.sentences)], many.train.gold)
    control = control_task(replace(many, train=distinct), "sentence", seed=1)
    assert control.train.gold.mean() == pytest.approx(many.train.gold.mean(), abs=0.03)


def test_another_seed_draws_other_labels() -> None:
    first, second = (control_task(task(), "sentence", seed).train.gold for seed in (1, 2))
    assert not np.array_equal(first, second)


def scored(task: str, right: np.ndarray) -> Evaluated:
    row = ProbeRow(0, 0, "", task, "mlp", 0.0, 100 * right.mean(), 0.0, 0.0, {}, 1, 0.0, Answers("", right))
    return Evaluated(row)


def test_selectivity_is_task_minus_control_with_a_paired_interval() -> None:
    right, by_chance = np.arange(100) < 90, np.arange(100) < 55
    found = compare(right, by_chance)
    controls = [scored(f"Tense control per {per}", by_chance) for per in ("word", "sentence")]
    text = selectivities("m", [scored("Tense", right)], controls)
    assert text.count(f" 35.0 ±{(found.high - found.low) / 2:.1f}") == 2


def vectors(sentences: int, seed: int, informative: bool, width: int = 6) -> Labelled:
    random = np.random.default_rng(seed)
    labels = random.integers(0, 4, sentences)
    x = random.normal(size=(sentences, width))
    return Labelled((x + informative * 20 * np.eye(width)[labels]).astype(np.float32), labels)


GRID = Grid(l2=(1e-4, 1e-2, 1.0)).logistic()


def test_predictable_labels_cost_little_more_than_the_first_portion_which_is_coded_uniformly() -> None:
    found = description_length(vectors(4000, 1, True), vectors(400, 2, True), 4, GRID, seed=1)
    assert found.portions[0] == 4 * log2(4)  # 0.1 % of 4000 sentences
    assert found.bits < 0.03 * found.uniform_bits
    assert found.uniform_bits == 4000 * log2(4)
    assert sum(found.portions) == pytest.approx(found.bits)


@pytest.mark.parametrize("width", [6, 256])
def test_labels_unrelated_to_the_vectors_cost_their_entropy(width: int) -> None:
    train, dev = vectors(4000, 1, False, width), vectors(400, 2, False, width)
    found = description_length(train, dev, 4, Grid().logistic(), seed=1)
    assert found.compression == pytest.approx(1, abs=0.02)


def test_a_class_not_seen_before_has_a_finite_code() -> None:
    train = vectors(400, 1, True)
    rare = Labelled(train.vectors, np.where(np.arange(400) == 7, 3, train.labels % 3))
    assert np.isfinite(description_length(rare, rare, 4, GRID, seed=1).bits)
