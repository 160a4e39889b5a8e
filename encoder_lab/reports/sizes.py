"""Scores by the size of the sentence vector (Conneau et al. 2018, Figure 3)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from encoder_lab.errors import InputError
from encoder_lab.reports.curves import band_meaning, ends_of, explain, over_runs, score_label
from encoder_lab.reports.drawing import LOOKS, Line, draw_lines, in_order, name_ends, new_figure, plain_axes
from encoder_lab.reports.models import models_of, with_evaluations
from encoder_lab.reports.runs import Run, by_one_reader, final_rows, grouped
from probes.facts import unit_of
from probes.results import chance_of

SIZE = "encoder.dim"


class ModelSizes(NamedTuple):
    """Runs that differ only in the size of the sentence vector and their seed."""

    title: str
    runs: Sequence[tuple[int, Run]]  # (size, run)

    @property
    def sizes(self) -> list[int]:
        return sorted({size for size, _ in self.runs})


def has_size(run: Run) -> bool:
    """Whether the run states the size of its sentence vectors; a baseline does not."""
    return isinstance(run.settings.get(SIZE), int)


def by_size(runs: Iterable[Run]) -> list[ModelSizes]:
    """The runs with a size, grouped by model, with the scores of their evaluations."""
    joined = [run for run in with_evaluations(runs) if has_size(run)]
    size = {run.folder: int(run.settings[SIZE]) for run in joined}
    others = [replace(run, settings={k: v for k, v in run.settings.items() if k != SIZE}) for run in joined]
    return [ModelSizes(model.title, [(size[run.folder], run) for run in model.runs]) for model in models_of(others)]


def lines_by_size(
    models: Sequence[ModelSizes], suite: str, epoch: str, classifier: str
) -> list[tuple[ModelSizes, str, list[Line]]]:
    """The lines of the tasks by model and unit. Raises InputError where no model has scores at several sizes."""
    several = [model for model in models if len(model.sizes) > 1]
    if not several:
        raise InputError("no runs differ only in encoder.dim (and seed); give runs of one model with several sizes")
    drawn = [(model, *lines) for model in several for lines in _lines(model, suite, epoch, classifier).items()]
    if not drawn:
        raise InputError(f"no scores of the suite {suite!r} at several sizes; evaluate.py makes them")
    return drawn


def draw_sizes(models: Sequence[ModelSizes], suite: str, epoch: str, classifier: str) -> Figure:
    """One panel for each model and unit, one line for each task, the size on a logarithmic axis."""
    drawn = lines_by_size(models, suite, epoch, classifier)
    columns = min(len(drawn), 2)
    rows = -(-len(drawn) // columns)
    figure = new_figure(9.0 if columns == 1 else 12.0, 4.8 * rows)
    for place, (model, unit, lines) in enumerate(drawn):
        axes = figure.add_subplot(rows, columns, place + 1)
        plain_axes(axes, model.title)
        axes.set_ylabel(score_label(suite, unit), fontsize=9)
        _draw(axes, lines, ends_of(lines, unit))
    seeds = {[size for size, _ in model.runs].count(size) for model, *_ in drawn for size in model.sizes}
    shown = [line for *_, lines in drawn for line in lines]
    explain(figure, shown, f"bands: {band_meaning(seeds)}", any(line.name in LOOKS for line in shown))
    return figure


def _lines(model: ModelSizes, suite: str, epoch: str, classifier: str) -> dict[str, list[Line]]:
    """The scores by unit and size; none if there is only one size."""
    final = [list(final_rows(run, suite, epoch, classifier).values()) for _, run in model.runs]
    scores = zip(model.runs, by_one_reader(final, classifier), strict=True)
    sized = grouped((row.task, (float(size), row)) for (size, _), rows in scores for row in rows)
    lines = grouped(
        (
            unit_of(suite, sized[task][0][1].classifier),
            over_runs(task, [{size: r.interval} for size, r in sized[task]], chance_of([r for _, r in sized[task]])),
        )
        for task in in_order(list(sized))
    )
    return {unit: some for unit, some in lines.items() if any(len(line.x) > 1 for line in some)}


def _draw(axes: Axes, lines: Sequence[Line], ends: tuple[float, float]) -> None:
    sizes = sorted({size for line in lines for size in line.x})
    axes.set_xscale("log", base=2)
    axes.set_xlim(sizes[0] * (sizes[0] / sizes[-1]) ** 0.02, sizes[-1])
    axes.set_ylim(ends)
    name_ends(axes, draw_lines(axes, lines), sizes[-1], *ends)
    axes.xaxis.set_major_locator(FixedLocator(sizes))
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("dimensions of the sentence vector", fontsize=9)
