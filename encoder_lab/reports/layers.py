"""Scores by layer: tasks by layers, as in Figure 8 of Chen et al. 2019."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from encoder_lab.errors import InputError
from encoder_lab.reports.chart import ChartSection, HeatMap, in_paper_order, score_text
from encoder_lab.reports.models import ReportedModel, scored_suites
from encoder_lab.reports.published import SOURCES, published
from encoder_lab.reports.runs import Value
from encoder_lab.reports.table import MEAN_COLUMN, TableCell, TableRow, group_cells, probing_table, published_rows
from encoder_lab.reports.text import aligned
from probes.facts import facts_of

PUBLISHED_FIGURE = "chen2019_figure8"
LAYER_NAME = re.compile(r"layer (\d+)(.*)")  # the name of a layer as a model, and what follows its number
PROBING_MEAN = "Probing"  # the mean over the probing tasks of all layers, as the paper calls it
DISCOEVAL_GROUPS = facts_of("discoeval").groups
FOOTER = "Colours run from the lowest score of a task and its control tasks (light) to the highest (dark). "
FOOTER += "Framed: the best layer; ±: half of its 95% interval."
COMMAND = "python evaluate.py model=hf:NAME_OR_PATH layers=all suite=[probing,discoeval]"


class LayerScores(NamedTuple):
    """The scores of one model, L layers."""

    title: str
    numbers: list[int]  # of the layers, from the first
    cells: dict[str, list[TableCell | None]]  # by task, in the order of rows: L scores, None where there is none
    unranked: Collection[str] = ()  # tasks where a higher score is no better one

    def scores(self, task: str) -> np.ndarray:
        """The scores (L,) of a task in percent, NaN where there is none."""
        return np.array([np.nan if cell is None else cell.score for cell in self.cells[task]])

    def chance(self, task: str) -> str:
        """The score without any knowledge; empty where it is not known."""
        return next((f"{cell.chance:.1f}" for cell in self.cells[task] if cell and cell.chance is not None), "")

    def shades(self, task: str) -> np.ndarray:
        """The colours (L,): 0 is the lowest score of the task and its controls, 1 the highest."""
        root = min((name for name in self.cells if f"{task} ".startswith(f"{name} ")), key=len)
        related = np.concatenate([self.scores(name) for name in self.cells if f"{name} ".startswith(f"{root} ")])
        low, high = np.nanmin(related), np.nanmax(related)
        return (self.scores(task) - low) / (high - low if high > low else 1.0)

    @property
    def mixed(self) -> list[str]:
        """The tasks of which not all layers were scored on the same test items by the same classifier."""
        return [task for task, cells in self.cells.items() if len({cell.test for cell in cells if cell}) > 1]

    def best(self, task: str) -> list[bool]:
        """Which layers have the best score as it is printed (L,); none where a higher one is no better, or mixed."""
        printed = [round(score, 1) for score in self.scores(task).tolist()]  # as `:.1f` does, NumPy does not
        best = float(np.nanmax(printed))
        return [task not in (*self.unranked, *self.mixed) and score == best for score in printed]

    def margin(self, task: str) -> str:
        """Half of the interval of the best score, as ±1.2; empty without one."""
        scores = zip(self.cells[task], self.best(task), strict=True)
        return next((cell.margin for cell, best in scores if cell and best), "")

    def extra_columns(self) -> dict[str, list[str]]:
        """Chance and margin of each task, by the head of the column; without a column that would be empty."""
        columns = {"chance": list(map(self.chance, self.cells)), "±": list(map(self.margin, self.cells))}
        return {head: texts for head, texts in columns.items() if any(texts)}


def layer_of(name: str) -> tuple[int, str] | None:
    """The number in the name of a layer, and what follows it (`, cls`); None for any other model."""
    match = LAYER_NAME.fullmatch(name)
    return (int(match[1]), match[2]) if match else None


def layers_of_models(models: Sequence[ReportedModel], epoch: str, classifier: str) -> list[LayerScores]:
    """Every model with layers, on all suites that it was scored on. Raises InputError if there is none.

    A task of a name that an earlier suite has, as `bits` of the probing tasks, has its suite before it.
    """
    single = [model for model in models if layer_of(model.name)]
    if not single:
        raise InputError(f"no scores by layer; make them with: {COMMAND}")
    joined: dict[tuple[str, str], TableRow] = {}
    suite_of: dict[str, str] = {}  # tasks with their suites
    for suite in sorted(scored_suites(single), key="probing".__ne__):
        rows = probing_table(single, suite, epoch, classifier, []).rows
        # that mean is made below
        tasks = dict.fromkeys(task for row in rows for task in row.cells if task != PROBING_MEAN)
        names = {task: f"{suite} {task}" if task in suite_of else task for task in tasks}
        for row in rows:
            cells = {name: row.cells[task] for task, name in names.items() if task in row.cells}
            joined.setdefault((row.encoder, row.name), replace(row, cells={})).cells.update(cells)
        suite_of |= dict.fromkeys(names.values(), suite)
    for layers in group_by_layer((row.encoder, row.name, row.cells) for row in joined.values()).values():
        probed = [task for task in next(iter(layers.values())) if suite_of[task] == "probing"]
        shared = [task for task in probed if all(task in cells for cells in layers.values())]
        for cells in layers.values() if len(shared) > 1 else ():
            test = frozenset().union(*(cells[task].test for task in shared))
            cells[PROBING_MEAN] = TableCell(float(np.mean([cells[task].score for task in shared])), test=test)
    unranked = {task for task, suite in suite_of.items() if not facts_of(suite).ranked}
    return [model._replace(unranked=unranked) for model in _scores_by_model(joined.values())]


def published_layers() -> list[LayerScores]:
    """ELMo and BERT-Base as the paper prints them, with the mean over the seven groups."""
    rows = published_rows(published(PUBLISHED_FIGURE))
    for row in rows:
        row.cells = {task: TableCell(cell.score) for task, cell in group_cells(row.cells, DISCOEVAL_GROUPS).items()}
    return [model._replace(title=f"{model.title} ({SOURCES[PUBLISHED_FIGURE]})") for model in _scores_by_model(rows)]


def group_by_layer(models: Iterable[tuple[str, str, Value]]) -> dict[str, dict[int, Value]]:
    """Values of layers by model, and by the number of the layer, from the first; each has its encoder and name."""
    grouped: dict[str, dict[int, Value]] = {}
    for encoder, name, value in models:
        if layer := layer_of(name):
            grouped.setdefault(encoder + layer[1], {})[layer[0]] = value
    return {model: dict(sorted(layers.items())) for model, layers in grouped.items()}


def _scores_by_model(rows: Iterable[TableRow]) -> list[LayerScores]:
    """Of each model: the mean over probing tasks, the seven groups and their mean, then all others."""
    models = []
    for title, layers in group_by_layer((row.encoder, row.name, row) for row in rows).items():
        scored = dict.fromkeys(task for row in layers.values() for task in row.cells)
        first = [task for task in (PROBING_MEAN, *DISCOEVAL_GROUPS.values(), MEAN_COLUMN) if task in scored]
        tasks = dict.fromkeys([*first, *in_paper_order(list(scored))])
        cells = {task: [row.cells.get(task) for row in layers.values()] for task in tasks}
        models.append(LayerScores(title, list(layers), cells))
    return models


def as_text(models: Sequence[LayerScores]) -> str:
    """A plain table for each model: tasks by layers, the best with a star, and half of its interval."""
    lines = [line for model in models for line in [*_lines(model), ""]]
    return "\n".join([*lines, "*: the best layer of a task.", *_mixed_notes(models)]) + "\n"


def source_notes(models: Iterable[ReportedModel]) -> list[str]:
    """The places from which the layers of a model were evaluated, where these are several: they may be two models."""
    notes = []
    for title, layers in group_by_layer((model.encoder, model.name, model) for model in models).items():
        places = dict.fromkeys(str(run.settings.get("model")) for model in layers.values() for run in model.runs)
        notes += [f"{title}: layers of {' and '.join(places)}, which may be two models."] if len(places) > 1 else []
    return notes


def _mixed_notes(models: Sequence[LayerScores]) -> list[str]:
    apart = "layers are of different test sentences, or by different classifiers: do not compare them."
    return [f"{model.title}, {', '.join(model.mixed)}: {apart}" for model in models if model.mixed]


def _lines(model: LayerScores) -> list[str]:
    extra_columns = model.extra_columns()
    rows = [["layer", *map(str, model.numbers), *extra_columns]]
    for row, (task, cells) in enumerate(model.cells.items()):
        scores = ["" if cell is None else f"{cell.score:.1f}" for cell in cells]
        starred = ["*" * best + score for best, score in zip(model.best(task), scores, strict=True)]
        rows.append([task, *starred, *(texts[row] for texts in extra_columns.values())])
    return [model.title, *aligned(rows)]


def charts_by_layer(models: Sequence[LayerScores]) -> ChartSection:
    """A heat map for each model, next to each other: tasks downwards, layers to the right, then chance and interval."""
    charts = [_heat_map(model) for model in models]
    return ChartSection("by layer", charts, columns=len(charts), note=" ".join([FOOTER, *_mixed_notes(models)]))


def _heat_map(model: LayerScores) -> HeatMap:
    tasks = list(model.cells)
    shades = 0.05 + 0.8 * np.array([model.shades(task) for task in tasks])
    extra_columns = model.extra_columns()
    texts = [["" if cell is None else f"{cell.score:.1f}" for cell in cells] for cells in model.cells.values()]
    hover = [
        [
            "" if cell is None else f"{score_text(cell.score, cell.low, cell.high)}\nchance {model.chance(task) or '–'}"
            for cell in cells
        ]
        for task, cells in model.cells.items()
    ]
    inches = (
        0.46 * (len(model.numbers) + len(extra_columns)) + 0.068 * max(map(len, tasks)) + 0.3,
        1.2 + 0.25 * len(tasks),
    )
    heat = HeatMap(model.title, tasks, list(map(str, model.numbers)), shades, texts, hover, "YlGnBu", inches)
    framed = [model.best(task) for task in tasks]
    return replace(heat, framed=framed, extra_columns=extra_columns, label="layer")
