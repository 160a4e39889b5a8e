"""Known against used: what is read of the vectors, and what the objective loses without it; seeds are compared."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from encoder_lab.errors import InputError
from encoder_lab.reports import chart
from encoder_lab.reports.chart import Axis, Chart, ChartSection, DataSeries, signed_ticks
from encoder_lab.reports.models import ReportedModel, RowsByTask
from encoder_lab.reports.order import mean_agreement
from encoder_lab.reports.runs import grouped, mean_of_seeds, rows_by_one_reader, rows_by_task
from encoder_lab.reports.text import for_markdown
from probes.results import ProbeRow
from probes.statistics import Interval, mean_of_runs

LINEAR_LIMIT = 10  # thousandths of a nat; rises above it are on a logarithmic axis
COLUMNS = ("rank", "random", "control", "bleu", "accuracy", "perplexity", "mlp", "majority")  # in the rows of `use`
MEASURES = {"loss": "loss (thousandths)", "error": "error (points)"}  # what rises, by the classifier of the rows
COLUMN_HEADS = {"bleu": "BLEU", "mlp": "MLP after"}
TABLE_NOTE = "Known: accuracy on test (%). Rise: without the property, of the "
TABLE_NOTE += "loss in thousandths of a nat, or of the error in points."


class PropertyUse(NamedTuple):
    """One property of a model; several seeds are their mean."""

    name: str
    known: Interval | None  # the accuracy of its probe; None: in none of the rows
    known_seeds: int  # how many the accuracy is of
    rise: Interval  # of the loss, in thousandths of a nat, or of an error in points
    used: int  # in how many seeds it is above zero and both controls
    seeds: int
    numbers: dict[str, float]  # means of COLUMNS
    measure: str  # what rises, with its unit

    @property
    def verdict(self) -> str:
        """Whether the property is used; with several seeds, in how many."""
        return ("yes" if self.used else "no") if self.seeds == 1 else f"{self.used} of {self.seeds}"


class ModelUse(NamedTuple):
    """The properties of one model at one epoch, those with the largest rise first."""

    title: str
    properties: list[PropertyUse]
    seeds: float  # the mean Kendall's tau of the order of rises between its seeds; NaN for one


def use_of(models: Sequence[ReportedModel], epoch: str, classifier: str) -> list[ModelUse]:
    """What each model with scores of suite=use uses. Raises InputError if none has such scores."""
    by_model = [(model, rows_by_task(model.runs, "use", epoch, classifier)) for model in models]
    used = [_model_use(model, rows, epoch, classifier) for model, rows in by_model if rows]
    if not used:
        raise InputError("no run has scores of suite=use; train, or evaluate.py epochs=all, with suite=[probing,use]")
    return used


def _model_use(model: ReportedModel, rows: RowsByTask, epoch: str, classifier: str) -> ModelUse:
    accuracy, properties = _accuracy_rows(model, epoch, classifier), []
    for name in chart.in_paper_order(list(rows)):
        known = accuracy.get(name, accuracy.get(name.rpartition(" in ")[0], ()))
        properties.append(_property_use(name, rows[name], known))
    properties.sort(key=lambda use: (np.isnan(use.rise[0]), -use.rise[0]))
    by_run = (rows_by_task([run], "use", epoch, classifier) for run in model.runs)
    rises = [{name: row.test_accuracy for name, (row,) in tasks.items()} for tasks in by_run]
    return ModelUse(model.title, properties, mean_agreement(rises))


def _accuracy_rows(model: ReportedModel, epoch: str, classifier: str) -> RowsByTask:
    """The scores of other suites at the epoch of the use in each run; of each task those of the first suite."""
    runs = [(run, run.epoch(epoch, "use")) for run in model.runs if run.has_suite("use")]
    scored = [[row for row in run.rows if row.suite != "use" and row.epoch == use_epoch] for run, use_epoch in runs]
    known = grouped((row.task, row) for rows in rows_by_one_reader(scored, classifier) for row in rows)
    return {task: [row for row in rows if row.suite == rows[0].suite] for task, rows in known.items()}


def _property_use(name: str, rows: Sequence[ProbeRow], known: Sequence[ProbeRow]) -> PropertyUse:
    by_column = {column: [row.hyperparameters.get(column) for row in rows] for column in COLUMNS}
    values = {column: [v for v in cells if isinstance(v, int | float)] for column, cells in by_column.items()}
    numbers = {column: float(np.mean(known_values)) for column, known_values in values.items() if known_values}
    accuracy, rise = mean_of_seeds(known) if known else None, mean_of_runs([row.interval for row in rows])
    used, reader = sum(row.hyperparameters.get("used") == 1 for row in rows), rows[0].classifier
    return PropertyUse(name, accuracy, len(known), rise, used, len(rows), numbers, MEASURES.get(reader, reader))


def as_text(models: Sequence[ModelUse]) -> str:
    """A Markdown table for each model, and how far its seeds agree."""
    blocks = []
    for model in models:
        columns = [column for column in COLUMNS if any(column in use.numbers for use in model.properties)]
        heads = ["task", "known", "rise", "used", *(COLUMN_HEADS.get(column, column) for column in columns)]
        rows = [heads, ["---", "---:", "---:", "---", *["---:"] * len(columns)]]
        for use in model.properties:
            known = f"{use.known[0]:.1f}" if use.known else ""
            known += f" ({use.known_seeds} of {use.seeds} seeds)" if 0 < use.known_seeds < use.seeds else ""
            rise = "{:z.1f} [{:z.1f}, {:z.1f}]".format(*use.rise)
            rounded = {name: round(number, 1) for name, number in use.numbers.items()}
            numbers = {name: f"{number:{'g' if name == 'rank' else 'z.1f'}}" for name, number in rounded.items()}
            cells = [numbers.get(name, "") for name in columns]
            rows.append([for_markdown(use.name), known, rise, use.verdict, *cells])
        lines = [f"**{for_markdown(model.title)}**", "", *(f"| {' | '.join(row)} |" for row in rows)]
        if np.isfinite(model.seeds):
            lines += ["", f"Kendall's tau of the order of rises between its seeds: {model.seeds:.2f}"]
        blocks.append("\n".join(lines))
    return "\n\n".join([*blocks, TABLE_NOTE]) + "\n"


def charts_of_use(models: Sequence[ModelUse]) -> ChartSection:
    """A chart for each model: accuracy to the right, the rise upwards; what is not used in every seed is hollow."""
    note = "Filled: above zero and both controls in every seed. Cross: the control task's labels erased. "
    note += f"Bars: 95% intervals. Above {LINEAR_LIMIT} the axis of rises is logarithmic."
    return ChartSection("known against used", list(map(_chart, models)), note=note)


def _chart(model: ModelUse) -> Chart:
    plotted = [(use, use.known) for use in model.properties if use.known]
    colours, series = chart.task_looks([use.name for use, _ in plotted]), []
    for use, known in plotted:
        hover = f"{use.name}\nknown {chart.score_text(*known)}\nrise {chart.score_text(*use.rise)}\nused {use.verdict}"
        point = DataSeries(use.name, [known], [use.rise], look=colours[use.name], shape="points")
        series.append(replace(point, hollow=use.used < use.seeds, hover=[hover], model=model.title))
        if "control" in use.numbers:
            cross = replace(point, name="", x=known[:1], y=[use.numbers["control"]], marker="x", task=use.name)
            hover = f"{use.name}\nlabels of the control task erased: {use.numbers['control']:.2f}"
            series.append(replace(cross, hover=[hover], model=model.title))
    rise = Axis(f"used: rise of the {' or '.join(dict.fromkeys(use.measure for use, _ in plotted))}")
    if any(abs(y) > LINEAR_LIMIT for point in series for y in chart.values_and_ends(point.y).flat):
        rise = replace(rise, ticks={tick: f"{tick:.0f}" for tick in signed_ticks(LINEAR_LIMIT)}, linear=LINEAR_LIMIT)
    return Chart(model.title, Axis("known: accuracy of the probe on test (%)"), rise, series, (5.5, 4.3), named=True)
