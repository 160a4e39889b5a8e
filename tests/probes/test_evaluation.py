"""A model is scored on a suite once; what was remembered is right or made anew."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from common.errors import InputError
from probes.classifiers.classifier import Grid
from probes.evaluation import Evaluation, Model
from probes.suite import Suite
from probes.task import Split, Task


@pytest.fixture
def suite() -> Suite:
    rng = np.random.default_rng(0)

    def split(size: int) -> Split:
        labels = rng.integers(0, 2, size)
        return Split([f"word{y} {rng.integers(1 << 40)}" for y in labels], labels)

    return Suite("probing", [Task("Which", ["0", "1"], split(80), split(40), split(40))], Grid(widths=(0,)), seed=1)


class Counting:
    """An encoder that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def encode(self, sentences: list[str]) -> np.ndarray:
        self.calls += 1
        return np.array([[float(s.startswith("word1")), 1.0] for s in sentences], dtype=np.float32)


def test_a_score_is_computed_once_and_with_cache_off_every_time(suite: Suite, tmp_path: Path) -> None:
    counting = Counting()
    model = Model("e", "o", counting.encode, fingerprint="e 1")
    first, again, forced = (
        Evaluation(model, suite, cache).run(suite.tasks, "probing") for cache in (tmp_path, tmp_path, None)
    )
    assert counting.calls == 2
    assert first[0].row == again[0].row
    assert first[0].row.test_accuracy == forced[0].row.test_accuracy == 100
    np.testing.assert_array_equal(first[0].correct, again[0].correct)


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b.replace(b"1", b"2"), lambda _: b"[]\n"])
def test_a_remembered_score_that_was_damaged_is_computed_anew(
    suite: Suite, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    model = Model("e", "o", Counting().encode, fingerprint="e 1")
    (first,) = Evaluation(model, suite, tmp_path).run(suite.tasks, "probing")
    (kept,) = tmp_path.glob("score-*.json")
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    (again,) = Evaluation(model, suite, tmp_path).run(suite.tasks, "probing")
    assert again.row.test_accuracy == first.row.test_accuracy
    assert again.row.hyperparameters == first.row.hyperparameters
    assert kept.read_bytes() != damage(whole)


def test_another_model_or_another_task_is_another_score(suite: Suite, tmp_path: Path) -> None:
    counting = Counting()
    for fingerprint in ("e 1", "e 2"):
        Evaluation(Model("e", "o", counting.encode, fingerprint), suite, tmp_path).run(suite.tasks, "probing")
    task = suite.tasks[0]
    flipped = task._replace(test=Split(task.test.sentences, 1 - task.test.labels))
    (found,) = Evaluation(Model("e", "o", counting.encode, "e 1"), suite, tmp_path).run([flipped], "probing")
    assert counting.calls == 3
    assert found.row.test_accuracy == 0


def test_vectors_that_are_not_finite_are_refused_with_their_sentence(suite: Suite) -> None:
    def broken(sentences: list[str]) -> np.ndarray:
        return np.full((len(sentences), 3), np.nan)

    with pytest.raises(InputError, match="not finite"):
        Evaluation(Model("e", "o", broken), suite, None).run(suite.tasks, "probing")
