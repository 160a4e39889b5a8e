"""The evidence for or against the published claims: our scores with their intervals, or the papers' scores."""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain
from typing import NamedTuple

from encoder_lab.reports.models import ReportedModel, scored_suites
from encoder_lab.reports.published import PUBLISHED_TEST_ITEMS, published
from encoder_lab.reports.runs import Run, grouped, rows_by_one_reader, rows_by_task
from encoder_lab.reports.sizes import group_by_size
from encoder_lab.reports.table import published_rows
from encoder_lab.reports.table_notes import CLASSIFIER_NAMES, RELATEDNESS_TASKS, commit_notes, run_notes
from probes.facts import column_of, facts_of
from probes.probing import RATED_ODD
from probes.results import Answers, Epoch, ProbeRow
from probes.statistics import Interval, fisher_interval, mean_of_runs, mean_of_tasks, wilson_interval

ModelName = tuple[str, str]  # encoder and objective as the papers write them
BOV: ModelName = ("BoV", "BoV")
BASELINE_ENCODER = "Baselines"  # unigram, length and other models
ENDS = {"epoch": {"first epoch": 0, "last epoch": -1}, "size": {"smallest": 0, "largest": -1}}
PUBLISHED_ODD = {("BiLSTM-max", "Untrained"): 83, ("", "Hum. Eval."): 38}  # of SOMO (Conneau et al. 2018, section 4)
JUDGED_SENTENCES = 1000  # sentences of it (section 2)
CHECKED_SENTENCES = 200  # test sentences of each probing task that a linguist checked (section 2)


class Point(NamedTuple):
    """A score in percent and its margin of error, half of its 95% interval."""

    score: float
    margin: float
    answers: tuple[Answers, ...] = ()  # of all seeds; empty if one is unknown
    parts: tuple["Point", ...] = ()  # of a mean over tasks: each of them
    runs: tuple[Interval, ...] = ()  # of each seed; empty of one score

    @property
    def seeds(self) -> Sequence[Interval]:
        """The score of each seed with its interval, also of one score."""
        return self.runs or [(self.score, self.score - self.margin, self.score + self.margin)]


class EpochScores(NamedTuple):
    """One epoch of a model, the mean of its seeds."""

    epoch: int
    probing: Mapping[str, Point]
    bleu: float | None


Points = Mapping[str, Point]  # by task
PointsByModel = Mapping[ModelName, Points]


@dataclass(frozen=True)
class Evidence:
    """Scores by model and task, and curves by model."""

    probing: PointsByModel = field(default_factory=dict)
    logistic: PointsByModel = field(default_factory=dict)  # probing by logistic regression
    downstream: PointsByModel = field(default_factory=dict)
    discoeval: PointsByModel = field(default_factory=dict)
    curves: Mapping[ModelName, Sequence[EpochScores]] = field(default_factory=dict)
    pairs: Sequence[tuple[Points, Points]] = ()  # probing and downstream scores of every model that has both
    coherence: PointsByModel = field(default_factory=dict)
    rated_odd: PointsByModel = field(default_factory=dict)  # sentences of a task that are called modified
    sizes: Mapping[ModelName, Mapping[int, Points]] = field(default_factory=dict)  # probing by encoder.dim
    notes: Sequence[str] = ()  # for the reader, about the runs

    @cached_property
    def tables(self) -> Mapping[str, PointsByModel]:
        """The scores that the rules of claims name."""
        grouped = {name: group_means(points) for name, points in self.discoeval.items()}
        context = {n: points.get("SP with context", grouped[n].get("SP")) for n, points in self.discoeval.items()}
        epochs = {name: moments for name in self.curves if (moments := self.later_epochs(name))}
        sizes = {name: sorted(points) for name, points in self.sizes.items()}
        human = [row for row in published("conneau2018_table2") if row.model == "Hum. Eval."]
        no_encoder = ("", BASELINE_ENCODER)
        return {
            "probing": self.probing,
            "baselines": {("", model): p for (encoder, model), p in self.probing.items() if encoder in no_encoder},
            "logistic": {name: p for name, p in self.logistic.items() if name[0] not in no_encoder},
            "downstream": self.downstream,
            "discoeval": self.discoeval,
            "rated odd": self.rated_odd,
            "coherence": {name: points for name, points in self.coherence.items() if name[0] != BASELINE_ENCODER},
            "checked": {("", "Hum. Eval."): {row.task: share_point(row.score, CHECKED_SENTENCES) for row in human}},
            "groups": grouped,
            "with context": {name: {"SP": point} for name, point in context.items() if point},
            "without context": self._group_without("SP", "context"),
            "without hidden layer": self._group_without("DC", "hidden layer"),
            **{key: {name: epochs[name][end].probing for name in epochs} for key, end in ENDS["epoch"].items()},
            **{key: {name: self.sizes[name][sizes[name][end]] for name in sizes} for key, end in ENDS["size"].items()},
        }

    def later_epochs(self, name: ModelName) -> Sequence[EpochScores]:
        """The epochs of a model after the first pass over the data; none of fewer than three."""
        moments = [moment for moment in self.curves.get(name, ()) if moment.epoch > 0]
        return moments if len(moments) > 2 else []

    def _group_without(self, group: str, part: str) -> PointsByModel:
        """The scores of a group of discourse tasks without a part of them, the mean over its domains."""
        domains = {
            name: [p for task, p in points.items() if task.startswith(group) and task.endswith(f" without {part}")]
            for name, points in self.discoeval.items()
        }
        return {name: {group: mean_point(points)} for name, points in domains.items() if points}


def model_title(name: ModelName) -> str:
    """The encoder and the objective of a model; once where they are the same."""
    return " ".join(part for part in dict.fromkeys(name) if part)


def group_means(points: Points) -> dict[str, Point]:
    """The seven groups of discourse tasks: as they are, or the mean over domains (SP: SParxiv, SProc, ...)."""
    groups = facts_of("discoeval").groups
    columns = grouped((column_of(task, groups), point) for task, point in points.items())
    return {group: points.get(group) or mean_point(columns[group]) for group in groups.values() if group in columns}


def evidence_of(models: Sequence[ReportedModel], epoch: str = "best") -> Evidence:
    """Our scores at an epoch; of several models with one name only the first, except in correlations."""
    first: dict[ModelName, ReportedModel] = {}
    for model in models:
        first.setdefault((model.encoder, model.objective), model)

    def suite(name: str, classifier: str = "") -> dict[ModelName, Points]:
        every = {key: _points_by_task(model.runs, name, classifier, epoch) for key, model in first.items()}
        return {key: points for key, points in every.items() if points}

    sizes: dict[ModelName, Mapping[int, Points]] = {}
    for sized in group_by_size(chain(*(model.runs for model in models))):
        if len(sized.sizes) > 1:
            seeds = {size: _points_by_task(runs, "probing", "mlp", epoch) for size, runs in grouped(sized.runs).items()}
            sizes.setdefault(sized.name, seeds)
    embed = [model.runs for model in models if model.encoder != BASELINE_ENCODER]
    probed = [_points_by_task(runs, "probing", "mlp", epoch) for runs in embed]
    applied = [_points_by_task(runs, "downstream", "", epoch) for runs in embed]
    return Evidence(
        suite("probing", "mlp"),
        suite("probing", "logreg"),
        suite("downstream"),
        {key: {**points, **_suite_means(first[key].runs, epoch)} for key, points in suite("discoeval").items()},
        {key: epoch_scores_of(model.runs) for key, model in first.items() if any(run.metrics for run in model.runs)},
        [pair for pair in zip(probed, applied, strict=True) if all(pair)],
        suite("coherence"),
        {key: points for key, model in first.items() if (points := _rated_odd(model.runs))},
        sizes,
        _notes(models, list(first.values()), epoch),
    )


def _notes(models: Sequence[ReportedModel], used: Sequence[ReportedModel], epoch: str) -> list[str]:
    elsewhere = [run_notes(models, suite, epoch) for suite in scored_suites(models)]
    alone = sum(sum(bool(run.rows) for run in model.runs) == 1 for model in used)
    seeds = f"{alone} of {len(used)} models have one seed: their intervals exclude the variance between seeds."
    unused = ", ".join(model.title for model in models if all(model is not first for first in used))
    notes = [*dict.fromkeys(chain(*elsewhere)), *commit_notes(used), *([seeds] if alone else [])]
    others = f"Of models with one name the first is judged; others count in correlations and sizes alone: {unused}."
    return [*notes, *([others] if unused else [])]


@cache
def published_evidence() -> Evidence:
    """The papers' tables, with the sizes of their test sets; they print no curves as numbers."""
    two, four, five = (_published_points(f"conneau2018_table{number}") for number in (2, 4, 5))
    pairs = [(two[name], five[name]) for name in two if name in five]
    discoeval = _published_points(*(f"chen2019_{name}" for name in ("table2", "table4", "table5", "table6", "figure8")))
    texts = _published_points("beyer2021_tables1to5")
    coherence = {name: points | _connective_points(name) for name, points in texts.items()}
    rated = {name: {"SOMO": share_point(percent, JUDGED_SENTENCES)} for name, percent in PUBLISHED_ODD.items()}
    return Evidence(two, four, five, discoeval, pairs=pairs, coherence=coherence, rated_odd=rated)


def _points_by_task(runs: Sequence[Run], suite: str, classifier: str, epoch: str) -> dict[str, Point]:
    """The scores by task, by `classifier` or where there is no choice; with none, by logistic regression first."""
    either = facts_of(suite).one_reader if classifier == "mlp" else frozenset()
    return {
        task: _point(rows)
        for task, rows in rows_by_task(runs, suite, epoch, classifier or "logreg").items()
        if classifier in ("", rows[0].classifier)
        or task in either
        or (classifier == "mlp" and rows[0].classifier not in CLASSIFIER_NAMES)
    }


def _rated_odd(runs: Sequence[Run]) -> dict[str, Point]:
    """How many percent of the test sentences an evaluation calls modified, by task; the mean over seeds."""
    probed = [[row for row in run.rows if row.suite == "probing" and row.answers] for run in runs]
    sizes = [{row.task: len(row.answers.right) for row in rows if row.answers} for rows in probed]
    seeds = grouped(
        (task, (percent, *wilson_interval(round(percent * items / 100), items)))
        for run, run_sizes in zip(runs, sizes, strict=True)
        for (task, measure), percent in run.details.items()
        if measure == RATED_ODD and (items := run_sizes.get(task))
    )
    return {task: _mean_over_seeds(intervals) for task, intervals in seeds.items()}


def _suite_means(runs: Sequence[Run], epoch: str) -> dict[str, Point]:
    """The means over tasks of other suites that stand next to the discourse tasks: USS, SSS, SC, Probing."""
    means = {}
    for column, (suite, tasks) in facts_of("discoeval").means.items():
        points = _points_by_task(runs, suite, "" if tasks else "mlp", epoch)
        if points and points.keys() >= set(tasks):
            means[column] = mean_point([points[task] for task in tasks or points])
    return means


def _point(rows: Sequence[ProbeRow]) -> Point:
    """The score of one run, or the mean over seeds; its interval does not end at 0 and 100."""
    return _mean_over_seeds([row.interval for row in rows])._replace(answers=answers_of(rows))


def _mean_over_seeds(runs: Sequence[Interval]) -> Point:
    score, low, high = mean_of_runs(runs)
    return Point(score, (high - low) / 2, runs=tuple(runs) if len(runs) > 1 else ())


def answers_of(rows: Sequence[ProbeRow]) -> tuple[Answers, ...]:
    """The answers to single items of all seeds; none if those of a seed are unknown."""
    answers = tuple(row.answers for row in rows if row.answers)
    return answers if len(answers) == len(rows) else ()


def epoch_scores_of(runs: Sequence[Run]) -> list[EpochScores]:
    """The epochs of any run, by the MLP where it can be, once all are probed; others count with their last before."""
    rows = rows_by_one_reader([[row for row in run.rows if row.suite == "probing"] for run in runs], "mlp")
    probed = []
    for run_rows in filter(None, rows):
        by_epoch: dict[Epoch, dict[str, ProbeRow]] = {}
        for row in sorted(run_rows, key=lambda row: row.epoch):
            by_epoch.setdefault(row.epoch, {})[row.task] = row
        probed.append((list(by_epoch), by_epoch))
    curves = [bleu for run in runs if run.score.endswith("bleu") and (bleu := run.objective_scores())]
    moments = []
    first = max((epochs[0] for epochs, _ in probed), default=0)
    for epoch in sorted({e for epochs, _ in probed for e in epochs if isinstance(e, int) and e >= first}):
        until = [by_epoch[epochs[bisect_right(epochs, epoch) - 1]] for epochs, by_epoch in probed]
        seed_rows = grouped(pair for by_task in until for pair in by_task.items())
        scores = [bleu[max(e for e in bleu if e <= epoch)] for bleu in curves if min(bleu) <= epoch]
        points = {task: _point(group) for task, group in seed_rows.items()}
        moments.append(EpochScores(epoch, points, sum(scores) / len(scores) if scores else None))
    return moments


def _published_points(*tables: str) -> dict[ModelName, dict[str, Point]]:
    """Scores by model; where several tables have one, that of the first."""
    by_model: dict[ModelName, dict[str, Point]] = {}
    for row in (row for table in tables for row in published_rows(published(table))):
        points = by_model.setdefault(_model_name(row.encoder, row.name), {})
        new = {task: cell.score for task, cell in row.cells.items() if task not in points}
        points |= {task: Point(score, _published_margin(task, score)) for task, score in new.items()}
    return by_model


def _connective_points(name: ModelName) -> dict[str, Point]:
    """Table 4 of Beyer et al. 2021: each connective and sense, the mean over the connectives that replace it."""
    rows = [row for row in published("beyer2021_table4") if _model_name(row.encoder, row.model) == name]
    scores = grouped((row.task.split()[0], row.score) for row in rows)
    means = {task: sum(values) / len(values) for task, values in scores.items()}
    margins = {t: _published_margin(t, mean) if t in PUBLISHED_TEST_ITEMS else math.inf for t, mean in means.items()}
    return {task: Point(mean, margins[task]) for task, mean in means.items()}


def _model_name(encoder: str, model: str) -> ModelName:
    return BOV if model.startswith("BoV") else (encoder, model)


def _published_margin(task: str, score: float) -> float:
    items = PUBLISHED_TEST_ITEMS.get(task.split()[0], 10_000)  # also of `SP without context`
    if task not in RELATEDNESS_TASKS:
        return share_point(score, items).margin
    low, high = (100 * r for r in fisher_interval(score / 100, items))
    return (high - low) / 2


def share_point(percent: float, items: int) -> Point:
    """A percentage of some items, with half of Wilson's interval."""
    low, high = wilson_interval(round(percent * items / 100), items)
    return Point(percent, (high - low) / 2)


def mean_point(points: Sequence[Point]) -> Point:
    """The mean over tasks with different test items and the same seeds."""
    if len(points) == 1:
        return points[0]
    return _mean_over_seeds(mean_of_tasks([point.seeds for point in points]))._replace(parts=tuple(points))
