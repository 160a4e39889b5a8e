"""Tables, charts and findings on one HTML page that needs no network: Plotly is a part of it."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from encoder_lab.reports.drawing import Look
from encoder_lab.reports.escape import for_html
from encoder_lab.reports.findings import RULE, Finding, how_many_paired
from encoder_lab.reports.formats import as_html
from encoder_lab.reports.interactive import DASHES, Chart, ChartSection, chart_of_findings
from encoder_lab.reports.strips import ShownItem, strips
from encoder_lab.reports.table import Table

MEANINGS = {1: "for it", -1: "against it", 0: "within the interval"}
BORDERS = {"solid": "solid", "dot": "dotted", "dash": "dashed"}  # CSS for Plotly's dashes
HOW = "Hover for scores and intervals, drag to zoom, double-click to zoom out."


def page(
    title: str,
    tables: Sequence[Table],
    charts: Sequence[ChartSection] = (),
    findings: Sequence[Finding] = (),
    items: Sequence[ShownItem] = (),
) -> str:
    """An HTML page: a list of contents, menus of runs and tasks, and sections of at most a screen."""
    drawn: list[Chart] = []
    sections = [(table.title, as_html(table)) for table in tables]
    sections += [(section.heading, _charts(section, drawn)) for section in charts]
    if findings:
        sections.append(("which published findings hold", _findings(findings, drawn)))
    sections += [("surprisal of each token", strips(items))] if items else []
    folder, name = Path(__file__).parent, for_html(title)
    style, script = ((folder / f"page.{ending}").read_text(encoding="utf-8") for ending in ("css", "js"))
    section = '<section id="part{}"><h2>{}</h2><div class=screen>{}</div></section>'.format
    body = "".join(section(place, for_html(heading), text) for place, (heading, text) in enumerate(sections))
    menus = _menus([heading for heading, _ in sections], tables) if len(sections) > 1 else ""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title><style>{style}</style></head>'
        f"<body><h1>{name}</h1>{menus}{body}{_data(drawn)}<script>{script}</script></body></html>\n"
    )


def _data(charts: Sequence[Chart]) -> str:
    """Plotly, where there are charts, and their data."""
    values = json.dumps([{"data": chart.data, "layout": chart.layout} for chart in charts]).replace("<", r"\u003c")
    data = f"<script>const CHARTS = {values};</script>"
    if not charts:
        return data
    from plotly.offline import get_plotlyjs

    return f"<script>{get_plotlyjs()}</script>{data}"


def _menus(headings: Sequence[str], tables: Sequence[Table]) -> str:
    """The list of contents, and what may be hidden: our models and the tasks of all tables."""
    links = [f'<a href="#part{place}">{for_html(heading)}</a>' for place, heading in enumerate(headings)]
    ours = [(table, row) for table in tables for row in table.rows if row.encoder and not row.source]
    models = dict.fromkeys(row.title for _, row in ours)
    tasks = dict.fromkeys(task for table, _ in ours for task in table.columns)
    menus = {"Contents": links, "Runs": _boxes("model", models), "Tasks": _boxes("task", tasks)}
    menu = "<details><summary>{}</summary><div>{}</div></details>".format
    return f"<nav>{''.join(menu(name, ''.join(entries)) for name, entries in menus.items())}</nav>"


def _boxes(what: str, names: Iterable[str]) -> list[str]:
    box = '<label><input type=checkbox checked name={} value="{}"> {}</label>'
    return [box.format(what, *pair) for pair in (("*", "all"), *((for_html(name),) * 2 for name in names))]


def _charts(section: ChartSection, drawn: list[Chart]) -> str:
    """The places of the charts, which join `drawn`, under their legend."""
    places = "".join(_place(chart, drawn) for chart in section.charts)
    chance = " Dotted: chance." if section.legend else ""
    return f"<p>{HOW}{chance}</p>{_legend(section.legend)}<div class=charts>{places}</div>"


def _place(chart: Chart, drawn: list[Chart]) -> str:
    drawn.append(chart)
    style = f"grid-column: span {min(chart.wide, 4)}; height: {chart.height}px"
    return f'<div class=chart id="chart{len(drawn) - 1}" style="{style}"></div>'


def _legend(looks: dict[str, Look]) -> str:
    entry = '<span><i style="border-top-style: {}; border-top-color: {}"></i>{}</span>'.format
    entries = (entry(BORDERS[DASHES[style]], for_html(c), for_html(name)) for name, (c, style) in looks.items())
    return f"<div class=legend>{''.join(entries)}</div>" if looks else ""


def _findings(findings: Sequence[Finding], drawn: list[Chart]) -> str:
    """The chart of the claims with scores; their verdicts in a table, where a click shows every comparison."""
    rows, silent = [], [f"<li>{for_html(f.claim)}</li>" for f in findings if not f.comparisons]
    for f in (f for f in findings if f.comparisons):
        numbers = "".join(
            f"<li>{for_html(c.about)}: {c.difference:+.1f} ± {c.half:.1f}, {MEANINGS[c.sign]}</li>"
            for c in sorted(f.comparisons, key=lambda c: -c.sign)
        )
        unfolds = f"<details><summary>{for_html(f.numbers)}</summary><ul>{numbers}</ul></details>"
        about = f"{for_html(f.claim)}<small>{for_html(f.rule)}</small>"
        look, corrected = f.verdict.replace(" ", "-"), f"<small>corrected: {f.corrected.verdict}</small>"
        rows.append(f'<tr><td class="{look}">{f.verdict}{corrected}</td><td>{about}</td><td>{unfolds}</td></tr>')
    heads = "<th>verdict</th><th>claim and rule</th><th>comparisons</th>"
    table = f"<table class=findings><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    without = f"No scores for {len(silent)} of {len(findings)} claims"
    folded = f"<details><summary>{without}</summary><ul>{''.join(silent)}</ul></details>" if silent else ""
    rule = f"<p>{for_html(' '.join([*RULE.split(), how_many_paired(findings)]))}</p>"
    return (_place(chart_of_findings(findings), drawn) + table + rule if rows else "") + folded
