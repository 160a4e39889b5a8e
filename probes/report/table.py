"""Tables of models by tasks, as in the papers: what is in them, not how they are written (formats.py)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from datamodules.errors import InputError
from probes.drawing import in_order
from probes.report.published import Published, published
from probes.report.runs import OWN_SCORES, Model, Run
from probes.results import ProbeRow

CORRELATIONS = "Accuracies, but SICK-R and STSB: Pearson's r x 100; STS12 to STS16: its mean over the domains."


class Cell(NamedTuple):
    """A score in percent; its interval and what a reader may ask, where known."""

    score: float
    low: float | None = None
    high: float | None = None
    about: str = ""


@dataclass
class Row:
    """One model. Rows of one `source` compete for the bold face, unless they are no trained encoders."""

    source: str  # "" for ours, else the published table
    encoder: str
    name: str
    cells: dict[str, Cell]
    competes: bool = True


@dataclass
class Table:
    """Models by columns."""

    title: str
    columns: list[str]
    rows: list[Row]
    notes: list[str] = field(default_factory=list)
    lower_is_better: frozenset[str] = frozenset()

    def best(self, row: Row, column: str) -> bool:
        """Whether no competitor has a better score, at the precision that is printed; alone there is no best."""
        rivals = [r for r in self.rows if r.competes and r.source == row.source and column in r.cells]
        if not row.competes or column not in row.cells or len(rivals) < 2:
            return False
        scores = [round(r.cells[column].score, 1) for r in rivals]
        return round(row.cells[column].score, 1) == (min if column in self.lower_is_better else max)(scores)


def probing_table(
    models: Sequence[Model], suite: str, epoch: str = "best", classifier: str = "mlp", beside: Sequence[str] = ()
) -> Table:
    """Table 2 of Conneau et al. 2018 for our models, published tables `beside` below them.

    A task that has no score by `classifier` shows the one it has (WordContent is logistic regression).
    """
    rows = [Row("", m.encoder, m.name, cells) for m in models if (cells := _cells(m, suite, epoch, classifier))]
    quoted = [row for table in beside for row in published_rows(published(table))]
    columns = in_order([task for row in rows or quoted for task in row.cells])
    if not columns:
        raise InputError(f"no scores of the suite {suite!r}; there are {', '.join(_suites(models)) or 'none at all'}")
    shown = [row for row in quoted if row.cells.keys() & set(columns)]
    seeds = {len(model.runs) for model in models}
    when = f"epoch {epoch}" if epoch.isdigit() else f"{epoch} epoch"
    notes = [f"Test scores in %, {when} of each run."] if rows else []
    notes += [CORRELATIONS] if suite == "downstream" else []
    notes += ["Below each score its 95% interval."] if seeds & {1} else []
    notes += ["Models with several seeds: their mean, below it the lowest and the highest."] if seeds - {1} else []
    return Table(f"{suite} scores", columns, rows + shown, [*notes, *_quoting(shown)])


def training_table(models: Sequence[Model], beside: Sequence[str] = ()) -> Table:
    """Table 3 of Conneau et al. 2018: how well each encoder does on what it was trained for."""
    rows: dict[tuple[str, str], Row] = {}
    lower = set()
    for model in (m for m in models if m.runs[0].score):
        kind = model.runs[0].score.rsplit("/", 1)[-1]
        column, name = _own_column(model.objective, kind), f"{model.encoder} {model.variant}".rstrip()
        rows.setdefault(("", name), Row("", "", name, {})).cells[column] = _own_cell(model)
        lower |= set() if OWN_SCORES[kind] else {column}
    for score in (score for table in beside for score in published(table)):
        row = rows.setdefault((score.table, score.encoder), Row(score.table, "", score.encoder, {}))
        row.cells[_own_column(score.model, score.task.lower())] = Cell(score.score)
    if not rows:
        raise InputError("no run has a score of its own yet (metrics.csv); an untrained encoder has none")
    columns = list(dict.fromkeys(column for row in rows.values() for column in row.cells))
    ours = ["Ours: dev scores of the best epoch; several seeds: their mean with the lowest and the highest below."]
    shown = list(rows.values())
    notes = [*(ours if any(not row.source for row in shown) else []), *_quoting(shown)]
    return Table("scores on the training tasks", columns, shown, notes, frozenset(lower))


def published_rows(scores: Sequence[Published]) -> list[Row]:
    """One row for each model of a published table."""
    rows: dict[tuple[str, str], Row] = {}
    for s in scores:
        row = rows.setdefault((s.encoder, s.model), Row(s.table, s.encoder, s.model, {}, competes=not s.kind))
        row.cells[s.task] = Cell(s.score)
    return list(rows.values())


def final_rows(run: Run, suite: str, epoch: str, classifier: str) -> dict[str, ProbeRow]:
    """The run's scores by task at one epoch; `classifier` where there is a choice."""
    if not any(row.suite == suite for row in run.rows):
        return {}
    at = [row for row in run.rows if row.suite == suite and row.epoch == run.epoch(epoch, suite)]
    return {row.task: row for row in sorted(at, key=lambda row: row.classifier == classifier)}


def _cells(model: Model, suite: str, epoch: str, classifier: str) -> dict[str, Cell]:
    found: dict[str, list[ProbeRow]] = {}
    for run in model.runs:
        for task, row in final_rows(run, suite, epoch, classifier).items():
            found.setdefault(task, []).append(row)
    return {task: _cell(rows) for task, rows in found.items()}


def _cell(rows: Sequence[ProbeRow]) -> Cell:
    scores = [row.test_accuracy for row in rows]
    if len(rows) == 1:
        settings = ", ".join(f"{name} {value}" for name, value in rows[0].hyperparameters.items())
        about = f"epoch {rows[0].epoch}, {rows[0].classifier}, {settings}, dev {rows[0].dev_accuracy:.1f}"
        return Cell(scores[0], rows[0].test_low, rows[0].test_high, about)
    about = f"{len(rows)} seeds: " + ", ".join(f"{score:.1f}" for score in scores)
    return Cell(sum(scores) / len(scores), min(scores), max(scores), about)


def _own_cell(model: Model) -> Cell:
    best = [(run.own_scores()[epoch], epoch) for run in model.runs if (epoch := run.best_epoch()) is not None]
    scores = [score for score, _ in best]
    about = ", ".join(f"{score:.2f} at epoch {epoch}" for score, epoch in best)
    mean = sum(scores) / len(scores)
    return Cell(mean, min(scores), max(scores), about) if len(scores) > 1 else Cell(mean, about=about)


def _own_column(objective: str, kind: str) -> str:
    return f"{objective} {'BLEU' if kind == 'bleu' else kind}"


def _suites(models: Sequence[Model]) -> list[str]:
    return sorted({row.suite for model in models for run in model.runs for row in run.rows})


def _quoting(rows: Sequence[Row]) -> list[str]:
    tables = dict.fromkeys(row.source for row in rows if row.source)
    return [f"Published: {', '.join(tables)}."] if tables else []
