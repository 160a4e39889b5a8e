"""Tables of models by tasks, as in the papers: what is in them, not how they are written (formats.py)."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from encoder_lab.errors import InputError
from encoder_lab.reports import table_notes
from encoder_lab.reports.chart import in_paper_order
from encoder_lab.reports.models import ReportedModel, RowsByTask, ScoredModels, scored_suites
from encoder_lab.reports.published import Published, fitting, published
from encoder_lab.reports.runs import grouped, mean_of_seeds, rows_by_task
from probes.classifiers.grid import FRONT
from probes.coherence.scoring import compared_name
from probes.facts import column_of, facts_of
from probes.results import ProbeRow, chance_of
from probes.statistics import Interval, bounded_mean_of_runs, interval_with_ties, mean_of_runs, mean_of_tasks

# encoders that are the papers' rows of kind baseline: nothing in them was trained
BASELINE_ENCODERS = ("baseline", "bov")
BOLD_NOTE = "Bold or *: the best encoder of a column, trained or not, among ours and in each published table; "
BOLD_NOTE += "baselines and bags of vectors (BoV) do not compete."
MEAN_COLUMN = "avg."  # the column of the mean over groups, as in Chen et al. 2019
TUNED_READERS = ("mlp", "logreg", "regression")  # readers with settings that dev chooses


class TableCell(NamedTuple):
    """A score in percent with its interval, and the text of its tooltip, where known."""

    score: float
    low: float | None = None
    high: float | None = None
    tooltip: str = ""
    dev: float | None = None  # the score on dev, where something was chosen by it
    test: frozenset[str] = frozenset()  # what it was scored on, by which classifier; empty if unknown
    chance: float | None = None  # the score without any knowledge, where known
    runs: Sequence[Interval] = ()  # of each seed, with its interval; empty if unknown
    model: str = ""  # its title, where a row has several

    @property
    def margin(self) -> str:
        """Half of the interval, as ±1.2; empty where it is not known."""
        return "" if self.low is None or self.high is None else f"±{(self.high - self.low) / 2:.1f}"


@dataclass
class TableRow:
    """One model. The best score among the trained encoders of one `source` is bold."""

    source: str  # "" for ours, else the published table
    encoder: str
    name: str
    cells: dict[str, TableCell]
    competes: bool = True

    @property
    def title(self) -> str:
        return ", ".join(filter(None, [self.encoder, self.name]))


@dataclass
class Table:
    """Models by columns."""

    title: str
    columns: list[str]
    rows: list[TableRow]
    notes: list[str] = field(default_factory=list)
    lower_is_better: frozenset[str] = frozenset()
    intervals: str = "below"  # the score, inline, or none
    transposed: bool = False  # tasks are rows

    def best(self, row: TableRow, column: str) -> bool:
        """Whether no other row of its source, test and classifier is better as printed; a single row is not best."""
        if not row.competes or column not in row.cells:
            return False
        cell, choose = row.cells[column], min if column in self.lower_is_better else max
        cells = [r.cells[column] for r in self.rows if r.competes and r.source == row.source and column in r.cells]
        scores = [round(c.score, 1) for c in cells if c.test == cell.test and not math.isnan(c.score)]
        return len(scores) > 1 and round(cell.score, 1) == choose(scores)


def probing_table(
    models: Sequence[ReportedModel],
    suite: str,
    epoch: str = "best",
    classifier: str = "mlp",
    published_names: Sequence[str] | None = None,
    tasks: Sequence[str] = (),
    intervals: str = "below",
) -> Table:
    """Table 2 of Conneau et al. 2018 for our models, with published tables below; None takes the one that fits.

    A task that has no score by `classifier` shows the one it has (WordContent is logistic regression), and a model
    that has none at `epoch` shows another; notes say which. `tasks`: these columns alone, in this order. Raises
    InputError for one that the table lacks, and where no model has scores.
    """
    reported = [(model, scores) for model in models if (scores := rows_by_task(model.runs, suite, epoch, classifier))]
    other_means = facts_of(suite).means if reported else {}
    means = [_suite_mean_cells(model, other_means, epoch, classifier) for model, _ in reported]
    rows = [_model_row(*scored, suite, cells) for scored, cells in zip(reported, means, strict=True)]
    tables = fitting(suite, table_notes.read_by(reported, classifier)) if published_names is None else published_names
    quoted = [row for table in tables for row in published_rows(published(table))]
    quoted_tasks = {task for row in quoted for task in row.cells}
    for (model, scores), row in zip(reported, rows, strict=True):
        row.cells |= prediction_cells(model, scores, quoted_tasks)
    columns = in_paper_order([task for row in rows or quoted for task in row.cells])
    columns += in_paper_order([task for row in quoted for task in row.cells if _part_of(task, columns)])
    if not columns or (models and not reported):
        raise no_scores_error(models, suite)
    if missing := [task for task in tasks if task not in columns]:
        raise InputError(f"tasks={missing[0]}: not in this table; there are {', '.join(columns)}")
    if tasks:
        columns, rows = list(tasks), [row for row in rows if row.cells.keys() & set(tasks)]
        reported = _scores_of_columns(reported, columns, facts_of(suite).groups)
        for row in rows:
            row.cells = {column: row.cells[column] for column in columns if column in row.cells}
    quoted_rows = [row for row in quoted if row.cells.keys() & set(columns)]
    shown = bool(quoted_rows), intervals != "none"
    notes = table_notes.notes_of(reported, suite, epoch, classifier, *shown) if reported else []
    notes += mixed_items_notes(rows)
    notes += [
        f"{column}: the mean over {', '.join(names) or 'the tasks'} of suite={other_suite}."
        for column, (other_suite, names) in other_means.items()
        if any(column in row.cells for row in rows)
    ]
    result = Table(f"{suite} scores", columns, rows + quoted_rows, notes, intervals=intervals)
    result.notes += [BOLD_NOTE] if any(result.best(row, column) for row in result.rows for column in columns) else []
    result.notes += table_notes.measure_notes(columns)
    result.notes += table_notes.source_notes([row.source for row in quoted_rows])
    return result


def _scores_of_columns(
    reported: ScoredModels, columns: Sequence[str], groups: Mapping[str, str]
) -> list[tuple[ReportedModel, RowsByTask]]:
    """The scores behind some columns: their tasks, or all where a column is a mean of tasks of several columns."""
    if not {column_of(task, groups) for _, scores in reported for task in scores} >= set(columns):
        return list(reported)
    chosen = []
    for model, scores in reported:
        if shown := {task: rows for task, rows in scores.items() if column_of(task, groups) in columns}:
            chosen.append((model, shown))
    return chosen


def mixed_items_notes(rows: Sequence[TableRow], by: str = "test sentences, or by different classifiers") -> list[str]:
    """A note on the columns of our rows that are of different test items, or by different classifiers."""
    apart = []
    for column in dict.fromkeys(column for row in rows for column in row.cells):
        cells = [(row.competes, row.cells[column].test) for row in rows if column in row.cells]
        tests = {test for competes, test in cells if competes}
        items = {text.partition(" ")[0] for test in tests for text in test}
        baselines = [{text.partition(" ")[0] for text in test} for competes, test in cells if test and not competes]
        # a baseline has a reader of its own, and may have fewer seeds
        apart += [column] if len(tests) > 1 or (items and any(map(items.isdisjoint, baselines))) else []
    return [f"{', '.join(in_paper_order(apart))}: rows are of different {by}: do not compare them."] if apart else []


def _part_of(task: str, columns: Sequence[str]) -> bool:
    """Whether a published task is a part of one of ours that ours does not have: remention_wsj of remention."""
    return task not in columns and any(task.startswith(f"{column}_") for column in columns)


def prediction_cells(model: ReportedModel, scores: RowsByTask, names: Collection[str]) -> dict[str, TableCell]:
    """Single predictions of coherence suites (details.csv), of those `names` that tables of connectives have."""
    if not any(" " in name for name in names):
        return {}
    answered = [(task, row.answers) for task, rows in scores.items() for row in reversed(rows)]
    items = {task: len(answers.right) for task, answers in answered if answers}
    cells = grouped(
        (name, (percent, *interval_with_ties(round(percent * items[task] / 50) / 2, items[task])))
        for run in model.runs
        for (task, measure), percent in run.details.items()
        if task in items and measure.startswith("(") and (name := compared_name(task, measure)) in names
    )
    return {name: TableCell(*bounded_mean_of_runs(seeds)) for name, seeds in cells.items()}


def refuse_without_effect(names: Sequence[str], tables: Sequence[Table]) -> None:
    """Raises InputError where a published table that the user asked for has no row in any table."""
    for name in names:
        if tables and all(row.source != name for table in tables for row in table.rows):
            raise InputError(f"published={name}: it has no score of these tasks; choose another table, or leave it out")


def has_scores_of(table: str, suite: str, tasks: Collection[str]) -> bool:
    """Whether a published table has a score of some tasks of a suite, or of their groups."""
    columns = [*group_cells({task: TableCell(0) for task in tasks}, facts_of(suite).groups), *facts_of(suite).means]
    return any(score.task in columns or _part_of(score.task, columns) for score in published(table))


def no_scores_error(models: Sequence[ReportedModel], suite: str) -> InputError:
    suites = ", ".join(sorted(scored_suites(models))) or "none at all"
    return InputError(f"no scores of the suite {suite!r}; there are {suites}")


def published_rows(scores: Sequence[Published]) -> list[TableRow]:
    rows: dict[tuple[str, str], TableRow] = {}
    for s in scores:
        row = rows.setdefault((s.encoder, s.model), TableRow(s.table, s.encoder, s.model, {}, competes=not s.kind))
        row.cells[s.task] = TableCell(s.score)
    return list(rows.values())


def _suite_mean_cells(
    model: ReportedModel, columns: Mapping[str, tuple[str, tuple[str, ...]]], epoch: str, classifier: str
) -> dict[str, TableCell]:
    """The model's means over the tasks of other suites, by column; a column of some tasks needs scores of all."""
    cells = {}
    for column, (suite, tasks) in columns.items():
        scores = rows_by_task(model.runs, suite, epoch, classifier)
        if scores and scores.keys() >= set(tasks):
            cells[column] = _mean_cell({task: _score_cell(scores[task]) for task in tasks or scores})
    return cells


def _model_row(model: ReportedModel, scores: RowsByTask, suite: str, means: Mapping[str, TableCell]) -> TableRow:
    answered = [(row, row.answers.test) for run in model.runs for row in run.rows if row.answers]
    items: dict[str, frozenset[str]] = {}  # a measure that has none has those of its task, which come before
    for (task, _), tests in grouped(((row.task, row.suite), test) for row, test in answered).items():
        items.setdefault(task, frozenset(tests))
    cells = {task: _score_cell(rows) for task, rows in scores.items()}
    cells = {task: cell._replace(test=cell.test or items.get(task, cell.test)) for task, cell in cells.items()}
    cells = {**means, **group_cells(cells, facts_of(suite).groups)}
    competes = facts_of(suite).ranked and model.runs[0].encoder not in BASELINE_ENCODERS
    return TableRow("", model.encoder, model.name, cells, competes=competes)


def group_cells(cells: Mapping[str, TableCell], groups: Mapping[str, str]) -> dict[str, TableCell]:
    """The means of groups of tasks (Facts.groups), if all are there the mean of the groups, then their variants."""
    by_column: dict[str, dict[str, TableCell]] = {column: {} for column in groups.values()}
    for task, cell in cells.items():
        by_column.setdefault(column_of(task, groups), {})[task] = cell
    means = {column: _mean_cell(tasks) for column, tasks in by_column.items() if tasks}
    if groups and all(column in means for column in groups.values()):
        variants = {column: cell for column, cell in means.items() if column not in groups.values()}
        means = {column: means[column] for column in groups.values()}
        means |= {MEAN_COLUMN: _mean_cell(means)} | variants
    return means


def _mean_cell(cells: Mapping[str, TableCell]) -> TableCell:
    """The mean over tasks, of different items and the same seeds."""
    if len(cells) == 1:
        return next(iter(cells.values()))
    runs = mean_of_tasks([cell.runs or [(cell.score,) * 3] for cell in cells.values()])
    tooltip = "mean of " + ", ".join(f"{task} {cell.score:.1f}" for task, cell in cells.items())
    dev, chance = (_mean_of_all(values) for values in zip(*((c.dev, c.chance) for c in cells.values()), strict=True))
    test = frozenset().union(*(cell.test for cell in cells.values()))
    # of shares the interval ends at 0 and 100; correlations may be below 0
    mean = bounded_mean_of_runs if all((cell.low or 0) >= 0 for cell in cells.values()) else mean_of_runs
    return TableCell(*mean(runs), tooltip, dev, test, chance, runs)


def _mean_of_all(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if len(numbers) == len(values) else None


def _score_cell(rows: Sequence[ProbeRow]) -> TableCell:
    scores = [row.test_accuracy for row in rows]
    chosen = all(row.classifier in TUNED_READERS for row in rows)
    dev = sum(row.dev_accuracy for row in rows) / len(rows) if chosen else None
    test = frozenset(f"{row.answers.test} {row.classifier}" for row in rows if row.answers)
    runs = [row.interval for row in rows]
    if len(rows) == 1:
        settings = ", ".join(f"{name} {value}" for name, value in rows[0].hyperparameters.items() if name != FRONT)
        tooltip = f"epoch {rows[0].epoch}, {rows[0].classifier}, {settings}, dev {rows[0].dev_accuracy:.1f}"
        return TableCell(*rows[0].interval, tooltip, dev, test, rows[0].chance, runs)
    tooltip = f"{len(rows)} seeds: " + ", ".join(f"{score:.1f}" for score in scores)
    return TableCell(*mean_of_seeds(rows), tooltip, dev, test, chance_of(rows), runs)
