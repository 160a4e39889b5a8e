"""Accuracy against the complexity of the classifier: the cells of a grid that no simpler one equals.

Pimentel et al. 2020, "Pareto probing". The complexity of an MLP is the number of its weights, that of logistic
regression their nuclear norm. The accuracy is the one on dev. The simplest, of complexity 0, is the majority class.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from encoder_lab.errors import InputError
from encoder_lab.reports.chart import Axis, Chart, ChartSection, DataSeries, Look, in_paper_order, look_of_index
from encoder_lab.reports.models import ReportedModel
from encoder_lab.reports.runs import rows_by_task
from probes.classifiers.grid import FRONT
from probes.results import ProbeRow

COMPLEXITY = {"mlp": "weights", "logreg": "nuclear norm of the weights"}
NOTE = """\
Accuracy on dev (%) of the classifiers that no simpler one equals, of the first seed; at 0 the majority class of the
training items. Area: the mean accuracy over complexities from 0 to the largest of the task; - where no classifier lies
between these, as the area would be that of the majority class."""
FrontPoints = Sequence[tuple[float, float]]  # complexity and accuracy, the simplest first, which has none


class OldFront(InputError):
    """A front without the majority class."""


class Fronts(NamedTuple):
    """The fronts of one model on one task, one for each seed."""

    model: str
    task: str
    classifier: str
    seeds: list[FrontPoints]


def fronts_of(models: Sequence[ReportedModel], suite: str, epoch: str, classifier: str) -> list[Fronts]:
    """The fronts by task, then by model. Raises InputError if there are none, OldFront."""
    fronts = []
    for model in models:
        for task, rows in rows_by_task(model.runs, suite, epoch, classifier).items():
            seeds = [_read_front(row) for row in rows if FRONT in row.hyperparameters]
            if not all(seeds):
                problem = f"{model.title}, {task}: its front of classifiers does not begin with the majority class"
                raise OldFront(f"{problem}; train or evaluate it again")
            if seeds and rows[0].classifier in COMPLEXITY:
                fronts.append(Fronts(model.title, task, rows[0].classifier, seeds))
    if not fronts:
        raise InputError(f"no score of suite={suite} has the front of its classifiers; train or evaluate it again")
    tasks = in_paper_order([front.task for front in fronts])
    return sorted(fronts, key=lambda front: tasks.index(front.task))


def _read_front(row: ProbeRow) -> FrontPoints:
    """The front of a score; none where the file has other things in its place."""
    points = row.hyperparameters[FRONT]
    points = points if isinstance(points, list) else []
    pairs = [tuple(pair) for pair in points if isinstance(pair, list) and len(pair) == 2]
    valid = all(isinstance(number, int | float) and 0 <= number < 1e15 for pair in pairs for number in pair)
    return sorted(pairs) if valid and pairs and min(pairs)[0] == 0 else ()


def area_under_front(points: FrontPoints, limit: float) -> float:
    """The mean accuracy over all complexities from 0 to `limit`, in percent, of a step at each point."""
    ends = [*(complexity for complexity, _ in points[1:]), limit]
    steps = sum(accuracy * (end - start) for (start, accuracy), end in zip(points, ends, strict=True))
    return steps / limit if limit else points[0][1]


def largest_complexities(fronts: Sequence[Fronts]) -> dict[tuple[str, str], float]:
    """The largest complexity of any model, by task and classifier."""
    maxima: dict[tuple[str, str], float] = {}
    for front in fronts:
        largest = max(points[-1][0] for points in front.seeds)
        maxima[front.task, front.classifier] = max(largest, maxima.get((front.task, front.classifier), 0.0))
    return maxima


def as_text(fronts: Sequence[Fronts]) -> str:
    """A line for each task and model: the area, and the points of its first seed."""
    maxima, wide = largest_complexities(fronts), max(len(front.model) for front in fronts) + 2
    lines, previous = [], ("", "")
    for front in fronts:
        if (key := (front.task, front.classifier)) != previous:
            lines += ["", f"{front.task} ({front.classifier}; complexity: {COMPLEXITY[front.classifier]})"]
        previous = key
        points = ", ".join(f"{y:.1f} at {x:,.{0 if x >= 1000 else 1}f}" for x, y in front.seeds[0])
        lines.append(f"  {front.model:<{wide}}area {_area_text(front, maxima[key])}; {points}")
    return "\n".join([*lines[1:], "", NOTE, ""])


def _area_text(front: Fronts, limit: float) -> str:
    if not any(0 < complexity < limit for points in front.seeds for complexity, _ in points):
        return "    -"
    areas = [area_under_front(points, limit) for points in front.seeds]
    seeds = f" (standard deviation of {len(areas)} seeds {np.std(areas, ddof=1):.1f})" if len(areas) > 1 else ""
    return f"{np.mean(areas):5.1f}{seeds}"


def charts_of_fronts(fronts: Sequence[Fronts], suite: str) -> ChartSection:
    """A chart for each task, a stepped line for each seed of each model."""
    legend = {model: look_of_index(index) for index, model in enumerate(dict.fromkeys(front.model for front in fronts))}
    charts = []
    for (task, classifier), limit in largest_complexities(fronts).items():
        task_fronts = [front for front in fronts if (front.task, front.classifier) == (task, classifier)]
        series = [line for front in task_fronts for line in _lines(front, legend[front.model], limit)]
        x, y = Axis(COMPLEXITY[classifier]), Axis("accuracy on dev (%)")
        charts.append(Chart(f"{task} ({classifier})", x, y, series, (3.7, 2.6)))
    return ChartSection(f"{suite}: accuracy against complexity", charts, legend, columns=3)


def _lines(front: Fronts, look: Look, end: float) -> Iterator[DataSeries]:
    for points in front.seeds:
        x, y = [complexity for complexity, _ in points], [accuracy for _, accuracy in points]
        steps = DataSeries(front.model, [*x, end], [*y, y[-1]], look=look, shape="steps", marker="")
        yield replace(steps, task=front.task, model=front.model)
        yield DataSeries(front.model, x, y, look=look, shape="points", task=front.task, model=front.model)
