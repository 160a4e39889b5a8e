"""Training as charts: probes by epoch, the objective's own score behind them (Conneau et al. 2018, Figure 1)."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from encoder_lab.reports import chart
from encoder_lab.reports.chart import Axis, Chart, ChartSection, DataSeries, Look, values_and_ends
from encoder_lab.reports.run_files import MetricRows, read_metrics
from encoder_lab.reports.runs import Value, column_by_epoch, grouped, mean_of_seeds, score_name
from probes.facts import facts_of, unit_of
from probes.results import ProbeRow, chance_of, read_rows
from probes.statistics import Interval, bounded_mean_of_runs

MAX_OBJECTIVE_SCORE = 1e15  # of an objective's score in a chart; a diverged run has more
AXIS_TOP = 102.0  # percent; above 100, so that nothing cuts the marker of a perfect score
MAX_BANDED_MODELS = 6  # models; with more, bands would overlap too much
EPOCH_LABEL = "epoch"


class Panel(NamedTuple):
    """One model: its probes and its own score by epoch; several seeds are their mean with its interval."""

    title: str
    lines: list[DataSeries]
    score: str  # name of the objective's score, empty if there is none
    objective: DataSeries
    suite: str
    runs: frozenset[int]  # numbers of runs behind the points
    colour: str = ""  # of its line among other models; empty: ours
    unit: str = ""  # of its scores; empty: percent

    @property
    def epochs(self) -> list[float]:
        return sorted({float(x) for line in [*self.lines, self.objective] for x in values_and_ends(line.x)[0]})


def draw_curves(run: Path, score: str, title: str = "") -> Path:
    """Draw `curves.png` of a run folder, a chart for each suite; `score` names a column of metrics.csv."""
    from encoder_lab.reports.figure import draw_section, save_figure

    metrics, rows = read_metrics(run / "metrics.csv"), read_rows(run / "probes.csv")
    charts = rows_by_chart(rows) or {("", ""): []}
    panels = [
        panel_of(f"{title or run.name}: {suite}" if len(charts) > 1 else title or run.name, [group], score, [metrics])
        for (suite, _), group in charts.items()
    ]
    return save_figure(draw_section(charts_by_model(panels)), run / "curves.png")


def rows_by_chart(rows: Iterable[ProbeRow]) -> dict[tuple[str, str], list[ProbeRow]]:
    """The rows grouped by suite and unit: each group shares an axis."""
    return grouped(((row.suite, unit_of(row.suite, row.classifier)), row) for row in rows)


def panel_of(title: str, probes: Sequence[Sequence[ProbeRow]], score: str, metrics: Sequence[MetricRows]) -> Panel:
    """The panel of one model from the probing rows and metrics of its runs, one run for each seed."""
    epochs = grouped((row.moment, row.epoch) for rows in probes for row in rows)
    epoch_of = {moment: sum(of_seeds) / len(of_seeds) for moment, of_seeds in epochs.items()}
    lines = task_series([[(epoch_of[row.moment], row) for row in rows] for rows in probes])
    score = drawn_score(score, metrics)
    scores = [column_by_epoch(rows, score) for rows in metrics]
    # also not NaN
    seeds = [{float(epoch): (y,) * 3 for epoch, y in run.items() if abs(y) < MAX_OBJECTIVE_SCORE} for run in scores]
    name = score_name(score) if any(seeds) else ""
    suite, unit = next((key for rows in probes for key in rows_by_chart(rows)), ("", ""))
    rows_by_x = _values_by_x([{epoch_of[row.moment]: row for row in rows} for rows in probes])
    runs = frozenset(map(len, rows_by_x.values()))
    return Panel(title, lines, name, mean_series(name, seeds), suite, runs, unit=unit)


def drawn_score(score: str, metrics: Sequence[MetricRows]) -> str:
    """The column of metrics.csv to draw: the objective's score, or perplexity where that is 0 at every epoch."""
    rows = [row for run in metrics for row in run]
    perplexity = f"{score.rpartition('/')[0]}/perplexity"
    zero = bool(score) and not any(float(row.get(score) or 0) for row in rows)
    return perplexity if zero and any(row.get(perplexity) for row in rows) else score


def task_series(runs: Sequence[Sequence[tuple[float, ProbeRow]]]) -> list[DataSeries]:
    """A line for each task, from the rows of each run; each row has an x."""
    lines = []
    for task in chart.in_paper_order([row.task for run in runs for _, row in run]):
        rows = [{x: row for x, row in run if row.task == task} for run in runs]
        chance = chance_of(row for run in rows for row in run.values())
        by_x = _values_by_x(rows)
        lines.append(DataSeries(task, list(by_x), list(map(mean_of_seeds, by_x.values())), chance))
    return lines


def _values_by_x(runs: Sequence[Mapping[float, Value]]) -> dict[float, list[Value]]:
    """The values at the x that all runs have, as a run that begins or ends elsewhere would put a step into the mean.

    So runs of one x are left out next to longer ones; without longer ones any x.
    """
    lines = [run for run in runs if len(run) > 1]
    every = lines or [run for run in runs if run]
    shared = set.intersection(*map(set, lines)) if lines else set()
    return {x: [run[x] for run in every if x in run] for x in sorted(shared or set().union(*every))}


def mean_series(name: str, runs: Sequence[Mapping[float, Interval]]) -> DataSeries:
    """The mean score and its interval at each x."""
    by_x = _values_by_x(runs)
    highest = 100.0 if name.endswith(chart.PERCENT_SCORES) else math.inf
    return DataSeries(name, list(by_x), [bounded_mean_of_runs(values, highest) for values in by_x.values()])


def band_meaning(runs: Collection[int]) -> str:
    """The meaning of low and high of `mean_series`, where points are means of this many runs."""
    if not any(number > 1 for number in runs):
        return "95% interval"
    return "95% interval; seeds: of their mean" if 1 in runs else "95% interval of the mean over seeds"


def score_axis(lines: Sequence[DataSeries], suite: str, unit: str = "") -> Axis:
    """The axis of scores: from 0 or a lower score, to 100% or the highest score of another unit."""
    _, low, high = values_and_ends([y for line in lines for y in line.y] or [0.0])
    bottom, top = 1.08 * min(0.0, *low), 1.08 * max(1.0, *high) if unit else AXIS_TOP
    in_percent = facts_of(suite).axis or f"{suite} score on test (%)"
    return Axis(f"{suite}: {unit}" if unit else in_percent, ends=(bottom, top))


def epoch_axis(epochs: Sequence[float]) -> Axis:
    return Axis(EPOCH_LABEL, "0: before training" if epochs and min(epochs) == 0 else "")


def charts_by_model(panels: Sequence[Panel]) -> ChartSection:
    """A chart for each model and unit, a line for each task; without epochs to join, a point with its interval."""
    names = grouped((panel.suite, line.name) for panel in panels for line in panel.lines)
    legend = {suite: chart.task_looks(chart.in_paper_order(tasks)) for suite, tasks in names.items()}
    inches = (9.0, 5.2) if len(panels) == 1 else (6.0, 5.2 if len(panels) == 2 else 4.4)
    charts = [_panel_chart(panel, legend.get(panel.suite, {}), inches) for panel in panels]
    shapes = ["bands"] * any(len(panel.epochs) > 1 for panel in panels)
    shapes += ["bars"] * any(len(panel.epochs) < 2 for panel in panels)
    bands = f"{' and '.join(shapes)}: {band_meaning({n for panel in panels for n in panel.runs})}"
    objectives: dict[str, Look] = {c.objective.name: c.objective.look for c in charts if c.objective}
    all_looks = {name: look for tasks in legend.values() for name, look in tasks.items()}
    return ChartSection(f"{panels[0].suite} by epoch: each model", charts, all_looks | objectives, bands=bands)


def _panel_chart(panel: Panel, look: Mapping[str, Look], inches: tuple[float, float]) -> Chart:
    y = score_axis(panel.lines, panel.suite, panel.unit)
    lines = [replace(line, look=look[line.name], model=panel.title) for line in panel.lines]
    if len(panel.epochs) < 2:
        points = [
            replace(line, x=[index], y=line.y[-1:], text=f"{values_and_ends(line.y)[0, -1]:.1f}", shape="points")
            for index, line in enumerate(lines)
        ]
        x = Axis(ends=(-0.5, max(len(lines), 1) - 0.2), ticks={index: line.name for index, line in enumerate(lines)})
        return Chart(panel.title, x, y, points, inches)
    objective = replace(panel.objective, model=panel.title, marker="square") if panel.score else None
    return Chart(panel.title, epoch_axis(panel.epochs), y, lines, inches, named=True, objective=objective)


def charts_by_task(panels: Sequence[Panel]) -> ChartSection:
    """A small chart for each task, a line for each model; the objectives' own scores come last."""
    legend: dict[str, Look] = {}
    for index, (title, colour) in enumerate({panel.title: panel.colour for panel in panels}.items()):
        default, style = chart.look_of_index(index)
        legend[title] = colour or default, style
    cells = {
        (f"{task} ({panel.unit or '%'})", panel.title): line  # a model has a panel for each unit
        for task in chart.in_paper_order([line.name for panel in panels for line in panel.lines])
        for panel in panels
        for line in panel.lines
        if line.name == task
    }
    cells |= {(f"{panel.score} (dev)", panel.title): panel.objective for panel in panels if panel.score}
    lines = grouped(
        (cell, replace(line, name=title, task=line.name, model=title, look=legend[title]))
        for (cell, title), line in cells.items()
    )
    charts = [Chart(cell, Axis(EPOCH_LABEL), Axis(), series, (2.9, 2.25)) for cell, series in lines.items()]
    meaning = f"bands: {band_meaning({n for panel in panels for n in panel.runs})}"
    bands = meaning if len(legend) <= MAX_BANDED_MODELS else ""
    return ChartSection(f"{panels[0].suite} by epoch: each task", charts, legend, columns=4, bands=bands)
