"""A suite gives each task the classifiers that its protocol says, from the callback and from evaluate.py alike."""

from typing import Any

import numpy as np
import pytest
import torch

from common.errors import InputError
from probes.classifiers.classifier import Grid
from probes.evaluation import Evaluation, Model
from probes.suite import Suite, vectors_of
from probes.task import Split, Task


class Lengths:
    """A model that says nothing but the length."""

    def encode(self, sentences: list[str]) -> np.ndarray:
        return np.array([[len(s), 1.0] for s in sentences], dtype=np.float32)


def test_word_content_and_its_controls_are_read_by_logistic_regression_whatever_the_grid() -> None:
    split = Split(["x" * length for length in range(1, 41)], np.arange(40) // 20)
    tasks = [Task(name, ["short", "long"], split, split, split) for name in ("WC", "WC control per word", "Tense")]
    suite = Suite("probing", tasks, Grid(widths=(3,), dropouts=(0.0,), l2=(1e-3,)), seed=1)
    watched = suite.run(Lengths(), epoch=0, step=0)
    evaluated = [e.row for e in Evaluation(Model("m", "", Lengths().encode), suite, None).run(tasks, "probing")]
    for rows in (watched, evaluated):
        assert [(row.task, row.classifier, row.hyperparameters["width"]) for row in rows] == [
            ("WC", "logreg", 0),
            ("WC control per word", "logreg", 0),
            ("Tense", "mlp", 3),
        ]


NUMBERS = {
    "float64": np.ones((2, 3)),
    "integers": np.ones((2, 3), dtype=np.int8),
    "lists": [[1, 1, 1], [1, 1, 1]],
    "a tensor that requires gradients": torch.ones(2, 3, requires_grad=True),
    "bfloat16": torch.ones(2, 3, dtype=torch.bfloat16),
}


@pytest.mark.parametrize("given", NUMBERS.values(), ids=NUMBERS.keys())
def test_a_model_may_give_its_numbers_in_any_form(given: Any) -> None:
    vectors = vectors_of(lambda _: given, ["a", "b"])
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, np.ones((2, 3)))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([[1.0, 2.0], [1.0]], "no matrix of numbers but list"),
        ([torch.ones(2, requires_grad=True)] * 2, "no matrix of numbers but list"),
        (None, r"an array \(\) for 2 sentences"),
        (np.array([[1.0], [1e39]]), "vector of 'b' is not finite in float32"),
        (torch.tensor([[1.0], [1e39]], dtype=torch.float64), "vector of 'b' is not finite in float32"),
    ],
    ids=["ragged", "a list of tensors that require gradients", "nothing", "too large", "a tensor, too large"],
)
def test_a_model_that_gives_no_vectors_is_refused_in_one_line(given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        vectors_of(lambda _: given, ["a", "b"])
