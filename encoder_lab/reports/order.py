"""When tasks are learnt: the step at which half, 90% and 95% of a task's gain is reached, and the order of tasks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.stats import kendalltau

from encoder_lab.errors import InputError
from encoder_lab.reports import chart
from encoder_lab.reports.chart import Axis, Chart, ChartSection, DataSeries, Marker
from encoder_lab.reports.models import ReportedModel
from encoder_lab.reports.runs import grouped, rows_by_one_reader
from encoder_lab.reports.text import aligned
from probes.facts import facts_of
from probes.results import Epoch, ProbeRow
from probes.statistics import TIE_DIGITS, Z95, Interval, mean_of_runs

GAIN_PARTS = (0.5, 0.9, 0.95)  # of the gain
MARKERS: tuple[Marker, ...] = ("circle", "square", "diamond")
RESAMPLES = 1000  # of the bootstrap
MIN_POINTS = 3  # tasks that an order has, and points that a curve has
NO_INTERVAL = (np.nan, np.nan, np.nan)


class Curve(NamedTuple):
    """The scores of a task in one run, in percent, by optimiser step."""

    moments: Sequence[tuple[bool, Epoch]]  # T, of the rows
    steps: np.ndarray  # (T,)
    scores: np.ndarray  # (T,)
    # (RESAMPLES, T): of test items drawn with replacement, the same ones at all steps, where known
    resampled: np.ndarray


class LearntTask(NamedTuple):
    """When a task was learnt, with 95% intervals."""

    task: str
    gain: Interval  # percentage points from the first to the last step
    steps: tuple[Interval, ...]  # the step for each of GAIN_PARTS; NaN where the gain may be none
    span: str = ""  # from which score to which; empty where there are too few


class ModelOrder(NamedTuple):
    """The order in which one model learns its tasks; its runs are seeds."""

    title: str
    tasks: list[LearntTask]  # those learnt first come first, those without a gain last
    seeds: float  # the mean Kendall's tau between orders of its runs; NaN for one run
    trained: bool = True

    @property
    def span(self) -> str:
        """That of most tasks: a gain over another span is another gain."""
        spans = Counter(task.span for task in self.tasks if task.span)
        return max(spans, key=spans.__getitem__, default="")

    @property
    def halves(self) -> dict[str, float]:
        """By task, the step of half its gain; only tasks with a gain."""
        steps = {learnt.task: round(learnt.steps[0][0], TIE_DIGITS) for learnt in self.measured}
        return {task: step for task, step in steps.items() if np.isfinite(step)}

    @property
    def measured(self) -> list[LearntTask]:
        """The tasks that all its runs were scored on at three epochs or steps, over the span of most."""
        return [task for task in self.tasks if task.span == self.span and np.isfinite(task.gain[0])]

    def why_no_order(self, task: LearntTask) -> str:
        """Why a task is not among the measured ones."""
        if not self.trained:
            return "no scores of a step of training"
        if not task.span:
            return "fewer than three epochs or steps with scores of all its seeds"
        return f"scores {task.span}, not {self.span}" if task.span != self.span else "a score that is no number"


def order_of(model: ReportedModel, suite: str, classifier: str) -> ModelOrder:
    """The order of a model's tasks; intervals are of the test items and of the seeds, by Student's t.

    Seeds are averaged at the epochs and steps that all of them have: an epoch has not always as many steps, as each
    seed leaves the sentences of its own tasks out.
    """
    rows = [[row for row in run.rows if row.suite == suite] for run in model.runs]
    runs = list(map(curves_of, rows_by_one_reader(rows, classifier)))
    names = chart.in_paper_order([task for curves in runs for task in curves])
    learnt = [learnt_task(task, [curves[task] for curves in runs if task in curves]) for task in names]
    learnt.sort(key=lambda task: (not np.isfinite(task.steps[0][0]), task.steps[0][0]))
    by_run = [[learnt_task(task, [curve]) for task, curve in curves.items()] for curves in runs]
    orders = [ModelOrder(model.title, tasks, np.nan).halves for tasks in by_run]
    return ModelOrder(model.title, learnt, mean_agreement(orders), any(row.step for run in rows for row in run))


def curves_of(rows: Sequence[ProbeRow]) -> dict[str, Curve]:
    """The scores of each task of a run by step."""
    by_task: dict[str, dict[int, ProbeRow]] = {}
    for row in rows:
        by_task.setdefault(row.task, {})[row.step] = row
    return {task: _curve([steps[step] for step in sorted(steps)]) for task, steps in by_task.items()}


def _curve(rows: Sequence[ProbeRow]) -> Curve:
    steps = np.array([row.step for row in rows])
    scores = facts_of(rows[0].suite).sign * np.array([row.test_accuracy for row in rows])
    moments = [row.moment for row in rows]
    answers = [row.answers for row in rows if row.answers and not row.answers.domains]
    if len(answers) < len(rows) or len({answer.test for answer in answers}) > 1:
        errors = np.array([row.test_high - row.test_low for row in rows]) / 2 / Z95
        return Curve(moments, steps, scores, np.random.default_rng(0).normal(scores, errors, (RESAMPLES, len(rows))))
    correct = np.array([answer.right.reshape(len(answer.right), -1).mean(1) for answer in answers])  # (T, N)
    return Curve(moments, steps, scores, 100 * _bootstrap_counts(correct.shape[1]) @ correct.T / correct.shape[1])


@lru_cache(maxsize=16)  # the tasks of a suite
def _bootstrap_counts(items: int) -> np.ndarray:
    """How often each of the test items is drawn, (RESAMPLES, items) of float64, so that no product converts them."""
    return np.random.default_rng(0).multinomial(items, np.full(items, 1 / items), RESAMPLES).astype(float)


def learnt_task(task: str, curves: Sequence[Curve]) -> LearntTask:
    """When the mean curve of runs reaches each part of its gain, with intervals."""
    shared = [moment for moment in curves[0].moments if all(moment in curve.moments for curve in curves)]
    if len(shared) < MIN_POINTS:
        return LearntTask(task, NO_INTERVAL, (NO_INTERVAL,) * len(GAIN_PARTS))
    span = " to ".join(f"{'epoch' if whole else 'step'} {number}" for whole, number in (shared[0], shared[-1]))
    pairs = [(curve, [curve.moments.index(moment) for moment in shared]) for curve in curves]
    steps = np.mean([curve.steps[indices] for curve, indices in pairs], 0)
    seeds = np.array([curve.scores[indices] for curve, indices in pairs])  # (R, T)
    items = np.array([curve.resampled[:, indices] for curve, indices in pairs])  # (R, RESAMPLES, T)
    gain = mean_of_runs([_interval(y[-1] - y[0], d[:, -1] - d[:, 0]) for y, d in zip(seeds, items, strict=True)])
    if not min(gain) > 0:  # or its score is NaN
        return LearntTask(task, gain, (NO_INTERVAL,) * len(GAIN_PARTS), span)
    scores, random = seeds.mean(0), np.random.default_rng(1)
    scale = np.sqrt(len(seeds) * random.chisquare(max(1, len(seeds) - 1), (RESAMPLES, 1)))
    # the deviations of seeds add up to Student's t times the error of their mean, at each step
    resampled = items.mean(0) + random.normal(size=(RESAMPLES, len(seeds))) / scale @ (seeds - scores)
    both = np.concatenate([scores[None], resampled])
    reached = [steps_reached(steps, both, part) for part in GAIN_PARTS]
    return LearntTask(task, gain, tuple(_interval(values[0], values[1:]) for values in reached), span)


def steps_reached(steps: np.ndarray, scores: np.ndarray, part: float) -> np.ndarray:
    """Where curves (B, T) first reach a part of their gain, between two steps (T,) on a line; NaN without a gain."""
    first, last = scores[:, 0], scores[:, -1]
    target = first + part * (last - first)
    index = np.argmax(scores.round(TIE_DIGITS) >= target.round(TIE_DIGITS)[:, None], 1).clip(1)
    row = np.arange(len(scores))
    before, after = scores[row, index - 1], scores[row, index]
    rise = np.where(after > before, after - before, 1.0)
    between = steps[index - 1] + (target - before) / rise * (steps[index] - steps[index - 1])
    return np.where(last > first, between, np.nan)


def _interval(value: float, resampled: np.ndarray) -> Interval:
    low, high = np.nanquantile(resampled, [0.025, 0.975])
    return float(value), float(low), float(high)


def agreement(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """Kendall's tau of the order of the tasks that both have; NaN for fewer than three, or if all are equal."""
    pairs = [(step, second.get(task, np.nan)) for task, step in first.items()]
    complete = [pair for pair in pairs if np.isfinite(pair).all()]
    return float(kendalltau(*zip(*complete, strict=True)).statistic) if len(complete) >= MIN_POINTS else np.nan


def mean_agreement(orders: Sequence[Mapping[str, float]]) -> float:
    """The mean Kendall's tau of every two orders; NaN where none has one."""
    taus = [tau for first, second in combinations(orders, 2) if np.isfinite(tau := agreement(first, second))]
    return float(np.mean(taus)) if taus else np.nan


def model_orders(models: Sequence[ReportedModel], suite: str, classifier: str) -> list[ModelOrder]:
    """The order of each model with scores of the suite. Raises InputError where none was scored at three steps."""
    ordered = [order for model in models if (order := order_of(model, suite, classifier)).tasks]
    if not any(order.measured for order in ordered):
        remedy = "train more epochs, or with probes.steps=[1,2,4,8,16]"
        raise InputError(f"no run has scores of suite={suite} at three steps; {remedy}")
    return ordered


def as_text(ordered: Sequence[ModelOrder]) -> str:
    """The tasks of each model in their order with their steps, then Kendall's tau between seeds and models."""
    lines = []
    for model in ordered:
        rows = [["task", "gain", *(f"{part:.0%} at step" for part in GAIN_PARTS)]]
        for task in model.measured:
            rows.append([task.task, _interval_text(task.gain, 1), *(_interval_text(step, 0) for step in task.steps)])
        lines += [model.title, *aligned(rows)]
        rest = grouped((model.why_no_order(task), task.task) for task in model.tasks if task not in model.measured)
        lines += [f"{', '.join(names)}: no order, {reason}" for reason, names in rest.items()]
        if np.isfinite(model.seeds):
            lines.append(f"Kendall's tau of the order between its seeds: {model.seeds:.2f}")
        lines.append("")
    for first, second in combinations(ordered, 2):
        if np.isfinite(tau := agreement(first.halves, second.halves)):
            lines.append(f"Kendall's tau {tau:5.2f}: {first.title}; {second.title}")
    lines.append("Order: by the step of half the gain. No step: there may be no gain, by its 95% interval.")
    return "\n".join([*lines, *_span_notes(ordered)]) + "\n"


def _span_notes(ordered: Sequence[ModelOrder]) -> list[str]:
    """A note where models were scored over different spans."""
    spans = grouped((model.span, model.title) for model in ordered if model.span)
    texts = (f"{span} ({', '.join(titles)})" for span, titles in spans.items())
    return [f"Gains, and what is half of them, are of different spans: {'; '.join(texts)}."] if len(spans) > 1 else []


def _interval_text(interval: Interval, digits: int) -> str:
    value, low, high = interval
    return f"{value:z.{digits}f} [{low:z.{digits}f}, {high:z.{digits}f}]" if np.isfinite(value) else "-"


def charts_of_order(ordered: Sequence[ModelOrder]) -> ChartSection:
    """A chart for each model with a gain: its tasks from the first learnt downwards, the steps of parts of their gains.

    Raises InputError where no task of any model has a gain.
    """
    drawn = [model for model in ordered if model.halves]
    if not drawn:
        raise InputError("nothing to draw: no task's score rises by more than its 95% interval; train longer")
    parts = ", ".join(f"{marker}: {part:.0%}" for marker, part in zip(MARKERS, GAIN_PARTS, strict=True))
    note = f"Step at which a part of the gain is reached ({parts}); 95% intervals."
    ends = [high for model in ordered for task in model.measured for _, _, high in task.steps if np.isfinite(high)]
    steps = Axis("optimiser step", ends=(0, 1.05 * max(ends)))
    rows = max(len(model.halves) for model in drawn)
    if without := [model.title for model in ordered if model.measured and not model.halves]:
        note += f" No task has a gain: {'; '.join(without)}."
    charts = [_chart(model, steps, rows) for model in drawn]
    note = " ".join([note, *_span_notes(drawn)])
    return ChartSection("when tasks are learnt", charts, columns=3, note=note)


def _chart(model: ModelOrder, steps: Axis, rows: int) -> Chart:
    learnt = [task for task in model.tasks if task.task in model.halves]
    names = [task.task for task in learnt]
    colours, series = chart.task_looks(names), []
    for row, task in enumerate(learnt):
        for shift, part, step, marker in zip((-0.2, 0.0, 0.2), GAIN_PARTS, task.steps, MARKERS, strict=True):
            dot = DataSeries(task.task, [step], [row + shift], look=colours[task.task], shape="points", marker=marker)
            hover = [f"{task.task}\n{part:.0%} at step {chart.score_text(*step)}"]
            series.append(replace(dot, hover=hover, model=model.title))
    return Chart(model.title, steps, chart.row_axis(names, rows), series, (5.2, 1.3 + 0.36 * rows))
