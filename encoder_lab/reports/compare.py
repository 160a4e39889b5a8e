"""Two models, or two groups of seeds, task by task: effect, interval, p-value corrected over the tasks."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from encoder_lab.errors import InputError
from encoder_lab.reports.correlation import LEVEL, adjusted
from encoder_lab.reports.drawing import in_order
from encoder_lab.reports.escape import for_csv, for_latex
from encoder_lab.reports.findings import by_items
from encoder_lab.reports.models import ReportedModel, models_of, shortest_tails
from encoder_lab.reports.scores import runs_in
from encoder_lab.reports.table import scores_by_task
from probes.results import ProbeRow
from probes.statistics import PairedComparison, mean_of_runs, unpaired

HEADS = ("suite", "task", "A", "B", "A - B", "low", "high", "p", "p, Holm", "")
NOTE = (
    "A - B with its 95% interval, in points. Paired over test items and over seeds, with the errors of both: McNemar's "
    "test and the bootstrap, of correlations Steiger's test and Zou's interval, over seeds Student's t. * differs at "
    "{} after Holm's correction over {} tasks."
)


class TaskComparison(NamedTuple):
    """One task: the scores of both models in percent and their difference."""

    suite: str
    task: str
    first: float
    second: float
    difference: PairedComparison
    paired: bool  # item by item
    corrected: float = 1.0  # p-value over all tasks (Holm 1979)


def two_models(paths: Iterable[str | Path]) -> tuple[tuple[str, ReportedModel], tuple[str, ReportedModel]]:
    """The two models of these run folders, with their titles. Two paths are a model each, though they differ in seed.

    Raises InputError for another number of models, naming them.
    """
    folders = [Path(path) for path in paths]
    groups = [[folder] for folder in folders] if len(folders) == 2 else [folders]
    models = [model for group in groups for model in models_of(runs_in(group))]
    if len(models) != 2:
        names = "; ".join(model.title for model in models) or "none"
        raise InputError(
            f"give the runs of two models, A and B, or a folder for each; these are {len(models)}: {names}"
        )
    first, second = models
    titles = [first.title, second.title]
    if len(set(titles)) == 1:
        tails = shortest_tails([str(model.runs[0].folder) for model in models])
        titles = [f"{title} ({tail})" for title, tail in zip(titles, tails, strict=True)]
    return (titles[0], first), (titles[1], second)


def compare_models(
    first: ReportedModel, second: ReportedModel, suite: str | None = None, epoch: str = "best", classifier: str = "mlp"
) -> list[TaskComparison]:
    """Every task that both have, of one suite or of all. Raises InputError where there is none."""
    suites = dict.fromkeys(row.suite for run in first.runs for row in run.rows)
    found = []
    for name in suites if suite is None else [suite]:
        ours, theirs = (scores_by_task(model, name, epoch, classifier) for model in (first, second))
        found += [_compared(name, task, ours[task], theirs[task]) for task in in_order(list(ours)) if task in theirs]
    if not found:
        raise InputError(f"no task of {suite or 'any suite'} has scores of both; evaluate both models on one suite")
    corrected = adjusted(np.array([c.difference.p_value for c in found]))
    return [c._replace(corrected=float(p)) for c, p in zip(found, corrected, strict=True)]


def _compared(suite: str, task: str, first: Sequence[ProbeRow], second: Sequence[ProbeRow]) -> TaskComparison:
    ours, theirs = ([row.interval for row in rows] for rows in (first, second))
    answers = [
        [row.answers for row in sorted(rows, key=lambda row: row.seed) if row.answers] for rows in (first, second)
    ]
    whole = [len(known) for known in answers] == [len(first), len(second)]
    paired = by_items(*answers) if whole else None
    difference = paired or unpaired(ours, theirs)
    return TaskComparison(suite, task, mean_of_runs(ours)[0], mean_of_runs(theirs)[0], difference, paired is not None)


def notes_on(found: Sequence[TaskComparison], titles: Sequence[str], seeds: Sequence[int]) -> list[str]:
    """Who A and B are, the test, and which tasks are compared as if on different items."""
    names = [f"{letter}: {t} ({n} seed{'s' * (n > 1)})." for letter, t, n in zip("AB", titles, seeds, strict=True)]
    apart = ", ".join(c.task for c in found if not c.paired)
    why = "other test sentences or numbers of seeds, or no answers.csv; the interval is then wide"
    alone = ["One seed: nothing is said of other seeds."] if min(seeds) == 1 else []
    return [*names, NOTE.format(LEVEL, len(found)), *alone, *([f"Not paired: {apart} ({why})."] if apart else [])]


def as_text(found: Sequence[TaskComparison], notes: Sequence[str]) -> str:
    """For a terminal: columns, then the notes."""
    rows = [HEADS, *map(_cells, found)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEADS))]

    def line(cells: Sequence[str]) -> str:
        texts = [f"{cell:<{w}}" for cell, w in zip(cells[:2], widths, strict=False)]
        numbers = [f"{cell:>{w}}" for cell, w in zip(cells[2:], widths[2:], strict=True)]
        return "  ".join([*texts, *numbers]).rstrip()

    return "\n".join([*map(line, rows), "", *notes]) + "\n"


def as_csv(found: Sequence[TaskComparison], _: Sequence[str]) -> str:
    """A row for each task, full precision, without notes."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["suite", "task", "a", "b", "difference", "low", "high", "p", "p_holm", "paired"])
    for c in found:
        numbers = (c.first, c.second, *c.difference, c.corrected)
        writer.writerow(
            [for_csv(c.suite), for_csv(c.task), *(f"{value:g}" for value in numbers), str(c.paired).lower()]
        )
    return file.getvalue()


def as_latex(found: Sequence[TaskComparison], notes: Sequence[str]) -> str:
    """A tabular for the booktabs package, a row for each task."""
    lines = [
        r"\begin{tabular}{lrrrrr}",
        r"\toprule",
        r"task & A & B & $A-B$ & 95\% interval & $p$ (Holm) \\",
        r"\midrule",
    ]
    for c in found:
        _, _, first, second, effect, low, high, _, p, star = (text.replace("-", "$-$") for text in _cells(c))
        cells = (for_latex(c.task), first, second, effect, f"[{low}, {high}]", p.replace("<", "$<$") + star)
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*(f"% {for_latex(note)}" for note in notes), *lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _cells(c: TaskComparison) -> tuple[str, ...]:
    d = c.difference
    star = "*" if c.corrected <= LEVEL else ""
    points = [f"{value:.1f}" for value in (c.first, c.second)] + [f"{v:+.1f}" for v in (d.difference, d.low, d.high)]
    return c.suite, c.task, *points, _p(d.p_value), _p(c.corrected), star


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


FORMATS = {"text": as_text, "csv": as_csv, "latex": as_latex}
