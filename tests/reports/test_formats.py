"""A small table in every format: scores, intervals, bold, signs."""

import csv
import io
import math
import re
from dataclasses import replace

import pytest

from encoder_lab.reports.formats import as_csv, latex, markdown
from encoder_lab.reports.page import TABLE_FORMATS
from encoder_lab.reports.table import Table, TableCell, TableRow


def small_table() -> Table:
    ours = [
        TableRow("", "A_b", "one", {"WC": TableCell(50.04, 48.0, 52.0, "epoch 2")}),
        TableRow("", "A_b", "two __2__", {"WC": TableCell(50.0)}),
    ]
    quoted = [TableRow("paper", "", "Hum. Eval.", {"WC": TableCell(100.0)}, competes=False)]
    return Table("a title", ["WC", "SOMO"], [*ours, *quoted], ["A note."])


def test_each_format_holds_scores_intervals_and_bold_which_equal_ones_share_and_people_do_not_get() -> None:
    table = small_table()
    assert [table.best(row, "WC") for row in table.rows] == [True, True, False]
    diverged = replace(table, rows=[TableRow("", "A_b", "diverged", {"WC": TableCell(math.nan)}), *table.rows])
    assert [diverged.best(row, "WC") for row in diverged.rows] == [False, True, True, False]
    assert markdown(table).splitlines()[2:6] == [
        "| *A_b* | | |",
        "| one | **50.0**<br><sub>48.0–52.0</sub> |  |",
        r"| two \_\_2\_\_ | **50.0** |  |",
        "| *paper* | | |",
    ]
    lines = latex(table).splitlines()
    assert r"\multicolumn{3}{l}{\textit{A\_b}} \\" in lines
    assert lines[lines.index(r"one & \textbf{50.0} &  \\") + 1] == r" & {\tiny 48.0--52.0} &  \\"
    row, *_ = csv.DictReader(io.StringIO(as_csv(table)))  # has more digits
    assert (row["source"], row["WC"], row["WC high"], row["SOMO"]) == ("ours", "50.04", "52", "")
    assert 'title="48.0–52.0; epoch 2"><b>50.0</b>' in TABLE_FORMATS["html"](table)


@pytest.mark.parametrize("form", TABLE_FORMATS)
@pytest.mark.parametrize(("intervals", "count"), [("below", 1), ("inline", 1), ("none", 0)])
def test_intervals_stand_where_they_are_asked_for(form, intervals, count) -> None:
    interval = r"48,52" if form == "csv" else r"48\.0(?:--|–)52\.0"
    for turned in (False, True):
        text = TABLE_FORMATS[form](replace(small_table(), intervals=intervals, transposed=turned))
        assert len(re.findall(interval, re.sub('title="[^"]*"', "", text))) == count


@pytest.mark.parametrize("form", TABLE_FORMATS)
def test_a_transposed_table_has_a_row_for_each_task_and_the_same_scores(form) -> None:
    straight, turned = (TABLE_FORMATS[form](replace(small_table(), transposed=turned)) for turned in (False, True))
    score = r"50\.04|50\.0|100" if form == "csv" else r"(?<=[{>|& *])(?:50\.0|100\.0)(?=[}*<& ])"
    assert sorted(re.findall(score, straight)) == sorted(re.findall(score, turned))
    assert turned.index("WC") < turned.index("SOMO")
    assert turned.index("Hum. Eval.") < turned.index("WC")


@pytest.mark.parametrize(
    ("form", "minus"), [("markdown", "\u22121.5"), ("html", "\u22121.5"), ("latex", "$-$1.5"), ("csv", "-1.5")]
)
def test_a_score_below_zero_has_a_true_minus_sign_where_people_read_it(form, minus) -> None:
    table = Table("", ["SICK-R"], [TableRow("", "", "one", {"SICK-R": TableCell(-1.5, -3.0, 0.0)})])
    assert minus in TABLE_FORMATS[form](table)
    assert ("-1.5" in TABLE_FORMATS[form](table).replace('"-1.5000"', "")) == (form == "csv")
    zero = replace(table, rows=[TableRow("", "", "one", {"SICK-R": TableCell(-0.0, -0.0, 0.0)})])
    assert not re.search(r"((?<!-)-|\$-\$|\u2212)0", TABLE_FORMATS[form](zero).replace('"-0.0000"', ""))
