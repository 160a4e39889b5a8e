"""Two models, or two groups of seeds, task by task: effect, interval, p-value corrected over the tasks."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from encoder_lab.errors import InputError
from encoder_lab.reports.chart import in_paper_order
from encoder_lab.reports.correlation import SIGNIFICANCE_LEVEL, holm_adjusted
from encoder_lab.reports.evidence import answers_of
from encoder_lab.reports.models import ReportedModel, RowsByTask, distinct_names, models_of, scored_suites
from encoder_lab.reports.runs import grouped, rows_by_task
from encoder_lab.reports.scores import read_runs
from encoder_lab.reports.table_notes import epoch_notes, protocol_notes
from encoder_lab.reports.text import aligned, for_csv, for_latex
from encoder_lab.storage.csv_files import csv_text
from probes.correlations import compare_correlations
from probes.facts import facts_of, unit_of
from probes.results import Answers, ProbeRow
from probes.statistics import PairedComparison, compare, compare_over_seeds, compare_unpaired, mean_of_runs

COLUMN_HEADS = ("suite", "task", "A", "B", "A - B", "low", "high", "p", "p, Holm", "")
TEST_NOTE = (
    "A - B with its 95% interval, in points{}. Paired over test items and over seeds, with the errors of both: "
    "McNemar's test and the bootstrap, of correlations Steiger's test and Zou's interval, over seeds Student's t. "
    "* differs at {}{}."
)


class TaskComparison(NamedTuple):
    """One task: the scores of both models in percent and their difference."""

    suite: str
    task: str
    first: float
    second: float
    difference: PairedComparison
    paired: bool  # item by item
    readers: tuple[str, str]
    seeds: tuple[int, int]
    corrected: float = 1.0  # p-value over all tasks (Holm 1979)


def two_models(paths: Iterable[str | Path]) -> tuple[tuple[str, ReportedModel], tuple[str, ReportedModel]]:
    """The two models of these folders and their titles; two paths are a model each. Raises InputError for more."""
    folders = [Path(path) for path in paths]
    groups = [[folder] for folder in folders] if len(folders) == 2 else [folders]
    models = [model for group in groups for model in models_of(read_runs(group))]
    if len(models) != 2:
        names = f"{len(models)}: {'; '.join(model.title for model in models) or 'none'}"
        raise InputError(f"give the runs of two models, A and B, or a folder for each; these are {names}")
    titles = distinct_names([model.title for model in models], [str(model.runs[0].folder) for model in models])
    return (titles[0], models[0]), (titles[1], models[1])


def compare_models(
    first: ReportedModel, second: ReportedModel, suite: str | None = None, epoch: str = "best", classifier: str = "mlp"
) -> list[TaskComparison]:
    """The difference, in points, of each task that both have, of one suite or of all. Raises InputError for none."""
    suites = scored_suites([first]) if suite is None else [suite]
    a, b = ({name: rows_by_task(m.runs, name, epoch, classifier) for name in suites} for m in (first, second))
    if not (compared := compare_tasks(a, b)):
        raise InputError(f"no task of {suite or 'any suite'} has scores of both; evaluate both models on one suite")
    return compared


def compare_tasks(first: Mapping[str, RowsByTask], second: Mapping[str, RowsByTask]) -> list[TaskComparison]:
    """The difference of each task that both have, by suite, corrected over them all."""
    tasks = [(suite, task) for suite, scores in first.items() for task in in_paper_order(list(scores))]
    shared = [(suite, task) for suite, task in tasks if task in second[suite]]
    compared = [_compare_task(suite, task, first[suite][task], second[suite][task]) for suite, task in shared]
    corrected = holm_adjusted(np.array([c.difference.p_value for c in compared]))
    return [c._replace(corrected=float(p)) for c, p in zip(compared, corrected, strict=True)]


def _compare_task(suite: str, task: str, first: Sequence[ProbeRow], second: Sequence[ProbeRow]) -> TaskComparison:
    a, b = ([row.interval for row in rows] for rows in (first, second))
    means, readers = (mean_of_runs(a)[0], mean_of_runs(b)[0]), (first[0].classifier, second[0].classifier)
    seeds = paired_by_items(answers_of(first), answers_of(second))
    if len({unit_of(suite, reader) for reader in readers}) > 1 or math.isnan(sum(means)):
        difference = PairedComparison(*[math.nan] * 4)  # no difference of nats and points, or of what is no number
    else:
        difference = compare_over_seeds(seeds) if seeds else compare_unpaired(a, b)
    return TaskComparison(suite, task, *means, difference, bool(seeds), readers, (len(a), len(b)))


def paired_by_items(first: Sequence[Answers], second: Sequence[Answers]) -> list[PairedComparison]:
    """Two models item by item, seed by seed or all with the only one; none where their test items are others."""
    sizes = {len(first), len(second)}
    if 0 in sizes or len(sizes - {1}) > 1:
        return []
    pairs = [(first[seed % len(first)], second[seed % len(second)]) for seed in range(max(sizes))]
    if any(a.test != b.test or a.sizes != b.sizes for a, b in pairs):
        return []
    return [compare_correlations(a.domains, b.domains) if a.domains else compare(a.right, b.right) for a, b in pairs]


def comparison_notes(
    compared: Sequence[TaskComparison], titles: Sequence[str], models: Sequence[ReportedModel], epoch: str
) -> list[str]:
    """Who A and B are, what else differs, the test, and which tasks are compared as if on different items."""
    suites = dict.fromkeys(c.suite for c in compared)
    seeds = [sum(any(map(run.has_suite, suites)) for run in model.runs) for model in models]
    names = [f"{letter}: {t} ({n} seed{'s' * (n > 1)})." for letter, t, n in zip("AB", titles, seeds, strict=True)]
    for suite in suites:
        names += [*epoch_notes(models, suite, epoch), *protocol_notes(models, suite)]
    tasks = with_task_names(compared)
    readers = [(task, *c.readers) for task, c in tasks if c.readers[0] != c.readers[1]]
    differing = ", ".join(f"{task} (A {first}, B {second})" for task, first, second in readers)
    names += [f"Not only the models differ, as the classifiers do: {differing}."] if differing else []
    apart = ", ".join(task for task, c in tasks if not c.paired)
    reason = "other test sentences or numbers of seeds, or no answers.csv; the interval is then wide"
    notes = [*dict.fromkeys(names), test_note(compared)]
    notes += ["One seed: nothing is said of other seeds."] if min(seeds) == 1 else []
    numbers = [(task, *pair) for task, c in tasks for pair in zip("AB", c.seeds, seeds, strict=True)]
    fewer = ", ".join(f"{task} ({letter} {n})" for task, letter, n, most in numbers if n < most)
    notes += [f"Of fewer seeds: {fewer}."] if fewer else []
    notes += [f"A smaller score is the better one in {suite}." for suite in suites if facts_of(suite).sign < 0]
    return [*notes, f"Not paired: {apart} ({reason})."] if apart else notes


def test_note(compared: Sequence[TaskComparison]) -> str:
    """What the numbers are, and the tests that made them."""
    units = grouped((unit_of(c.suite, c.readers[0]), task) for task, c in with_task_names(compared))
    counted = "".join(f"; in {unit}: {', '.join(tasks)}" for unit, tasks in units.items() if unit not in ("", "points"))
    tests = sum(not math.isnan(c.corrected) for c in compared)
    corrected = f" after Holm's correction over {tests} tasks" if tests > 1 else ""
    return TEST_NOTE.format(counted, SIGNIFICANCE_LEVEL, corrected)


def with_task_names(compared: Sequence[TaskComparison]) -> list[tuple[str, TaskComparison]]:
    """Each comparison with its task's name, preceded by the suite where several suites have the name."""
    suites = grouped((c.task, c.suite) for c in compared)
    return [(f"{c.suite} {c.task}" if len(suites[c.task]) > 1 else c.task, c) for c in compared]


def as_text(compared: Sequence[TaskComparison], notes: Sequence[str]) -> str:
    """The comparisons as aligned columns for a terminal, then the notes."""
    return "\n".join([*aligned([COLUMN_HEADS, *map(_row_cells, compared)], left=2), "", *notes]) + "\n"


def as_csv(compared: Sequence[TaskComparison], _: Sequence[str]) -> str:
    """A row for each task, six digits, without notes."""
    rows = [["suite", "task", "a", "b", "difference", "low", "high", "p", "p_holm", "paired"]]
    for c in compared:
        numbers = (f"{value:zg}" for value in (c.first, c.second, *c.difference, c.corrected))
        rows.append([for_csv(c.suite), for_csv(c.task), *numbers, str(c.paired).lower()])
    return csv_text(rows)


def as_latex(compared: Sequence[TaskComparison], notes: Sequence[str]) -> str:
    """A tabular for the booktabs package, a row for each task."""
    head = r"task & A & B & $A-B$ & 95\% interval & $p$ (Holm) \\"
    lines = [r"\begin{tabular}{lrrrrr}", r"\toprule", head, r"\midrule"]
    for task, c in with_task_names(compared):
        _, _, first, second, effect, low, high, _, p, star = (text.replace("-", "$-$") for text in _row_cells(c))
        cells = (for_latex(task), first, second, effect, f"[{low}, {high}]", p.replace("<", "$<$") + star)
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*(f"% {for_latex(note)}" for note in notes), *lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _row_cells(c: TaskComparison) -> tuple[str, ...]:
    d = c.difference
    star = "*" if c.corrected <= SIGNIFICANCE_LEVEL else ""
    points = [f"{value:.1f}" for value in (c.first, c.second)] + [f"{v:+z.1f}" for v in (d.difference, d.low, d.high)]
    return c.suite, c.task, *points, _p_text(d.p_value), _p_text(c.corrected), star


def _p_text(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


FORMATS = {"text": as_text, "csv": as_csv, "latex": as_latex}
