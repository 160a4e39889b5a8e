"""How easily a task is read, beside its accuracy: selectivity, and the length of codes of its labels.

Control tasks and codes are tasks like others. What compares two of them is made of their rows: the selectivity of a
task, and how much shorter its code is than that of a bag of the same word vectors.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from encoder_lab.errors import InputError
from probes.bits.tasks import Bits, codes_of
from probes.classification import Classification
from probes.classifiers.grid import Grid
from probes.evaluation import Evaluation
from probes.probing.controls import CONTROL, PER, control_task
from probes.results import ProbeRow
from probes.statistics import Interval, compare, unpaired
from probes.task import Task


def measures_of(tasks: Sequence[Task], measures: Sequence[str], grid: Grid, seed: int) -> list[Task]:
    """What `probes.measures` adds to tasks: control tasks per word and, of `control`, per sentence; and codes.

    Raises InputError for the code of an MLP where the grid has none.
    """
    if "bits_mlp" in measures and grid.is_logistic:
        raise InputError(
            "probes.measures: bits_mlp is the code of an MLP; give probes.classifier.widths=, or leave it out"
        )
    read = [task for task in tasks if isinstance(task, Classification)]
    if constant := [task.name for task in read if len(task.classes) < 2] if len(measures) > 1 else []:
        warnings.warn(f"probes.measures: {', '.join(constant)}: one class, so nothing to measure", stacklevel=2)
    read = [task for task in read if task.name not in constant]
    per = PER if "control" in measures else PER[:1] if "selectivity" in measures else ()
    controls = [control_task(task, decides, seed) for task in read for decides in per]
    return [*controls, *(code for task in read for code in codes_of(task, measures))]


def differences(evaluation: Evaluation, rows: Sequence[ProbeRow], cache: Path | None) -> list[ProbeRow]:
    """Rows of `selectivity` and `gain`, made of the rows of an evaluation. `cache`: of the codes of bags of vectors."""
    by_name = {row.task: row for row in rows if row.suite == CONTROL}
    pairs = ((row, by_name.get(f"{row.task} {CONTROL} per word")) for row in rows if row.suite != "bits")
    selectivities = [_selectivity(row, control) for row, control in pairs if control]
    return selectivities + _gains(evaluation, [row for row in rows if row.suite == "bits"], cache)


def _selectivity(row: ProbeRow, control: ProbeRow) -> ProbeRow:
    """With the interval of the paired bootstrap: both have the same test sentences."""
    assert row.answers
    assert control.answers
    found = compare(row.answers.right, control.answers.right)
    score = found.difference, found.low, found.high
    numbers = {"accuracy": round(row.test_accuracy, 2), "control": round(control.test_accuracy, 2)}
    return _row(row, "selectivity", row.dev_accuracy - control.dev_accuracy, score, numbers, control.seconds)


def _gains(evaluation: Evaluation, rows: Sequence[ProbeRow], cache: Path | None) -> list[ProbeRow]:
    """Positive: the code is shorter than with a bag of vectors. Nothing where the model has no bag."""
    model = evaluation.model
    if not rows or model.bag is None:
        return []
    codes = [task for task in evaluation.tasks if isinstance(task, Bits)]
    bag = Evaluation(model.bag._replace(device=model.device), codes, evaluation.share, cache, evaluation.seed)
    theirs = {(s.row.task, s.row.classifier): s.row for s in bag.scores()}
    pairs = [(row, theirs[row.task, row.classifier]) for row in rows]
    return [_gain(row, other) for row, other in pairs]


def _gain(row: ProbeRow, bag: ProbeRow) -> ProbeRow:
    found = unpaired([bag.interval], [row.interval])
    saved = {"bits": round(bag.hyperparameters["bits"] - row.hyperparameters["bits"], 1)}
    return _row(row, "gain", found.difference, (found.difference, found.low, found.high), saved, bag.seconds)


def _row(row: ProbeRow, suite: str, dev: float, score: Interval, numbers: dict[str, float], seconds: float) -> ProbeRow:
    test, low, high = score
    row = replace(row, suite=suite, dev_accuracy=dev, test_accuracy=test, test_low=low, test_high=high)
    return replace(row, hyperparameters=numbers, answers=None, seconds=seconds, chance=None)
