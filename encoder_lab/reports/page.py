"""Tables, charts and findings on one HTML page that needs no network: Plotly is a part of it. page.html is its form."""

import html
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, Template
from markupsafe import Markup

from encoder_lab.errors import printable
from encoder_lab.reports.chart import Chart, ChartSection, HeatMap
from encoder_lab.reports.findings import VERDICT_RULE, Finding, chart_of_findings, pairing_note
from encoder_lab.reports.formats import as_csv, heads_and_lines, interval_of, latex, markdown, score_of
from encoder_lab.reports.interactive import plotly_figure
from encoder_lab.reports.strips import StripItem, by_region, colour_of, metric_of, tokens_of
from encoder_lab.reports.table import Table

SIGN_MEANINGS = {1: "for it", -1: "against it", 0: "within the interval"}


def html_page(
    title: str,
    tables: Sequence[Table],
    charts: Sequence[ChartSection] = (),
    findings: Sequence[Finding] = (),
    items: Sequence[StripItem] = (),
    notes: Sequence[str] = (),
) -> str:
    """A page: a list of contents, menus of runs and tasks, sections. `notes` are on the runs of the findings."""
    plotted: list[Chart | HeatMap] = []

    def slot(chart: Chart | HeatMap) -> dict[str, int]:
        plotted.append(chart)
        width, height = chart.inches
        return {"number": len(plotted) - 1, "wide": max(1, round(width / 2.5)), "height": round(70 * height) + 60}

    sections: list[tuple[str, str, Any]] = [(table.title, "table", table) for table in tables]
    for section in charts:
        content = {"legend": section.legend, "charts": [slot(chart) for chart in section.charts]}
        sections.append((section.heading, "charts", content))
    if findings:
        chart = slot(chart_of_findings(findings).charts[0]) if any(f.comparisons for f in findings) else None
        rule = " ".join([*VERDICT_RULE.split(), pairing_note(findings), *notes])
        sections.append(("which published findings hold", "findings", (findings, chart, rule)))
    sections += [("surprisal of each token", "items", items)] if items else []
    rows = [(table, row) for table in tables for row in table.rows if row.encoder and not row.source]
    menus = {"models": dict.fromkeys(row.title for _, row in rows)}
    menus["tasks"] = dict.fromkeys(task for table, _ in rows for task in table.columns)
    scripts = Markup(_scripts(plotted))
    return _template().render(title=title, sections=sections, scripts=scripts, meanings=SIGN_MEANINGS, **menus)


@cache
def _template() -> Template:
    forms = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True, keep_trailing_newline=True)
    forms.finalize = lambda value: value if isinstance(value, Markup) else Markup(html.escape(printable(str(value))))
    functions = (heads_and_lines, interval_of, score_of, by_region, colour_of, metric_of, tokens_of)
    forms.globals |= {function.__name__: function for function in functions}
    return forms.get_template("page.html")


def _scripts(charts: Sequence[Chart | HeatMap]) -> str:
    """Plotly, where there are charts, and their data."""
    values = json.dumps(list(map(plotly_figure, charts))).replace("<", r"\u003c")
    data = f"<script>const CHARTS = {values};</script>"
    if not charts:
        return data
    from plotly.offline import get_plotlyjs

    return f"<script>{get_plotlyjs()}</script>{data}"


TABLE_FORMATS: dict[str, Callable[[Table], str]] = {"markdown": markdown, "latex": latex, "csv": as_csv}
TABLE_FORMATS["html"] = lambda table: html_page(table.title, [table])
