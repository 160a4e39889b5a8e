"""A suite gives each task the classifiers that its protocol says, from the callback and from evaluate.py alike."""

import numpy as np

from probes.classifier import Grid
from probes.evaluation import Evaluation, Model
from probes.suite import Suite
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
