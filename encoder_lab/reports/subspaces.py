"""Where tasks live: the overlap of their subspaces with each other, and with their own at the end of training."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from encoder_lab.errors import InputError
from encoder_lab.reports.curves import TOP
from encoder_lab.reports.drawing import Line, draw_lines, in_order, name_ends, new_figure, plain_axes
from encoder_lab.reports.escape import for_figure
from encoder_lab.reports.runs import EVALUATIONS
from encoder_lab.reports.text import aligned
from encoder_lab.storage.csv_files import csv_text
from probes.geometry.history import HALVES, SUBSPACE, read_state, states_in
from probes.geometry.subspaces import RandomOverlap, nearness, random_overlap
from probes.results import Epoch

COLUMNS = ("epoch", "task", "rank", "other_epoch", "other", "other_rank", "overlap", "random", "random_high")
ANGLES = ("smallest_angle", "mean_angle", "largest_angle")


class Subspaces(NamedTuple):
    """The subspaces of the tasks of one model at each epoch, orthonormal bases (D, k)."""

    title: str
    tasks: list[str]
    epochs: list[Epoch]
    bases: dict[tuple[Epoch, str], np.ndarray]
    halves: dict[str, float]  # by task: the overlap of those of two halves of the sentences, at the last epoch
    left_out: list[str]  # why, for each task without one

    @property
    def last(self) -> Epoch:
        return self.epochs[-1]

    def overlap(self, task: str, epoch: Epoch, other: str | None = None) -> float:
        """With the subspace of another task at this epoch, or with the task's own at the last epoch, in percent."""
        end = self.bases[self.last, task] if other is None else self.bases[epoch, other]
        return nearness(self.bases[epoch, task], end).overlap

    def random(self, task: str, other: str | None = None) -> RandomOverlap:
        """The same for random subspaces of the same ranks."""
        width, rank = self.bases[self.last, task].shape
        return random_overlap(rank, self.bases[self.last, other or task].shape[1], width)


def read_subspaces(folder: Path) -> Subspaces:
    """The saved subspaces of a run, or else of its evaluations, or of an evaluation. Raises InputError for none."""
    places = [folder, *sorted(folder.glob(f"{EVALUATIONS}/geometry/*"))]
    series = ({row.epoch: read_state(path) for row, path in states_in(place / "probes.csv")} for place in places)
    states = next((s for s in series if any(key.startswith(SUBSPACE) for state in s.values() for key in state)), {})
    keys = [(epoch, key) for epoch, state in states.items() for key in state if key.startswith(SUBSPACE)]
    bases = {(epoch, key.removeprefix(SUBSPACE)): states[epoch][key].numpy() for epoch, key in keys}
    epochs, names = list(states), in_order([name for _, name in bases])
    if not names:
        remedy = "train, or evaluate.py epochs=all, with suite=[probing,geometry]"
        raise InputError(f"{folder}: no subspaces of tasks there; {remedy}")
    width = next(iter(bases.values())).shape[0]
    why = {name: _unusable([bases.get((epoch, name)) for epoch in epochs], width) for name in names}
    tasks = [name for name in names if not why[name]]
    if not tasks:
        raise InputError(f"{folder}: no task has a subspace to compare; {names[0]}: {why[names[0]]}")
    last = states[epochs[-1]]
    pairs = {name: [last[half + name].numpy() for half in HALVES] for name in tasks if HALVES[1] + name in last}
    halves = {name: nearness(*pair).overlap for name, pair in pairs.items() if all(half.shape[1] for half in pair)}
    left_out = [f"{name} left out: {reason}" for name, reason in why.items() if reason]
    return Subspaces(folder.name, tasks, epochs, bases, halves, left_out)


def _unusable(bases: Sequence[np.ndarray | None], width: int) -> str:
    """Why a task is left out; empty where it is not."""
    if any(basis is None for basis in bases):
        return "not at every epoch"
    ranks = [basis.shape[1] for basis in bases if basis is not None]
    if min(ranks) == 0:
        return "no direction of the vectors tells its classes apart"
    return f"its rank is the width of the vectors, {width}" if max(ranks) == width else ""


def as_text(compared: Subspaces) -> str:
    """By task: rank, the overlap of random subspaces, of two halves of the sentences, and with the last epoch."""
    rows = [["task", "rank", "random", "halves", *(f"epoch {epoch}" for epoch in compared.epochs)]]
    for task in compared.tasks:
        rank, random = compared.bases[compared.last, task].shape[1], compared.random(task).mean
        halves = f"{compared.halves[task]:.1f}" if task in compared.halves else ""
        own = [f"{compared.overlap(task, epoch):.1f}" for epoch in compared.epochs]
        rows.append([task, str(rank), f"{random:.1f}", halves, *own])
    note = "Overlap with the task's own subspace at the last epoch, in %: the mean squared cosine of principal angles."
    return "\n".join([*aligned(rows), "", note, *compared.left_out, ""])


def as_csv(compared: Subspaces) -> str:
    """Each pair of tasks at each epoch, and each task with itself at the last epoch; angles in degrees."""
    pairs = [((e, a), (e, b)) for e in compared.epochs for a, b in combinations(compared.tasks, 2)]
    pairs += [((e, task), (compared.last, task)) for e in compared.epochs for task in compared.tasks]
    rows: list[Sequence[object]] = [(*COLUMNS, *ANGLES)]
    for first, second in pairs:
        ours, theirs = compared.bases[first], compared.bases[second]
        near, by_chance = nearness(ours, theirs), compared.random(first[1], second[1])
        numbers = near.overlap, *by_chance, near.angles[0], near.angles.mean(), near.angles[-1]
        rows.append([*first, ours.shape[1], *second, theirs.shape[1], *(f"{number:.2f}" for number in numbers)])
    return csv_text(rows)


def draw_subspaces(compared: Subspaces) -> Figure:
    """A heat map of tasks by tasks at the last epoch; for several epochs the overlap with the final subspace."""
    several = len(compared.epochs) > 1
    side = 1.6 + 0.5 * len(compared.tasks)
    figure = new_figure(side + 6.5 * several, max(4.2, side))
    panels = figure.subplots(1, 1 + several, squeeze=False, width_ratios=[side, 6.5][: 1 + several])[0]
    _draw_map(panels[0], compared)
    if several:
        _draw_curves(panels[1], compared)
    note = "Overlap: the mean squared cosine of the principal angles;\nin brackets, and chance: of random subspaces"
    figure.supxlabel(f"{note} of the same ranks.", fontsize=8, color="#555555")
    return figure


def _draw_map(axes: Axes, compared: Subspaces) -> None:
    tasks = [for_figure(task) for task in compared.tasks]
    overlaps = np.array([[compared.overlap(a, compared.last, b) for b in compared.tasks] for a in compared.tasks])
    axes.imshow(overlaps, cmap="YlGnBu", vmin=0, vmax=100)
    for (row, column), value in np.ndenumerate(overlaps):
        text = f"{value:.0f}"
        if row != column:
            text += f"\n({compared.random(compared.tasks[row], compared.tasks[column]).mean:.0f})"
        colour = "white" if value > 60 else "#222222"
        axes.text(column, row, text, ha="center", va="center", fontsize=7, color=colour)
    axes.set_xticks(range(len(tasks)), tasks, fontsize=8, rotation=45, ha="right")
    axes.set_yticks(range(len(tasks)), tasks, fontsize=8)
    axes.set_title(f"tasks by tasks, epoch {compared.last} (%)", loc="left", fontsize=10, fontweight="bold")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _draw_curves(axes: Axes, compared: Subspaces) -> None:
    plain_axes(axes, "how early the final subspace is there")
    x = [float(epoch) for epoch in compared.epochs]
    lines = []
    for task in compared.tasks:
        y = [compared.overlap(task, epoch) for epoch in compared.epochs]
        lines.append(Line(task, x, y, y, y, compared.random(task).mean))
    axes.set_ylim(0, TOP)
    axes.set_xlim(x[0] - 0.02 * (x[-1] - x[0]), x[-1])
    name_ends(axes, draw_lines(axes, lines), x[-1], 0, TOP)
    axes.set_ylabel("overlap with the task's final subspace (%)", fontsize=9)
    axes.set_xlabel("epoch (0: before training)" if x[0] == 0 else "epoch", fontsize=9)
