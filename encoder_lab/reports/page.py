"""Tables and figures on one self-contained HTML page."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np
from matplotlib.figure import Figure

from encoder_lab.errors import printable
from encoder_lab.reports.drawing import as_svg
from encoder_lab.reports.escape import for_html
from encoder_lab.reports.findings import RULE, Finding, how_many_paired
from encoder_lab.reports.findings_picture import draw_findings
from encoder_lab.reports.formats import as_html
from encoder_lab.reports.strips import STYLE as STRIPS
from encoder_lab.reports.strips import ShownItem, strips
from encoder_lab.reports.table import Table

SVG = "http://www.w3.org/2000/svg"
XLINK = "{http://www.w3.org/1999/xlink}href"
SAYS = {1: "for it", -1: "against it", 0: "within the interval"}
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #1c1c1c; margin: 2rem auto; max-width: 1500px; padding: 0 1rem; }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2.5rem } p { color: #555; max-width: 60rem }
.scroll { overflow-x: auto } figure { margin: 1rem 0 } svg { max-width: 100%; height: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th { cursor: pointer; text-align: right; border-bottom: 2px solid #333; padding: .3rem .6rem; user-select: none }
th[aria-sort=ascending]::after { content: " ▲"; font-size: .7em }
th[aria-sort=descending]::after { content: " ▼"; font-size: .7em }
td { text-align: right; padding: .25rem .6rem; border-bottom: 1px solid #e4e4e4; white-space: nowrap }
th:nth-child(-n+3), td:nth-child(-n+3) { text-align: left }
td small { display: block; color: #777; font-size: .72em } tr.quoted { background: #f6f6f8; color: #444 }
.findings td { white-space: normal; text-align: left; vertical-align: top; max-width: 34rem }
.findings td:first-child { white-space: nowrap; font-weight: 600 } summary { cursor: pointer }
.holds { color: #00695c } .fails { color: #b3261e } .cannot-tell { color: #666 }
tbody tr:hover { background: #fff6d9 }
@media print { body { margin: 0; max-width: none } table { font-size: 9px } }
"""
SCRIPT = """
document.querySelectorAll("th").forEach(head => head.onclick = () => {
  const body = head.closest("table").tBodies[0], place = head.cellIndex, down = head.ariaSort === "descending";
  const key = row => { const cell = row.cells[place]; return cell.dataset.value ?? cell.textContent; };
  const number = [...body.rows].some(row => "value" in row.cells[place].dataset);
  const order = (a, b) => number ? (key(b) || -1e9) - (key(a) || -1e9) : key(a).localeCompare(key(b));
  const rows = [...body.rows].sort(order);
  head.closest("tr").querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
  head.ariaSort = down ? "ascending" : "descending";
  (down ? rows.reverse() : rows).forEach(row => body.append(row));
});
"""


def page(
    title: str,
    tables: Sequence[Table],
    figures: Sequence[tuple[str, Figure]],
    findings: Sequence[Finding] = (),
    items: Sequence[ShownItem] = (),
) -> str:
    """An HTML page: a click on a column's head sorts by it, tooltips show values."""
    parts = [f"<h2>{for_html(table.title)}</h2><div class=scroll>{as_html(table)}</div>" for table in tables]
    parts += [
        f"<h2>{for_html(heading)}</h2><figure>{svg_with_values(figure, f'f{place}-')}</figure>"
        for place, (heading, figure) in enumerate(figures)
    ]
    parts += [f"<h2>Surprisal of each token</h2>{strips(items)}"] if items else []
    parts += [f"<h2>Which published findings hold</h2>{findings_part(findings)}"] if findings else []
    name = for_html(title)
    head = f'<meta charset="utf-8"><title>{name}</title><style>{STYLE}{STRIPS if items else ""}</style>'
    return (
        f'<!doctype html><html lang="en"><head>{head}</head><body><h1>{name}</h1>'
        f"{''.join(parts)}<script>{SCRIPT}</script></body></html>\n"
    )


def findings_part(found: Sequence[Finding]) -> str:
    """The picture of the findings, where there is something to compare, and their table."""
    compared = any(finding.comparisons for finding in found)
    picture = f"<figure>{svg_with_values(draw_findings(found), 'findings-')}</figure>" if compared else ""
    return picture + findings_table(found)


def findings_table(found: Sequence[Finding]) -> str:
    """Verdicts; a click shows every comparison."""
    rows, silent = [], []
    for f in found:
        if not f.comparisons:
            silent.append(f"<li>{for_html(f.claim)}</li>")
            continue
        clear = sorted(f.comparisons, key=lambda c: -c.says)
        numbers = "".join(
            f"<li>{for_html(c.about)}: {c.difference:+.1f} ± {c.half:.1f}, {SAYS[c.says]}</li>" for c in clear
        )
        unfolds = f"<details><summary>{for_html(f.numbers)}</summary><ul>{numbers}</ul></details>"
        about = f"{for_html(f.claim)}<small>{for_html(f.rule)}</small>"
        kind = f.verdict.replace(" ", "-")
        rows.append(f'<tr><td class="{kind}">{f.verdict}</td><td>{about}</td><td>{unfolds}</td></tr>')
    heads = "<th>verdict</th><th>claim and rule</th><th>comparisons</th>"
    table = f"<table class=findings><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    without = f"No scores for {len(silent)} of {len(found)} claims"
    folded = f"<details><summary>{without}</summary><ul>{''.join(silent)}</ul></details>" if silent else ""
    rule = f"<p>{for_html(' '.join([*RULE.split(), how_many_paired(found)]))}</p>"
    return (f"<div class=scroll>{table}</div>{rule}" if rows else "") + folded


def svg_with_values(figure: Figure, prefix: str) -> str:
    """The figure as SVG with a tooltip for each point; `prefix` makes ids unique on a page.

    Points of gid `points NAME` say the name with their values, those of gid `said TEXT` the text.
    """
    texts: dict[str, list[str]] = {}
    for line in (line for axes in figure.axes for line in axes.lines):
        kind, _, said = (line.get_gid() or "").partition(" ")
        if kind in ("points", "said"):
            values = np.asarray(line.get_xydata())
            name = f"points {len(texts)}"  # the same task may be in several panels
            texts[name] = [printable(said if kind == "said" else f"{said}, {x:g}: {y:.2f}") for x, y in values]
            line.set_gid(name)
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK[1:].split("}")[0])
    tree = ElementTree.fromstring(as_svg(figure))
    for group in tree.iter(f"{{{SVG}}}g"):
        marks = list(group.iter(f"{{{SVG}}}use"))
        for mark, text in zip(marks, texts.get(group.get("id", ""), []), strict=False):
            ElementTree.SubElement(mark, f"{{{SVG}}}title").text = text
    drawn = ElementTree.tostring(tree, encoding="unicode")
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}", drawn)
