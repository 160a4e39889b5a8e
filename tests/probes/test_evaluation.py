"""A model is scored on a suite once; what was cached is right or computed again."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from torch import nn

from encoder_lab.model import Model
from probes.classification import Classification
from probes.classifiers.classifier import Grid
from probes.evaluation import Evaluated, Evaluation
from probes.task import Items, Outcome, single
from probes.vectors import Vectors
from probes.watch import probe_now


@pytest.fixture
def tasks() -> list[Classification]:
    rng = np.random.default_rng(0)

    def split(size: int) -> Items:
        labels = rng.integers(0, 2, size)
        return single([f"word{y} {rng.integers(1 << 40)}" for y in labels], labels)

    return [Classification("Which", ["0", "1"], split(80), split(40), split(40), grid=Grid(widths=(0,)))]


def evaluated(model: Model, tasks: list[Classification], cache: Path | None) -> list[Evaluated]:
    return Evaluation(model, tasks, cache=cache).scores()


class Counting:
    """An encoder that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def encode(self, sentences: list[str]) -> np.ndarray:
        self.calls += 1
        return np.array([[float(s.startswith("word1")), 1.0] for s in sentences], dtype=np.float32)


def test_a_score_is_computed_once_and_with_cache_off_every_time(tasks, tmp_path) -> None:
    counting = Counting()
    model = Model("e", "o", counting.encode, fingerprint="e 1")
    first, cached, forced = (evaluated(model, tasks, cache) for cache in (tmp_path, tmp_path, None))
    assert counting.calls == 2
    assert first[0].row == cached[0].row
    assert first[0].row.test_accuracy == forced[0].row.test_accuracy == 100
    np.testing.assert_array_equal(first[0].correct, cached[0].correct)


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b.replace(b"1", b"2"), lambda _: b"[]\n"])
def test_a_cached_score_that_was_damaged_is_computed_again(tasks, tmp_path, damage) -> None:
    model = Model("e", "o", Counting().encode, fingerprint="e 1")
    (first,) = evaluated(model, tasks, tmp_path)
    (cached,) = tmp_path.glob("score-*.json")
    whole = cached.read_bytes()
    cached.write_bytes(damage(whole))
    (later,) = evaluated(model, tasks, tmp_path)
    assert later.row.test_accuracy == first.row.test_accuracy
    assert later.row.hyperparameters == first.row.hyperparameters
    assert cached.read_bytes() != damage(whole)


def test_another_model_or_another_task_is_another_score(tasks, tmp_path) -> None:
    counting = Counting()
    for fingerprint in ("e 1", "e 2"):
        evaluated(Model("e", "o", counting.encode, fingerprint), tasks, tmp_path)
    task = tasks[0]
    flipped = replace(task, test=single(task.test.sentences, 1 - task.test.gold))
    (score,) = evaluated(Model("e", "o", counting.encode, "e 1"), [flipped], tmp_path)
    assert counting.calls == 3
    assert score.row.test_accuracy == 0


class InBfloat16(Counting):
    bfloat16 = True


class CountingModule(Counting, nn.Module):
    """Has torch's method `bfloat16`."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        super().__init__()


def test_vectors_of_a_model_in_bfloat16_have_classifiers_in_bfloat16(tasks, monkeypatch, tmp_path) -> None:
    narrow: list[bool] = []
    score = Classification.score

    def noted(task: Classification, vectors: Vectors, device: str) -> Outcome:
        narrow.append(vectors.bfloat16)
        return score(task, vectors, device)

    monkeypatch.setattr(Classification, "score", noted)
    for wish in (True, False):
        evaluated(Model("e", "o", Counting().encode, bfloat16=wish), tasks, None)
    for model in (InBfloat16(), Counting(), CountingModule()):
        probe_now(tasks, model, nn.Identity(), tmp_path / "probes.csv", 0)
    assert narrow == [True, False, True, False, False]
