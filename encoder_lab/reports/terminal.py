"""Tables as plain text, for a terminal."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from encoder_lab.reports.correlation import SIGNIFICANCE_LEVEL, holm_adjusted
from encoder_lab.reports.formats import with_headings
from encoder_lab.reports.table import Table, TableRow
from encoder_lab.reports.text import aligned
from probes.bits import CODES
from probes.evaluation import Evaluated
from probes.probing.controls import CONTROL, CONTROL_UNITS
from probes.results import ProbeRow, seconds_by_suite
from probes.statistics import compare

BEST_MARK = "*"
# the measures of details.csv that are not in the table of scores, except those of single domains
SECOND_MEASURES = {
    "f1": "F1", "either sense": "either sense", "ceiling": "ceiling", "spearman": "Spearman",
    "mse": "mean squared error", "rated modified": "rated modified", "wmean pearson": "weighted mean",
    "all pearson": "all pairs", "mean spearman": "Spearman mean", "wmean spearman": "Spearman weighted mean",
    "all spearman": "Spearman all pairs",
}  # fmt: skip
DECIMALS = {"mse": 2}


def table_text(table: Table) -> str:
    """Models by tasks; the best of a column has a star, and half of its interval follows a score."""
    wide = max([len("    on dev"), *(len(row.name) for row in table.rows)]) + 2
    widths = [max(14, len(column) + 2) for column in table.columns]

    def line(name: str, cells: Iterable[str]) -> str:
        return f"{name:<{wide}}" + "".join(f"{cell:>{w}}" for cell, w in zip(cells, widths, strict=True)).rstrip()

    lines = [line("model", table.columns)]
    for heading, row in with_headings(table):
        lines += ["", heading] if heading else []
        lines.append(line(f"  {row.name}", (_cell(table, row, column) for column in table.columns)))
        devs = {column: f"{cell.dev:.1f}" for column, cell in row.cells.items() if cell.dev is not None}
        if devs:
            lines.append(line("    on dev", (devs.get(column, "") for column in table.columns)))
    return "\n".join([*lines, "", *table.notes, "±: half of the interval."]) + "\n"


def _cell(table: Table, row: TableRow, column: str) -> str:
    cell = row.cells.get(column)
    if cell is None:
        return ""
    return f"{BEST_MARK if table.best(row, column) else ''}{cell.score:.1f} {cell.margin}".rstrip()


def _margin(low: float, high: float) -> str:
    return f"±{(high - low) / 2:.1f}"


def measures_text(title: str, rows: Sequence[ProbeRow], extra_rows: Sequence[ProbeRow]) -> str:
    """What `extra_rows` adds to the accuracies in `rows`: control tasks, codes, and the seconds that each took."""
    times = ", ".join(f"{suite} {seconds:.1f} s" for suite, seconds in seconds_by_suite([*rows, *extra_rows]).items())
    lines = [*_selectivity_lines(title, rows, extra_rows), *_code_lines(title, extra_rows), f"{title}: {times}"]
    return "\n".join(lines) + "\n"


def _selectivity_lines(title: str, rows: Sequence[ProbeRow], extra_rows: Sequence[ProbeRow]) -> Iterator[str]:
    """Selectivity, task accuracy minus control accuracy on the same sentences, for labels per word and per sentence."""
    controls = {row.task: row for row in extra_rows if row.suite == CONTROL}
    units = [per for per in CONTROL_UNITS if any(name.endswith(per) for name in controls)]
    if not units:
        return
    lines = []
    for row in (row for row in rows if f"{row.task} {CONTROL} per {units[0]}" in controls):  # not one class alone
        cells = [_accuracy(row)]
        for control in (controls[f"{row.task} {CONTROL} per {per}"] for per in units):
            assert row.answers
            assert control.answers
            effect = compare(row.answers.right, control.answers.right)
            cells += [_accuracy(control), f"{effect.difference:.1f} {_margin(effect.low, effect.high)}"]
        lines.append([row.task, *cells])
    heads = ["task", "accuracy", *(head for per in units for head in (f"per {per}", "selectivity"))]
    yield f"{title}: control tasks (Hewitt and Liang 2019), ± half of the 95% interval"
    yield from [*aligned([heads, *lines]), ""]


def _accuracy(row: ProbeRow) -> str:
    return f"{row.test_accuracy:.1f} {_margin(row.test_low, row.test_high)}"


def _code_lines(title: str, rows: Sequence[ProbeRow]) -> Iterator[str]:
    """The length of each task's labels given the vectors, in each code."""
    gains = {(row.task, row.classifier): row for row in rows if row.suite == "gain"}
    for reader, code in CODES.items():
        coded = [row for row in rows if (row.suite, row.classifier) == ("bits", reader)]
        lines = [
            [row.task, *(f"{row.hyperparameters[key]}" for key in ("bits", "compression")), _accuracy(row)]
            + ([_accuracy(gain)] if (gain := gains.get((row.task, reader))) else [])
            for row in coded
        ]
        if lines:
            heads = ["task", "bits", "compression", "% of uniform", *(["gain over bov"] if gains else [])]
            yield f"{title}: code length, {code} (Voita and Titov 2020), ± half of the 95% interval"
            yield from [*aligned([heads, *lines]), ""]


def comparisons_text(models: Sequence[tuple[str, Sequence[Evaluated]]]) -> str:
    """Each model against the first on the same test sentences."""
    (first, reference), *rest = models
    lines = []
    for title, scores in rest:
        answers = {e.row.task: e.correct for e in scores}
        shared = [e for e in reference if e.row.task in answers and len(e.correct)]
        compared = [compare(answers[e.row.task], e.correct) for e in shared]
        certain = holm_adjusted(np.array([c.p_value for c in compared])) <= SIGNIFICANCE_LEVEL
        rows = [
            [e.row.task, *(f"{points:z.1f}" for points in c[:3]), "differs" if sure else "cannot tell"]
            for e, c, sure in zip(shared, compared, certain, strict=True)
        ]
        heads = ["task", "difference", "low", "high", "McNemar, Holm"]
        lines += [f"{title} minus {first}, percentage points with 95% interval", *aligned([heads, *rows]), ""]
    return "\n".join(lines)


def second_measures_text(title: str, scores: Sequence[Evaluated]) -> str:
    """One line for each task with other measures of the same predictions; empty if there is none."""
    lines, wide = [], max([8, *(len(e.row.task) + 2 for e in scores)])
    for e in scores:
        keys = [key for key in SECOND_MEASURES if key in e.details]
        values = ", ".join(f"{SECOND_MEASURES[key]} {e.details[key]:.{DECIMALS.get(key, 1)}f}" for key in keys)
        measure = "Pearson" if "spearman" in e.details else "accuracy"
        measure = "Pearson, mean over domains" if "mean pearson" in e.details else measure
        lines += [f"  {e.row.task:<{wide}}{measure} {e.row.test_accuracy:.1f}; {values}"] if keys else []
    heading = f"{title}: what the table holds; other measures of the same predictions"
    return "\n".join([heading, *lines]) + "\n" if lines else ""
