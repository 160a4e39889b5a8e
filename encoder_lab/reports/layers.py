"""Scores by layer: tasks by layers, as in Figure 8 of Chen et al. 2019."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from textwrap import fill
from typing import NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from encoder_lab.errors import InputError
from encoder_lab.reports.drawing import in_order, new_figure
from encoder_lab.reports.escape import for_figure
from encoder_lab.reports.models import ReportedModel, scored_suites
from encoder_lab.reports.published import SOURCES, published
from encoder_lab.reports.runs import Value
from encoder_lab.reports.table import MEAN, TableCell, TableRow, by_group, probing_table, published_rows
from encoder_lab.reports.text import aligned
from probes.facts import facts_of

FIGURE = "chen2019_figure8"
LAYER = re.compile(r"layer (\d+)(.*)")  # the name of a layer as a model, and what follows its number
PROBING = "Probing"  # the mean over probing tasks, as the paper calls it
DISCOEVAL = facts_of("discoeval").groups
COLOURS = colormaps["YlGnBu"].resampled(256)
DARK = 0.6  # of a colour, from which the number in it is white
CELL, LETTER = (0.46, 0.25), 0.068  # inches
FOOTER = (
    "Colours run from the lowest score of a task and its control tasks (light) to the highest (dark). Framed: the best "
    "layer; ±: half of its 95% interval."
)
COMMAND = "python evaluate.py model=hf:NAME_OR_PATH layers=all suite=[probing,discoeval]"


class LayerScores(NamedTuple):
    """The scores of one model, L layers."""

    title: str
    numbers: list[int]  # of the layers, from the first
    cells: dict[str, list[TableCell | None]]  # by task, in the order of rows: L scores, None where there is none

    def scores(self, task: str) -> np.ndarray:
        """(L,) in percent, NaN where there is none."""
        return np.array([np.nan if cell is None else cell.score for cell in self.cells[task]])

    def chance(self, task: str) -> float | None:
        """The score without any knowledge, where it is known."""
        return next((cell.chance for cell in self.cells[task] if cell and cell.chance is not None), None)

    def shades(self, task: str) -> np.ndarray:
        """(L,) from 0, the lowest score of the task and its controls, to 1, the highest: all are on one scale."""
        alike = np.concatenate([self.scores(name) for name in self.cells if name.split()[:1] == task.split()[:1]])
        low, high = np.nanmin(alike), np.nanmax(alike)
        return (self.scores(task) - low) / (high - low if high > low else 1.0)

    def best(self, task: str) -> list[bool]:
        """Which layers have the best score at the precision that is printed (L,)."""
        rounded = self.scores(task).round(1)
        return (rounded == np.nanmax(rounded)).tolist()

    def margin(self, task: str) -> str:
        """Half of the interval of the best score, as ±1.2."""
        return next(cell.margin for cell, best in zip(self.cells[task], self.best(task), strict=True) if cell and best)


def layer_of(name: str) -> tuple[int, str] | None:
    """The number in the name of a layer, and what follows it (`, cls`); None for any other model."""
    match = LAYER.fullmatch(name)
    return (int(match[1]), match[2]) if match else None


def layers_of_models(models: Sequence[ReportedModel], epoch: str, classifier: str) -> list[LayerScores]:
    """Every model with layers, on all suites that it was scored on. Raises InputError if there is none."""
    single = [model for model in models if layer_of(model.name)]
    if not single:
        raise InputError(f"no scores by layer; make them with: {COMMAND}")
    joined: dict[tuple[str, str], TableRow] = {}
    for suite in scored_suites(single):
        for row in probing_table(single, suite, epoch, classifier, []).rows:
            cells = joined.setdefault((row.encoder, row.name), replace(row, cells={})).cells
            cells |= row.cells
            if suite == "probing" and len(row.cells) > 1:
                cells[PROBING] = TableCell(float(np.mean([cell.score for cell in row.cells.values()])))
    return _by_model(joined.values())


def published_layers() -> list[LayerScores]:
    """ELMo and BERT-Base as the paper prints them, with the mean over the seven groups."""
    rows = published_rows(published(FIGURE))
    for row in rows:
        row.cells = {task: TableCell(cell.score) for task, cell in by_group(row.cells, DISCOEVAL).items()}
    return [model._replace(title=f"{model.title} ({SOURCES[FIGURE]})") for model in _by_model(rows)]


def by_layer(models: Iterable[tuple[str, str, Value]]) -> dict[str, dict[int, Value]]:
    """Values of layers by model, and by the number of the layer, from the first; each has its encoder and name."""
    grouped: dict[str, dict[int, Value]] = {}
    for encoder, name, value in models:
        if layer := layer_of(name):
            grouped.setdefault(encoder + layer[1], {})[layer[0]] = value
    return {model: dict(sorted(layers.items())) for model, layers in grouped.items()}


def _by_model(rows: Iterable[TableRow]) -> list[LayerScores]:
    models = by_layer((row.encoder, row.name, row) for row in rows)
    return [_layers(title, layers) for title, layers in models.items()]


def _layers(title: str, rows: dict[int, TableRow]) -> LayerScores:
    """Rows: the mean over probing tasks, the seven groups and their mean, then all others."""
    scored = dict.fromkeys(task for row in rows.values() for task in row.cells)
    first = [task for task in (PROBING, *DISCOEVAL.values(), MEAN) if task in scored]
    tasks = list(dict.fromkeys([*first, *in_order(list(scored))]))
    return LayerScores(title, list(rows), {task: [row.cells.get(task) for row in rows.values()] for task in tasks})


def as_text(models: Sequence[LayerScores]) -> str:
    """A plain table for each model: tasks by layers, the best with a star, and half of its interval."""
    return "\n".join(line for model in models for line in [*_lines(model), ""]) + "*: the best layer of a task.\n"


def _lines(model: LayerScores) -> list[str]:
    rows = [["layer", *map(str, model.numbers), "chance", "±"]]
    for task, cells in model.cells.items():
        shown = ["" if cell is None else f"{cell.score:.1f}" for cell in cells]
        starred = ["*" * best + score for best, score in zip(model.best(task), shown, strict=True)]
        chance = "" if (known := model.chance(task)) is None else f"{known:.1f}"
        rows.append([task, *starred, chance, model.margin(task)])
    return [model.title, *aligned(rows)]


def draw_layers(models: Sequence[LayerScores]) -> Figure:
    """A heat map for each model, next to each other: tasks downwards, layers to the right, then chance and interval."""
    rows = max(len(model.cells) for model in models)
    columns = [len(model.numbers) + 2 for model in models]
    wide = sum(CELL[0] * n + LETTER * max(map(len, m.cells)) + 0.3 for n, m in zip(columns, models, strict=True))
    footer = fill(FOOTER, int(wide / LETTER))
    figure = new_figure(wide, CELL[1] * rows + 1.2 + 0.16 * footer.count("\n"))
    panels = figure.subplots(1, len(models), squeeze=False, width_ratios=columns)[0]
    for axes, model in zip(panels, models, strict=True):
        _draw(axes, model, rows)
    figure.supxlabel(footer, fontsize=8, color="#555555")
    return figure


def _draw(axes: Axes, model: LayerScores, rows: int) -> None:
    layers = len(model.numbers)
    axes.set_title(for_figure(model.title).replace(" (", "\n("), loc="left", fontsize=9, fontweight="bold")
    for row, task in enumerate(model.cells):
        scores, best = model.scores(task), model.best(task)
        for column, shade in enumerate(model.shades(task)):
            if not np.isnan(shade):
                _draw_cell(axes, (column, row), scores[column], shade, best[column])
        chance = model.chance(task)
        for column, text in enumerate(("–" if chance is None else f"{chance:.1f}", model.margin(task)), layers):
            axes.text(column, row, text, fontsize=7.5, ha="center", va="center", color="#555555")
    axes.set_xlim(-0.5, layers + 1.5)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_xticks(range(layers + 2), [*map(str, model.numbers), "chance", "±"], fontsize=8)
    axes.set_yticks(range(len(model.cells)), list(model.cells), fontsize=8)
    axes.set_xlabel("layer", fontsize=8)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _draw_cell(axes: Axes, at: tuple[int, int], score: float, shade: float, best: bool) -> None:
    column, row = at
    colour = COLOURS(0.05 + 0.8 * shade)
    axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=colour, edgecolor="white", linewidth=0.6))
    if best:
        frame = (column - 0.46, row - 0.44), 0.92, 0.88
        axes.add_patch(Rectangle(*frame, fill=False, edgecolor="#C0392B", linewidth=1.4, zorder=3))
    ink, weight = "white" if shade > DARK else "#222222", "bold" if best else "normal"
    axes.text(*at, f"{score:.1f}", fontsize=7.5, fontweight=weight, ha="center", va="center", color=ink)
