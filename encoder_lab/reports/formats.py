"""A table as Markdown, LaTeX, CSV or HTML."""

import csv
import io
from collections.abc import Callable, Iterator

from encoder_lab.errors import printable
from encoder_lab.reports.escape import for_csv, for_html, for_latex, for_markdown
from encoder_lab.reports.table import Table, TableCell, TableRow

LARGE = 1e7  # scores above it, of a diverged run, are written with an exponent


def markdown(table: Table) -> str:
    """For README files: best in bold, the interval small below the score."""

    def cell(row: TableRow, column: str) -> str:
        found = row.cells.get(column)
        if found is None:
            return ""
        text = f"**{_score(found)}**" if table.best(row, column) else _score(found)
        return text + (f"<br><sub>{_interval(found)}</sub>" if found.low is not None else "")

    lines = [f"| model | {' | '.join(map(for_markdown, table.columns))} |", "|---" + "|---:" * len(table.columns) + "|"]
    for heading, row in _with_headings(table):
        if heading:
            lines.append(f"| *{for_markdown(heading)}* |" + " |" * len(table.columns))
        lines.append(f"| {for_markdown(row.name)} | {' | '.join(cell(row, c) for c in table.columns)} |")
    return "\n".join([*lines, "", *map(for_markdown, table.notes)]) + "\n"


def latex(table: Table) -> str:
    """A tabular for the booktabs package."""

    def cell(row: TableRow, column: str) -> str:
        found = row.cells.get(column)
        if found is None:
            return ""
        text = rf"\textbf{{{_score(found)}}}" if table.best(row, column) else _score(found)
        return text + (rf" {{\tiny {found.low:.1f}--{found.high:.1f}}}" if found.low is not None else "")

    width = len(table.columns) + 1
    lines = [rf"\begin{{tabular}}{{l{'r' * (width - 1)}}}", r"\toprule"]
    lines += [" & ".join(["", *map(for_latex, table.columns)]) + r" \\"]
    for heading, row in _with_headings(table):
        if heading:
            lines += [r"\midrule", rf"\multicolumn{{{width}}}{{l}}{{\textit{{{for_latex(heading)}}}}} \\"]
        lines.append(" & ".join([for_latex(row.name), *(cell(row, c) for c in table.columns)]) + r" \\")
    notes = [f"% {printable(note)}" for note in table.notes]
    return "\n".join([*notes, *lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def as_csv(table: Table) -> str:
    """One row for each model, three columns for each task: score, low, high; full precision, empty where unknown."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [name for c in table.columns for name in (c, f"{c} low", f"{c} high")]
    writer.writerow(["source", "encoder", "model", *map(for_csv, names)])
    for row in table.rows:
        cells = [row.cells.get(column) for column in table.columns]
        values = [value for cell in cells for value in (cell[:3] if cell else (None,) * 3)]
        about = map(for_csv, (row.source or "ours", row.encoder, row.name))
        writer.writerow([*about, *("" if v is None else f"{v:g}" for v in values)])
    return out.getvalue()


def as_html(table: Table) -> str:
    """A table element that page.py makes sortable; tooltips show the interval and the chosen hyper-parameters."""

    def cell(row: TableRow, column: str) -> str:
        found = row.cells.get(column)
        if found is None:
            return "<td></td>"
        hover = "; ".join(filter(None, [_interval(found) if found.low is not None else "", found.about]))
        score = f"<b>{_score(found)}</b>" if table.best(row, column) else _score(found)
        small = f"<small>{_interval(found)}</small>" if found.low is not None else ""
        return f'<td data-value="{found.score:.4f}" title="{for_html(hover)}">{score}{small}</td>'

    heads = "".join(f"<th>{for_html(name)}</th>" for name in ("source", "encoder", "model", *table.columns))
    body = []
    for row in table.rows:
        names = "".join(f"<td>{for_html(text)}</td>" for text in (row.source or "ours", row.encoder, row.name))
        cells = "".join(cell(row, column) for column in table.columns)
        body.append(f'<tr class="{"quoted" if row.source else "ours"}">{names}{cells}</tr>')
    notes = f"<p>{for_html(' '.join(table.notes))}</p>"
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table>{notes}"


FORMATS: dict[str, Callable[[Table], str]] = {"markdown": markdown, "latex": latex, "csv": as_csv, "html": as_html}


def _with_headings(table: Table) -> Iterator[tuple[str, TableRow]]:
    """Rows with the heading before each: the encoder and the source of the numbers; empty if it is unchanged."""
    before = None
    for row in table.rows:
        heading = ", ".join(filter(None, [row.encoder or ("" if row.source else "ours"), row.source]))
        yield (heading if heading != before else ""), row
        before = heading


def _score(cell: TableCell) -> str:
    return f"{cell.score:.1f}" if abs(cell.score) < LARGE else f"{cell.score:.3g}"


def _interval(cell: TableCell) -> str:
    return f"{cell.low:.1f}–{cell.high:.1f}"
