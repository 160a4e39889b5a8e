"""How easily a task is read, next to its accuracy: `probes.measures`.

Control tasks and codes of the labels are tasks like others. The rest is made of scores: selectivity, accuracy on hard
items, and how much shorter a code is than that of a bag of the same word vectors.
"""

import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from encoder_lab.errors import InputError
from encoder_lab.storage.code import code_of
from probes.bits.tasks import Bits, codes_of
from probes.classification import Classification
from probes.classifiers.grid import Grid
from probes.evaluation import Evaluated, score_name_of
from probes.probing.controls import CONTROL_UNITS, control_task
from probes.statistics import Interval, compare, compare_unpaired, wilson_interval
from probes.task import NO_ITEMS, DerivedTask, Items, Outcome, Task, content_hash


def measures_of(tasks: Sequence[Task], measures: Sequence[str], grid: Grid, seed: int) -> list[Task]:
    """The tasks that `probes.measures` adds to `tasks`; `control` also adds control tasks per sentence.

    Raises InputError for the code of an MLP where the grid has none.
    """
    if "bits_mlp" in measures and grid.is_logistic:
        reason = "bits_mlp is the code of an MLP; give probes.classifier.widths=, or leave it out"
        raise InputError(f"probes.measures: {reason}")
    classifications = [task for task in tasks if isinstance(task, Classification)]
    if constant := [task.name for task in classifications if len(task.classes) < 2] if len(measures) > 1 else []:
        warnings.warn(f"probes.measures: {', '.join(constant)}: one class, so nothing to measure", stacklevel=2)
    varied = [task for task in classifications if task.name not in constant]
    hard = [task.name for task in varied if "hard" in measures and hard_items(task).any()]
    if easy := [task.name for task in varied if "hard" in measures and task.name not in hard]:
        warnings.warn(f"probes.measures: {', '.join(easy)}: no hard test item; left out of `hard`", stacklevel=2)
    return [measure for task in varied for measure in _measures_of_task(task, measures, task.name in hard, seed)]


def _measures_of_task(task: Classification, measures: Sequence[str], hard: bool, seed: int) -> list[Task]:
    per = CONTROL_UNITS if "control" in measures else CONTROL_UNITS[:1] if "selectivity" in measures else ()
    controls, codes = [control_task(task, decides, seed) for decides in per], codes_of(task, measures)
    numbers = [FromScores(task, "selectivity", control) for control in controls[:1]]
    numbers += [FromScores(task, "hard")] if hard else []
    return [*controls, *codes, *numbers, *(FromScores(code, "gain") for code in codes)]


@dataclass(frozen=True)
class FromScores(DerivedTask):
    """A derived task: a number computed from the score of another task."""

    task: Classification | Bits
    suite: Literal["selectivity", "hard", "gain"]
    control: Classification | None = None

    @property
    def reader(self) -> str:
        return self.task.reader

    @property
    def needs(self) -> Literal["scored", "bag"]:
        return "bag" if self.suite == "gain" else "scored"

    @property
    def fingerprint(self) -> str:
        return content_hash(self.suite, self.task.fingerprint, code_of(FromScores))

    def score(self, scored: Any, device: str) -> Outcome:
        """The number, from the scores so far; `gain` also needs the scores of a bag of vectors."""
        if self.suite == "gain":
            return _gain_outcome(*(scores[score_name_of(self.task)] for scores in scored))
        score = scored[score_name_of(self.task)]
        if self.control:
            return _selectivity_outcome(score, scored[score_name_of(self.control)])
        assert isinstance(self.task, Classification)
        return _hard_outcome(score, hard_items(self.task), self.task)


def _selectivity_outcome(score: Evaluated, control: Evaluated) -> Outcome:
    """Accuracy minus that of the control, with the interval of the paired bootstrap over the same test sentences."""
    effect, dev = compare(score.correct, control.correct), score.row.dev_accuracy - control.row.dev_accuracy
    numbers = {"accuracy": round(score.row.test_accuracy, 2), "control": round(control.row.test_accuracy, 2)}
    return _outcome_of_interval(effect[:3], dev, numbers, control.row.seconds)


def _hard_outcome(score: Evaluated, hard: np.ndarray, task: Classification) -> Outcome:
    correct = score.correct[hard]
    majority = np.bincount(task.train.gold).argmax()
    chance = 100 * float((task.test.gold[hard] == majority).mean())
    interval = 100 * float(correct.mean()), *wilson_interval(int(correct.sum()), len(correct))
    outcome = _outcome_of_interval(interval, score.row.dev_accuracy, {"items": len(correct)}, 0.0)
    return outcome._replace(correct=correct, chance=chance)


def _gain_outcome(score: Evaluated, bag: Evaluated) -> Outcome:
    """Positive: the code is shorter than with the bag."""
    effect = compare_unpaired([bag.row.interval], [score.row.interval])
    saved = {"bits": round(bag.row.hyperparameters["bits"] - score.row.hyperparameters["bits"], 1)}
    return _outcome_of_interval(effect[:3], effect.difference, saved, bag.row.seconds)


def _outcome_of_interval(score: Interval, dev: float, numbers: dict[str, float], seconds: float) -> Outcome:
    return Outcome(dev, *score, NO_ITEMS, {**numbers}, seconds=seconds)


def hard_items(task: Classification) -> np.ndarray:
    """Which test items (N_test,) are hard.

    Of the words of an item, the one that decides has the surest majority label in the training items, by its share
    with one more count of each class. An item without a known word has the majority label of the task.
    """
    classes = len(task.classes)
    counts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(classes, np.int64))
    for words, gold in zip(_distinct_words(task.train), task.train.gold, strict=True):
        for word in words:
            counts[word][gold] += 1
    labels = {word: (int(n.argmax()), (n.max() + 1) / (n.sum() + classes)) for word, n in counts.items()}
    majority = int(np.bincount(task.train.gold, minlength=classes).argmax())
    deciding = [
        max((labels[w] for w in words if w in labels), key=lambda x: x[1], default=(majority,))
        for words in _distinct_words(task.test)
    ]
    return np.array([label[0] for label in deciding], dtype=np.int64) != task.test.gold


def _distinct_words(items: Items) -> list[list[str]]:
    texts = [" ".join(map(str, columns)) for columns in zip(*items.texts, strict=True)]
    return [list(dict.fromkeys(text.split())) for text in texts]
