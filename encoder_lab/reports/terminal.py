"""What an evaluation prints: tables as plain text, and of coherence suites predictions and the bits of regions."""

from collections.abc import Iterator, Mapping, Sequence

from encoder_lab.reports.formats import with_headings
from encoder_lab.reports.published import published
from encoder_lab.reports.runs import grouped
from encoder_lab.reports.table import Table, TableRow
from encoder_lab.reports.text import aligned
from probes.bits import CODES
from probes.coherence.formula import chance
from probes.coherence.scoring import compared_name, note_on_ties
from probes.coherence.tasks import PAIRS_DETAIL, TIES_PREFIX
from probes.evaluation import Evaluated
from probes.probing.controls import CONTROL, CONTROL_UNITS
from probes.results import ProbeRow, seconds_by_suite
from probes.statistics import compare, interval_with_ties

# the measures of details.csv that are not in the table of scores, except those of single domains
SECOND_MEASURES = {
    "f1": "F1", "either sense": "either sense", "ceiling": "ceiling", "spearman": "Spearman",
    "mse": "mean squared error", "rated modified": "rated modified", "wmean pearson": "weighted mean",
    "all pearson": "all pairs", "mean spearman": "Spearman mean", "wmean spearman": "Spearman weighted mean",
    "all spearman": "Spearman all pairs",
}  # fmt: skip
PAPER_TABLES = ("beyer2021_tables1to5", "beyer2021_table4")


def table_text(table: Table) -> str:
    """Models by tasks; the best of a column has a star, and half of its interval follows a score."""
    headings, rows = [""], [["model", *table.columns]]
    for heading, row in with_headings(table):
        headings.append(f"\n{heading}\n" if heading else "")
        rows.append([f"  {row.name}", *(_cell(table, row, column) for column in table.columns)])
        devs = {column: f"{cell.dev:.1f}" for column, cell in row.cells.items() if cell.dev is not None}
        if devs:
            headings.append("")
            rows.append(["    on dev", *(devs.get(column, "") for column in table.columns)])
    lines = map("".join, zip(headings, aligned(rows), strict=True))
    return "\n".join([*lines, "", *table.notes, "±: half of the interval."]) + "\n"


def _cell(table: Table, row: TableRow, column: str) -> str:
    cell = row.cells.get(column)
    return "" if cell is None else f"{'*' if table.best(row, column) else ''}{cell.score:.1f} {cell.margin}".rstrip()


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
        cells = [_with_margin(*row.interval)]
        for control in (controls[f"{row.task} {CONTROL} per {per}"] for per in units):
            assert row.answers
            assert control.answers
            effect = compare(row.answers.right, control.answers.right)
            cells += [_with_margin(*control.interval), _with_margin(*effect[:3])]
        lines.append([row.task, *cells])
    heads = ["task", "accuracy", *(head for per in units for head in (f"per {per}", "selectivity"))]
    yield f"{title}: control tasks (Hewitt and Liang 2019), ± half of the 95% interval"
    yield from [*aligned([heads, *lines]), ""]


def _with_margin(score: float, low: float, high: float) -> str:
    return f"{score:.1f} ±{(high - low) / 2:.1f}"


def _code_lines(title: str, rows: Sequence[ProbeRow]) -> Iterator[str]:
    gains = {(row.task, row.classifier): row for row in rows if row.suite == "gain"}
    for reader, code in CODES.items():
        coded = [row for row in rows if (row.suite, row.classifier) == ("bits", reader)]
        lines = [
            [row.task, *(f"{row.hyperparameters[key]}" for key in ("bits", "compression")), _with_margin(*row.interval)]
            + ([_with_margin(*gain.interval)] if (gain := gains.get((row.task, reader))) else [])
            for row in coded
        ]
        if lines:
            heads = ["task", "bits", "compression", "% of uniform", *(["gain over bov"] if gains else [])]
            yield f"{title}: code length, {code} (Voita and Titov 2020), ± half of the 95% interval"
            yield from [*aligned([heads, *lines]), ""]


def second_measures_text(title: str, scores: Sequence[Evaluated]) -> str:
    """One line for each task with other measures of the same predictions; empty if there is none."""
    lines, wide = [], max([8, *(len(e.row.task) + 2 for e in scores)])
    for e in scores:
        keys = [key for key in SECOND_MEASURES if key in e.details]
        values = ", ".join(f"{SECOND_MEASURES[key]} {e.details[key]:.{2 if key == 'mse' else 1}f}" for key in keys)
        measure = "Pearson" if "spearman" in e.details else "accuracy"
        measure = "Pearson, mean over domains" if "mean pearson" in e.details else measure
        lines += [f"  {e.row.task:<{wide}}{measure} {e.row.test_accuracy:.1f}; {values}"] if keys else []
    heading = f"{title}: what the table holds; other measures of the same predictions"
    return "\n".join([heading, *lines]) + "\n" if lines else ""


def suite_lines(title: str, scores: Sequence[Evaluated], tables: Sequence[str] | None) -> str:
    """Each suite of one model. `tables`: the published ones to be quoted; None is those of the paper."""
    quoted = [score for table in (PAPER_TABLES if tables is None else tables) for score in published(table)]
    quotes = grouped((score.task, (score.model, score.score)) for score in quoted)
    heading = f"{title}: items that hold in % with Wilson's 95% interval; bits of a region and of its tokens, means"
    return "\n".join([heading, *(line for scored in scores for line in _task_lines(scored, quotes))]) + "\n"


def _task_lines(scored: Evaluated, quotes: dict[str, list[tuple[str, float]]]) -> Iterator[str]:
    row, details, items = scored.row, scored.details, len(scored.correct)
    line = f"{row.test_accuracy:.1f} [{row.test_low:.1f}, {row.test_high:.1f}] of {items} items"
    line += note_on_ties(details.get("ties", 0), details.get("undefined", 0))
    if long := details.get("long texts"):
        line += f", {long:.0f} texts longer than the model's context"
    names = [name for name in quotes if name == row.task or name.startswith(f"{row.task}_")]
    yield f"  {row.task}: {line}{_published_text(row.task, names, quotes)}"
    formulas = [name for name in details if "%" in name and not name.startswith(TIES_PREFIX)]
    if formulas:
        chances = {chance([formula], syntaxgym=True) for formula in formulas}  # parsed as it was scored
        same = chances.pop() if len(chances) == 1 else None
        by_chance = "" if same is None else f", each {same:.4g} by chance"
        of_all = _chance_text(row.chance)
        yield f"    {len(formulas)} predictions{by_chance}; the score above is of all together{of_all}"
        yield f"    each of them as an item by itself: {details[PAIRS_DETAIL]:.1f} of {len(formulas) * items}"
    for formula in formulas:
        low, high = interval_with_ties(round(details[formula] * items / 50) / 2, items)
        line = f"{details[formula]:.1f} [{low:.1f}, {high:.1f}]{note_on_ties(details.get(TIES_PREFIX + formula, 0), 0)}"
        line += "" if by_chance else _chance_text(chance([formula], syntaxgym=True))
        name = compared_name(row.task, formula)
        yield f"    {formula}: {line}{_published_text(name, [name] if name in quotes else [], quotes)}"
    yield from _region_lines(details)


def _chance_text(percent: float | None) -> str:
    return "" if percent is None else f", {percent:.1f} by chance"


def _published_text(task: str, names: Sequence[str], quotes: dict[str, list[tuple[str, float]]]) -> str:
    """`; GPT-2 86, DialoGPT 78 published`, with the part of the name that ours does not have."""
    parts = {name: name.removeprefix(task).replace("_", " ") for name in names}
    cells = [f"{model}{part} {score:.0f}" for name, part in parts.items() for model, score in quotes[name]]
    return f"; published {', '.join(cells)}" if cells else ""


def _region_lines(details: Mapping[str, float]) -> Iterator[str]:
    regions: dict[str, dict[tuple[int, str], float]] = {}
    for name, value in details.items():
        measure, _, rest = name.partition(" ")
        condition, _, region = rest.rpartition(" ")
        if measure in ("sum", "mean") and region.isdecimal() and condition:
            regions.setdefault(condition, {})[int(region), measure] = value
    columns = sorted({key for values in regions.values() for key in values}, key=lambda key: (key[0], key[1] == "mean"))
    rows = [["condition", *(f"{region} {measure}" for region, measure in columns)]]
    rows += [[c, *(f"{v[key]:.2f}" if key in v else "" for key in columns)] for c, v in regions.items()]
    yield from (f"    {line}" for line in aligned(rows))
