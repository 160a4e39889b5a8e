"""Accuracy against the complexity of the classifier: the cells of a grid that no simpler one equals.

Pimentel et al. 2020, "Pareto probing". The complexity of an MLP is the number of its weights, that of logistic
regression the nuclear norm of its weights on standardised features. The accuracy is the one on dev.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from encoder_lab.errors import InputError
from encoder_lab.reports.drawing import in_order, look_at, new_figure, plain_axes
from encoder_lab.reports.escape import for_figure
from encoder_lab.reports.models import ReportedModel
from encoder_lab.reports.runs import rows_by_task
from probes.classifiers.grid import FRONT
from probes.results import ProbeRow

COMPLEXITY = {"mlp": "weights", "logreg": "nuclear norm of the weights"}
COLUMNS = 3  # of panels
NOTE = """\
Accuracy on dev (%) of the classifiers that no simpler one equals. Area: its mean over complexities from 0 to
the largest of the task; below the simplest classifier it is chance."""
FrontPoints = Sequence[tuple[float, float]]  # complexity and accuracy, the simplest first


class Fronts(NamedTuple):
    """The fronts of one model on one task, one for each seed."""

    model: str
    task: str
    classifier: str
    seeds: list[FrontPoints]
    chance: float  # before the simplest classifier


def fronts_of(models: Sequence[ReportedModel], suite: str, epoch: str, classifier: str) -> list[Fronts]:
    """By task, then by model. Raises InputError where no score has one."""
    fronts = []
    for model in models:
        for task, rows in rows_by_task(model.runs, suite, epoch, classifier).items():
            seeds = [points for row in rows if (points := _points(row))]
            if seeds and rows[0].classifier in COMPLEXITY:
                chance = rows[0].chance or 0.0
                fronts.append(Fronts(model.title, task, rows[0].classifier, seeds, chance))
    if not fronts:
        raise InputError(f"no score of suite={suite} has the front of its classifiers; train or evaluate it again")
    tasks = in_order([front.task for front in fronts])
    return sorted(fronts, key=lambda front: tasks.index(front.task))


def _points(row: ProbeRow) -> FrontPoints:
    """The front of a score; none where the file has other things in its place."""
    points = row.hyperparameters.get(FRONT)
    points = points if isinstance(points, list) else []
    pairs = [tuple(pair) for pair in points if isinstance(pair, list) and len(pair) == 2]
    valid = all(isinstance(number, int | float) and 0 <= number < 1e15 for pair in pairs for number in pair)
    return sorted(pairs) if valid else ()


def area(points: FrontPoints, chance: float, most: float) -> float:
    """The mean accuracy over all complexities from 0 to `most`, in percent, of a step at each point."""
    ends = [complexity for complexity, _ in points] + [most]
    steps = sum(accuracy * (end - at) for (at, accuracy), end in zip(points, ends[1:], strict=True))
    return (chance * ends[0] + steps) / most if most else chance


def limits(fronts: Sequence[Fronts]) -> dict[tuple[str, str], float]:
    """The largest complexity of any model, by task and classifier."""
    most: dict[tuple[str, str], float] = {}
    for front in fronts:
        largest = max(points[-1][0] for points in front.seeds)
        most[front.task, front.classifier] = max(largest, most.get((front.task, front.classifier), 0.0))
    return most


def as_text(fronts: Sequence[Fronts]) -> str:
    """A line for each task and model: the area, and the points of its first seed."""
    most, wide = limits(fronts), max(len(front.model) for front in fronts) + 2
    lines, before = [], ("", "")
    for front in fronts:
        if (key := (front.task, front.classifier)) != before:
            lines += ["", f"{front.task} ({front.classifier}; complexity: {COMPLEXITY[front.classifier]})"]
        before = key
        areas = [area(points, front.chance, most[key]) for points in front.seeds]
        seeds = f" ± {np.std(areas, ddof=1):.1f} over {len(areas)} seeds" if len(areas) > 1 else ""
        points = ", ".join(f"{accuracy:.1f} at {complexity:,.4g}" for complexity, accuracy in front.seeds[0])
        lines.append(f"  {front.model:<{wide}}area {np.mean(areas):5.1f}{seeds}; {points}")
    return "\n".join([*lines[1:], "", NOTE, ""])


def draw_fronts(fronts: Sequence[Fronts]) -> Figure:
    """A panel for each task, a stepped line for each seed of each model."""
    keys, models = list(limits(fronts)), list(dict.fromkeys(front.model for front in fronts))
    columns = min(COLUMNS, len(keys))
    rows = -(-len(keys) // columns)
    figure = new_figure(3.6 * columns + 0.4, 2.6 * rows + 0.6 + 0.2 * len(models))
    for place, key in enumerate(keys):
        axes = figure.add_subplot(rows, columns, place + 1)
        plain_axes(axes, f"{key[0]} ({key[1]})")
        for front in (front for front in fronts if (front.task, front.classifier) == key):
            _draw(axes, front, look_at(models.index(front.model))[0], limits(fronts)[key])
        axes.set_xlabel(COMPLEXITY[key[1]], fontsize=8.5)
        axes.set_ylabel("accuracy on dev (%)" if place % columns == 0 else "", fontsize=8.5)
    handles = [Line2D([], [], color=look_at(i)[0], label=for_figure(model)) for i, model in enumerate(models)]
    figure.legend(handles=handles, loc="outside lower center", ncols=1, frameon=False, fontsize=8.5)
    return figure


def _draw(axes: Axes, front: Fronts, colour: str, most: float) -> None:
    for points in front.seeds:
        x = [0.0, *(complexity for complexity, _ in points), most]
        y = [front.chance, *(accuracy for _, accuracy in points), points[-1][1]]
        axes.step(x, y, where="post", color=colour, linewidth=1.4, alpha=0.8)
        axes.plot(x[1:-1], y[1:-1], "o", color=colour, markersize=3)
