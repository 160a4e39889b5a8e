"""What the published claims are checked against: our scores with their intervals, or the papers' own."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from probes.intervals import Z95, over_seeds, wilson
from probes.report.published import published
from probes.report.runs import Model, Run
from probes.report.table import Cell, final_rows, published_rows
from probes.results import ProbeRow

Name = tuple[str, str]  # encoder and objective as the papers write them
BOV: Name = ("BoV", "BoV")
PUBLISHED_TEST = 10_000  # sentences of a published probing task


class Point(NamedTuple):
    """A score in percent and half of its 95% interval."""

    score: float
    half: float


class Moment(NamedTuple):
    """One epoch of a run."""

    epoch: int
    probing: Mapping[str, Point]
    own: float | None  # the objective's score


Scores = Mapping[Name, Mapping[str, Point]]


@dataclass(frozen=True)
class Evidence:
    """Scores by model and task, and curves by model."""

    probing: Scores = field(default_factory=dict)
    logistic: Scores = field(default_factory=dict)  # probing by logistic regression
    downstream: Scores = field(default_factory=dict)
    discoeval: Scores = field(default_factory=dict)
    curves: Mapping[Name, Sequence[Moment]] = field(default_factory=dict)

    def encoders(self, suite: Scores, *objectives: str) -> list[str]:
        """Encoders that have scores for all of some objectives."""
        names = dict.fromkeys(encoder for encoder, _ in suite)
        return [encoder for encoder in names if all((encoder, objective) in suite for objective in objectives)]


def evidence_of(models: Sequence[Model], epoch: str = "best") -> Evidence:
    """Ours, at the best epoch by the objective's own score, the last, or a number; of models of one name the first."""
    first: dict[Name, Model] = {}
    for model in models:
        first.setdefault((model.encoder, model.objective), model)

    def suite(name: str, classifier: str = "") -> dict[Name, dict[str, Point]]:
        found = {key: _points(model.runs, name, classifier, epoch) for key, model in first.items()}
        return {key: points for key, points in found.items() if points}

    curves = {key: _moments(model.runs[0]) for key, model in first.items() if model.runs[0].score}
    return Evidence(
        suite("probing", "mlp"), suite("probing", "logreg"), suite("downstream"), suite("discoeval"), curves
    )


def published_evidence() -> Evidence:
    """The papers' tables, as if their test sets had the published sizes; they print no curves as numbers."""
    two, four, five = (_quoted(f"conneau2018_table{number}") for number in (2, 4, 5))
    return Evidence(two, four, five, _quoted("chen2019_table2"))


def _points(runs: Sequence[Run], suite: str, classifier: str, epoch: str) -> dict[str, Point]:
    found: dict[str, list[ProbeRow]] = {}
    for run in runs:
        for task, row in final_rows(run, suite, epoch, classifier).items():
            if not classifier or row.classifier == classifier or (task == "WC" and classifier == "mlp"):
                found.setdefault(task, []).append(row)
    return {task: _point(rows) for task, rows in found.items()}


def _point(rows: Sequence[ProbeRow]) -> Point:
    """One run: half of the test interval; several seeds: that of their mean, and the luck of the seeds."""
    scores = [row.test_accuracy for row in rows]
    half = sum((row.test_high - row.test_low) / 2 for row in rows) / len(rows)
    if len(rows) > 1:
        low, high = over_seeds(scores)
        half = math.hypot(half / math.sqrt(len(rows)), (high - low) / 2)
    return Point(sum(scores) / len(scores), half)


def _moments(run: Run) -> list[Moment]:
    own = run.own_scores()
    by_epoch: dict[int, dict[str, Point]] = {}
    for row in run.rows:
        if row.suite == "probing":
            by_epoch.setdefault(row.epoch, {})[row.task] = _point([row])
    return [Moment(epoch, points, own.get(epoch)) for epoch, points in sorted(by_epoch.items())]


def _quoted(table: str) -> dict[Name, dict[str, Point]]:
    rows = published_rows(published(table))
    return {_name(row.encoder, row.name): _with_intervals(row.cells.items()) for row in rows}


def _name(encoder: str, model: str) -> Name:
    return BOV if model.startswith("BoV") else (encoder, model)


def _with_intervals(cells: Iterable[tuple[str, Cell]]) -> dict[str, Point]:
    found = {}
    for task, cell in cells:
        low, high = wilson(round(PUBLISHED_TEST * cell.score / 100), PUBLISHED_TEST)
        found[task] = Point(cell.score, (high - low) / 2)
    return found


def of_correlation(r: float, models: int) -> Point:
    """Spearman's rho over some models with half of its interval (Bonett and Wright 2000)."""
    if models < 5 or math.isnan(r):
        return Point(r, math.inf)
    half = Z95 * math.sqrt((1 + r * r / 2) / (models - 3))
    bounded = min(max(r, -0.9999), 0.9999)
    low, high = math.tanh(math.atanh(bounded) - half), math.tanh(math.atanh(bounded) + half)
    return Point(r, r - low if r > 0 else high - r)
