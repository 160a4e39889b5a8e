"""A table as Markdown, LaTeX or CSV; page.html has it as HTML."""

from collections.abc import Iterator

from encoder_lab.errors import printable
from encoder_lab.reports.table import Table, TableCell, TableRow
from encoder_lab.reports.text import for_csv, for_latex, for_markdown
from encoder_lab.storage.csv_files import csv_text

MINUS = "\u2212"
# a printed row: a new heading before it or "", its name, its cells and whether each is bold
TextRow = tuple[str, str, list[tuple[TableCell | None, bool]]]
MIN_EXPONENT_SCORE = 1e7  # scores above it, of a diverged run, are written with an exponent


def heads_and_lines(table: Table) -> tuple[list[str], list[TextRow]]:
    """The names of the columns and the rows; transposed, a task is a row and a model a column."""
    if table.transposed:
        heads = [" ".join(filter(None, [row.source, row.encoder, row.name])) for row in table.rows]
        return heads, [("", c, [(r.cells.get(c), table.best(r, c)) for r in table.rows]) for c in table.columns]
    cells = [[(row.cells.get(c), table.best(row, c)) for c in table.columns] for row in table.rows]
    headed = zip(with_headings(table), cells, strict=True)
    return table.columns, [(heading, row.name, row_cells) for (heading, row), row_cells in headed]


def markdown(table: Table) -> str:
    """A Markdown table: the best in bold, the interval small below the score or behind it."""
    template = {"below": "<br><sub>{}</sub>", "inline": " ({})", "none": ""}[table.intervals]

    def cell(scored: TableCell | None, best: bool) -> str:
        if scored is None:
            return ""
        text = f"**{score_of(scored)}**" if best else score_of(scored)
        return text + (template.format(interval_of(scored)) if scored.low is not None else "")

    heads, rows = heads_and_lines(table)
    lines = [f"| {'' if table.transposed else 'model'} | {' | '.join(map(for_markdown, heads))} |"]
    lines += ["|---" + "|---:" * len(heads) + "|"]
    for heading, name, cells in rows:
        if heading:
            lines.append(f"| *{for_markdown(heading)}* |" + " |" * len(heads))
        lines.append(f"| {for_markdown(name)} | {' | '.join(cell(*c) for c in cells)} |")
    return "\n".join([*lines, "", *map(for_markdown, table.notes)]) + "\n"


def latex(table: Table) -> str:
    """A tabular for the packages booktabs and graphicx, no wider than its column."""

    def score(scored: TableCell | None, best: bool) -> str:
        text = _signed(score_of(scored)) if scored else ""
        return rf"\textbf{{{text}}}" if best else text

    def interval(scored: TableCell | None, _: bool) -> str:
        if scored is None or scored.low is None or scored.high is None:
            return ""
        return rf"{{\tiny {_signed(f'{scored.low:z.1f}')}--{_signed(f'{scored.high:z.1f}')}}}"

    heads, rows = heads_and_lines(table)
    lines = [r"\resizebox{\ifdim\width>\columnwidth\columnwidth\else\width\fi}{!}{%"]
    lines += [rf"\begin{{tabular}}{{l{'r' * len(heads)}}}", r"\toprule"]
    head = r"\rotatebox{90}{%s}" if table.transposed else "%s"
    lines += [" & ".join(["", *(head % for_latex(name) for name in heads)]) + r" \\"]
    lines += [r"\midrule"] if table.transposed else []
    for heading, name, cells in rows:
        if heading:
            lines += [r"\midrule", rf"\multicolumn{{{len(heads) + 1}}}{{l}}{{\textit{{{for_latex(heading)}}}}} \\"]
        scores, below = [score(*c) for c in cells], [interval(*c) for c in cells]
        if table.intervals == "inline":
            scores = [f"{text} {limits}".rstrip() for text, limits in zip(scores, below, strict=True)]
        lines.append(" & ".join([for_latex(name), *scores]) + r" \\")
        if table.intervals == "below" and any(below):
            lines.append(" & ".join(["", *below]) + r" \\")
    notes = [f"% {printable(note)}" for note in ["Packages: booktabs, graphicx.", *table.notes]]
    return "\n".join([*notes, *lines, r"\bottomrule", r"\end{tabular}", "}"]) + "\n"


def as_csv(table: Table) -> str:
    """A row for each model, columns of score, low and high for each task: six digits, empty where unknown."""
    heads, lines = heads_and_lines(table)
    labels: list[tuple[str, ...]] = [(row.source or "ours", row.encoder, row.name) for row in table.rows]
    labels = [(column,) for column in table.columns] if table.transposed else labels
    first = ["task"] if table.transposed else ["source", "encoder", "model"]
    fields = 1 if table.intervals == "none" else 3
    rows = [[*first, *(for_csv(name) for c in heads for name in (c, f"{c} low", f"{c} high")[:fields])]]
    for label, (_, _, cells) in zip(labels, lines, strict=True):
        values = [value for cell, _ in cells for value in (cell[:fields] if cell else (None,) * fields)]
        rows.append([*map(for_csv, label), *("" if v is None else f"{v:zg}" for v in values)])
    return csv_text(rows)


def with_headings(table: Table) -> Iterator[tuple[str, TableRow]]:
    """Rows with the heading before each: the encoder and the source of the numbers; empty if it is unchanged."""
    previous = None
    for row in table.rows:
        heading = ", ".join(filter(None, [row.encoder or ("" if row.source else "ours"), row.source]))
        yield (heading if heading != previous else ""), row
        previous = heading


def score_of(cell: TableCell) -> str:
    """The score as text, with a true minus sign."""
    return (f"{cell.score:z.1f}" if abs(cell.score) < MIN_EXPONENT_SCORE else f"{cell.score:.3g}").replace("-", MINUS)


def interval_of(cell: TableCell) -> str:
    """The interval as text: 1.2–3.4, or -1.2 to 3.4 where a dash could be read as a sign."""
    low, high = (f"{end:z.1f}".replace("-", MINUS) for end in (cell.low, cell.high))
    return f"{low} to {high}" if MINUS in low + high else f"{low}–{high}"


def _signed(text: str) -> str:
    return text.replace("-", "$-$").replace(MINUS, "$-$")
