"""Control tasks where the answer is known."""

from dataclasses import replace

import numpy as np
import pytest

from probes.classification import Classification
from probes.probing.controls import control_task
from probes.task import single

WORDS = ("a", "bb", "ccc", "dddd", "eeeee")


def task(sentences: int = 3000) -> Classification:
    random = np.random.default_rng(1)
    texts = [" ".join(random.choice(WORDS, 3)) for _ in range(sentences)]
    split = single(texts, (random.random(sentences) < 0.25).astype(np.int64))
    return Classification("Tense", ["PAST", "PRES"], split, split, single(texts[:100], split.gold[:100]))


@pytest.mark.parametrize("per", ["word", "sentence"])
def test_equal_sentences_have_equal_control_labels_in_every_split(per) -> None:
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
