"""Scores by the size of the sentence vector (Conneau et al. 2018, Figure 3)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from encoder_lab.errors import InputError
from encoder_lab.reports.chart import Axis, Chart, ChartSection, DataSeries, in_paper_order, task_looks
from encoder_lab.reports.curves import band_meaning, score_axis, task_series
from encoder_lab.reports.models import join_evaluations, models_of
from encoder_lab.reports.runs import Run, final_rows, rows_by_one_reader
from probes.facts import unit_of

SIZE, SIZES = "encoder.dim", "dimensions of the sentence vector"
RATE_SETTING = "objective.optimizer.lr"  # wide models take a smaller one (Yang et al. 2021)


class ModelSizes(NamedTuple):
    """Runs that differ only in the size of the sentence vector, their seed, and a rate that follows the size."""

    name: tuple[str, str]  # encoder, objective
    title: str
    runs: Sequence[tuple[int, Run]]  # (size, run)

    @property
    def sizes(self) -> list[int]:
        return sorted({size for size, _ in self.runs})


def has_size(run: Run) -> bool:
    """Whether the run states the size of its sentence vectors; a baseline does not."""
    return isinstance(run.settings.get(SIZE), int)


def group_by_size(runs: Iterable[Run]) -> list[ModelSizes]:
    """The runs with a size, grouped by model, with the scores of their evaluations."""
    joined = [run for run in join_evaluations(runs) if has_size(run)]
    sized = {run.folder: (int(run.settings[SIZE]), run.settings.get(RATE_SETTING)) for run in joined}
    follows = set()  # runs with a rate for each size
    for model in models_of(_without_settings(run, SIZE, RATE_SETTING) for run in joined):
        pairs = {sized[run.folder] for run in model.runs}
        if len(pairs) == len(dict(pairs)):
            follows |= {run.folder for run in model.runs}
    reduced = [_without_settings(run, SIZE, *[RATE_SETTING] * (run.folder in follows)) for run in joined]
    return [
        ModelSizes((model.encoder, model.objective), model.title, [(sized[run.folder][0], run) for run in model.runs])
        for model in models_of(reduced)
    ]


def _without_settings(run: Run, *keys: str) -> Run:
    return replace(run, settings={key: value for key, value in run.settings.items() if key not in keys})


def charts_by_size(models: Sequence[ModelSizes], suite: str, epoch: str, classifier: str) -> ChartSection:
    """A chart by model and unit, a line by task, the size on a logarithmic axis. Raises InputError for one size."""
    scaled = [model for model in models if len(model.sizes) > 1]
    if not scaled:
        remedy = "give runs of one model with several sizes"
        raise InputError(f"no runs differ only in encoder.dim (seed, rate by size); {remedy}")
    final = epoch, classifier
    charted = [(model, *lines) for model in scaled for lines in _series_by_unit(model, suite, *final).items()]
    if not charted:
        raise InputError(f"no scores of the suite {suite!r} at several sizes; evaluate.py makes them")
    legend = task_looks(in_paper_order([line.name for *_, lines in charted for line in lines]))
    charts = []
    for model, unit, lines in charted:
        x = Axis(SIZES, ticks={float(size): str(size) for size in model.sizes}, linear=0)
        series = [replace(line, look=legend[line.name]) for line in lines]
        inches = 9.0 if len(charted) == 1 else 6.0, 4.8
        charts.append(Chart(model.title, x, score_axis(lines, suite, unit), series, inches, named=True))
    seeds = {[size for size, _ in model.runs].count(size) for model, *_ in charted for size in model.sizes}
    bands = f"bands: {band_meaning(seeds)}"
    return ChartSection(f"{suite} by size of the sentence vector", charts, legend, bands=bands)


def _series_by_unit(model: ModelSizes, suite: str, epoch: str, classifier: str) -> dict[str, list[DataSeries]]:
    final = [list(final_rows(run, suite, epoch, classifier).values()) for _, run in model.runs]
    scores = zip(model.runs, rows_by_one_reader(final, classifier), strict=True)
    sized = [[(unit_of(suite, row.classifier), float(size), row) for row in rows] for (size, _), rows in scores]
    units = dict.fromkeys(unit for run in sized for unit, *_ in run)
    lines = {unit: task_series([[(size, row) for u, size, row in run if u == unit] for run in sized]) for unit in units}
    return {unit: group for unit, group in lines.items() if any(len(line.x) > 1 for line in group)}
