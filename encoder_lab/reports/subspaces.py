"""Where tasks live: the overlap of their subspaces with each other, and with their own at the end of training."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from encoder_lab.errors import InputError
from encoder_lab.reports.chart import Axis, Chart, ChartSection, DataSeries, HeatMap, Look, in_paper_order, task_looks
from encoder_lab.reports.curves import AXIS_TOP, epoch_axis
from encoder_lab.reports.runs import EVALUATIONS_FOLDER
from encoder_lab.reports.text import aligned
from encoder_lab.storage.csv_files import csv_text
from probes.geometry.subspaces import HALVES, SUBSPACE, overlap, principal_angles, random_overlap
from probes.results import Epoch

COLUMNS = ("epoch", "task", "rank", "other_epoch", "other", "other_rank", "overlap", "random", "random_high")
ANGLE_COLUMNS = ("smallest_angle", "mean_angle", "largest_angle")


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
        """Percent overlap with another task's subspace at this epoch, or with the task's own at the last epoch."""
        end = self.bases[self.last, task] if other is None else self.bases[epoch, other]
        return overlap(self.bases[epoch, task], end)

    def random(self, task: str, other: str | None = None) -> float:
        """The mean overlap of random subspaces of the same ranks."""
        width, rank = self.bases[self.last, task].shape
        return random_overlap(rank, self.bases[self.last, other or task].shape[1], width)[0]


def read_subspaces(folder: Path) -> Subspaces:
    """The saved subspaces of a run, or else of its evaluations, or of an evaluation. Raises InputError for none."""
    from probes.geometry.history import read_state, states_of_run  # loads torch

    candidates = [folder, *sorted(folder.glob(f"{EVALUATIONS_FOLDER}/geometry/*"))]
    files = (path / "probes.csv" for path in candidates if (path / "geometry").is_dir())
    series = ({row.epoch: read_state(path) for row, path in states_of_run(file)} for file in files)
    states = next((s for s in series if any(key.startswith(SUBSPACE) for state in s.values() for key in state)), {})
    keys = [(epoch, key) for epoch, state in states.items() for key in state if key.startswith(SUBSPACE)]
    bases = {(epoch, key.removeprefix(SUBSPACE)): states[epoch][key].numpy() for epoch, key in keys}
    epochs, names = list(states), in_paper_order([name for _, name in bases])
    if not names:
        remedy = "train, or evaluate.py epochs=all, with suite=[probing,geometry]"
        raise InputError(f"{folder}: no subspaces of tasks there; {remedy}")
    width = next(iter(bases.values())).shape[0]
    reasons = {name: _reason_unusable([bases.get((epoch, name)) for epoch in epochs], width) for name in names}
    tasks = [name for name in names if not reasons[name]]
    if not tasks:
        raise InputError(f"{folder}: no task has a subspace to compare; {names[0]}: {reasons[names[0]]}")
    last = states[epochs[-1]]
    pairs = {name: [last[half + name].numpy() for half in HALVES] for name in tasks if HALVES[1] + name in last}
    halves = {name: overlap(*pair) for name, pair in pairs.items() if all(half.shape[1] for half in pair)}
    left_out = [f"{name} left out: {reason}" for name, reason in reasons.items() if reason]
    return Subspaces(folder.name, tasks, epochs, bases, halves, left_out)


def _reason_unusable(bases: Sequence[np.ndarray | None], width: int) -> str:
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
        rank, random = compared.bases[compared.last, task].shape[1], compared.random(task)
        halves = f"{compared.halves[task]:.1f}" if task in compared.halves else ""
        overlaps = [f"{compared.overlap(task, epoch):.1f}" for epoch in compared.epochs]
        rows.append([task, str(rank), f"{random:.1f}", halves, *overlaps])
    note = "Overlap with the task's own subspace at the last epoch, in %: the mean squared cosine of principal angles."
    return "\n".join([*aligned(rows), "", note, *compared.left_out, ""])


def as_csv(compared: Subspaces) -> str:
    """Each pair of tasks at each epoch, and each task with itself at the last epoch; angles in degrees."""
    pairs = [((e, a), (e, b)) for e in compared.epochs for a, b in combinations(compared.tasks, 2)]
    pairs += [((e, task), (compared.last, task)) for e in compared.epochs for task in compared.tasks]
    rows: list[Sequence[object]] = [(*COLUMNS, *ANGLE_COLUMNS)]
    for first, second in pairs:
        u, v = compared.bases[first], compared.bases[second]
        angles, by_chance = principal_angles(u, v), random_overlap(u.shape[1], v.shape[1], len(u))
        numbers = overlap(u, v), *by_chance, angles[0], angles.mean(), angles[-1]
        rows.append([*first, u.shape[1], *second, v.shape[1], *(f"{number:.2f}" for number in numbers)])
    return csv_text(rows)


def charts_of_subspaces(runs: Sequence[Subspaces]) -> ChartSection:
    """For each run tasks by tasks at the last epoch, and for several epochs the overlap with the final subspace."""
    legend = task_looks(in_paper_order([task for run in runs for task in run.tasks]))
    charts: list[Chart | HeatMap] = []
    for run in runs:
        charts += [_heat_map(run), *([_curves(run, legend)] if len(run.epochs) > 1 else [])]
    note = "Overlap: the mean squared cosine of the principal angles; in brackets, and chance: of random subspaces of"
    return ChartSection("where tasks live: overlap of subspaces", charts, legend, note=f"{note} the same ranks.")


def _heat_map(run: Subspaces) -> HeatMap:
    overlaps = np.array([[run.overlap(task, run.last, other) for other in run.tasks] for task in run.tasks])
    by_chance = [[run.random(task, other) for other in run.tasks] for task in run.tasks]
    texts = [[f"{value:.0f}" for value in row] for row in overlaps]
    for row, column in zip(*np.nonzero(~np.eye(len(run.tasks), dtype=bool)), strict=True):
        texts[row][column] += f"\n({by_chance[row][column]:.0f})"
    hover = [[f"random {mean:.1f}" for mean in row] for row in by_chance]
    side = 1.8 + 0.5 * len(run.tasks)
    title = f"{run.title}: overlap of tasks at epoch {run.last} (%)"
    return HeatMap(title, run.tasks, run.tasks, overlaps / 100, texts, hover, "YlGnBu", (side, max(4.2, side)))


def _curves(run: Subspaces, legend: Mapping[str, Look]) -> Chart:
    x, lines = [float(epoch) for epoch in run.epochs], []
    for task in run.tasks:
        y = [run.overlap(task, epoch) for epoch in run.epochs]
        lines.append(DataSeries(task, x, y, chance=run.random(task), look=legend[task], model=run.title))
    title, y_axis = f"{run.title}: overlap with the task's final subspace (%)", Axis("overlap (%)", ends=(0, AXIS_TOP))
    return Chart(title, epoch_axis(x), y_axis, lines, (6.0, 4.2), named=True)
