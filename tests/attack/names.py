"""Names and settings in run folders: in every format of a report they are text, and nothing is computed from them."""

import csv
import io
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from encoder_lab.reports.curves import charts_by_model, charts_by_task, panel_of
from encoder_lab.reports.figure import draw_section, render_figure
from encoder_lab.reports.interactive import plotly_figure
from encoder_lab.reports.models import models_of
from encoder_lab.reports.page import TABLE_FORMATS, html_page
from encoder_lab.reports.runs import Run, read_run
from encoder_lab.reports.table import Table, probing_table
from encoder_lab.reports.terminal import table_text
from encoder_lab.reports.text import for_latex, for_markdown, for_terminal
from probes.results import ProbeRow, write_rows
from tests.attack.attack import Attack, refused

SECRET, VALUE = "SECRET_OF_THIS_MACHINE", "a4ad5e8f"
HOSTILE = [
    *(r"\input{/etc/passwd}", r"\write18{id}", "^^M", "$x^$", "$", r"\$", "%", "&", "{", "}", "~", "#", "_", "\\"),
    *('=HYPERLINK("http://a.example")', "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "'", '"', ","),
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "![a](http://a.example)", "[a](javascript:b)"),
    *("|", "`", "*", "~~", "</td>", '" onclick="a', "&lt;", "-->", "\n", "\r", "\u2028", "\x00", "\x85"),
    *("\x1b[31m", "\x1b]0;title\x07", "\x9b2J", "\b", "\u202e", "\ufffe", "é", "句", "😀", "x" * 1500),
    *(f"${{oc.env:{SECRET}}}", f"$ {{oc.env:{SECRET}}}", "${seed}", "${", "${hydra:runtime.cwd}", r"\${seed}"),
]
SPECIAL = re.compile(r"\\(?:text(?:backslash|asciicircum|asciitilde)\{\}|[&%$#_{}])")
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?")
TAGS = re.compile("html|head|meta|title|style|body|h[12]|div|section|table|thead|tbody|t[rhd]|b|small|p|script")
ATTRIBUTES = {"lang", "charset", "class", "data-value", "data-task", "data-model", "id", "title"}


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names += [(tag, ""), *((tag, name) for name, _ in attrs)]


def reported(case: Any, folder: Path) -> None:
    """Each format of a table of a run with hostile names, and now and then its figures."""
    encoder, objective, setting, task, drawn = case
    os.environ[SECRET] = VALUE
    runs = [_run(folder / str(i), encoder, objective, f"{setting}{i}", task) for i in range(2)]
    if any(run is None for run in runs):
        return
    models = models_of([run for run in runs if run])
    table = probing_table(models, "probing", published_names=[])
    made = {name: write(table) for name, write in TABLE_FORMATS.items()}
    made["terminal"], made["html"] = for_terminal(table_text(table)), html_page(encoder, [table])
    for name, text in made.items():
        assert VALUE not in text, name
        assert all(line.isprintable() for line in text.split("\n") if name != "html" or "<style>" not in line), name
    _check_markdown(made["markdown"], table)
    _check_latex([encoder, objective, setting])
    _check_csv(made["csv"])
    _check_html(made["html"])
    if drawn:
        panel = panel_of(models[0].title, [run.rows for run in models[0].runs], "", [()])
        for section in (charts_by_model([panel]), charts_by_task([panel])):
            assert b"<svg" in render_figure(draw_section(section), "svg")
            assert json.dumps(list(map(plotly_figure, section.charts)))


def _run(run: Path, encoder: str, objective: str, setting: str, task: str) -> Run | None:
    """A run with these names; None where they are refused in one line."""
    run.mkdir()
    names = {"encoder_name": encoder, "objective_name": objective, "seed": 1, "corpus": {"root": setting}}
    settings = {**names, "encoder": {"dim": 3}, "embeddings": {}}
    (run / "config.yaml").write_bytes(yaml.safe_dump(settings, allow_unicode=True).encode())
    rows = [ProbeRow(e, e, "probing", task, "mlp", 1.0, 50.0 + e, 48.0, 52.0, {"w": task}, 1, 0.1) for e in range(2)]
    if refused(lambda: write_rows(run / "probes.csv", rows)):
        return None
    runs: list[Run] = []
    return None if refused(lambda: runs.append(read_run(run))) else runs[0]


def _check_markdown(text: str, table: Table) -> None:
    bare = re.sub(r"<br><sub>[^<]*</sub>|\\[\\`*\[\]|~]|\*\*\d+\.\d\*\*", "", text)
    assert not re.search(r"[<`\[]|~~", bare), text
    for line in bare.split("\n")[: 2 + len(table.rows)]:
        assert line.count("|") == len(table.columns) + 2, line
    assert for_markdown("BiLSTM-max (encoder.dim=3)") == "BiLSTM-max (encoder.dim=3)"


def _check_latex(names: list[str]) -> None:
    for name in names:
        assert not re.search(r"[\\&%$#_{}^~]", SPECIAL.sub("", for_latex(name))), name


def _check_csv(text: str) -> None:
    for row in csv.reader(io.StringIO(text)):
        for cell in row:
            assert NUMBER.fullmatch(cell) or not cell.lstrip().startswith(("=", "+", "-", "@")), cell


def _check_html(text: str) -> None:
    tags = _Tags()
    tags.feed(text)
    assert all(TAGS.fullmatch(tag) for tag, _ in tags.names), tags.names
    assert {name for _, name in tags.names if name} <= ATTRIBUTES, tags.names
    assert sum(tag == "script" for tag, name in tags.names if not name) == 2  # the data of charts, and the menus


_part = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
_name = st.lists(_part, min_size=1, max_size=4).map("".join)
ATTACKS = [Attack("name", st.tuples(*[_name] * 4, st.integers(0, 39).map(lambda n: n in (7, 23))), reported)]
