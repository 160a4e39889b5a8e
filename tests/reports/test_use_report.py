"""Known against used: one property of two seeds, in the table, the picture and the page."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from encoder_lab.reports.figure import draw_section
from encoder_lab.reports.interactive import plotly_figure
from encoder_lab.reports.models import models_of
from encoder_lab.reports.runs import Run
from encoder_lab.reports.use import as_text, charts_of_use, use_of
from report import main
from tests.reports.small_runs import run_of, score_row, with_rows

KNOWN = {"Tense": 90.0, "SubjNum": 95.0, "BShift": 51.0}
RISES = {1: {"Tense": 28.0, "SubjNum": 2.0, "BShift": 1.0}, 2: {"Tense": 32.0, "SubjNum": 5.0, "BShift": 0.0}}


def run(seed: int) -> Run:
    """A run of this seed; the seed of its rows may be that of an evaluation, equal for all runs."""
    rows = [score_row(task, score, half=1) for task, score in KNOWN.items()]
    for task, rise in RISES[seed].items():
        numbers = {"rank": 1, "random": 1.5, "control": 2.5, "used": int(rise > 4), "bleu": -0.5}
        rows.append(score_row(task, rise, "use", "loss", half=1, hyperparameters=numbers))
    return Run(Path(f"runs/{seed}"), "bilstm_max", "nmt_enfr", {"seed": seed}, rows, [])


def test_seeds_are_their_mean_and_the_table_says_in_how_many_a_property_is_used() -> None:
    (model,) = use_of(models_of([run(1), run(2)]), "last", "mlp")
    assert [(use.name, use.verdict) for use in model.properties] == [
        *(("Tense", "2 of 2"), ("SubjNum", "1 of 2"), ("BShift", "0 of 2"))
    ]
    assert model.properties[0].rise[0] == 30
    assert model.seeds == 1  # both have the same order
    text = as_text([model._replace(title="a|b", properties=[use._replace(name="x|y") for use in model.properties[:1]])])
    assert "**a\\|b**" in text
    assert "| x\\|y |" in text
    text = as_text([model])
    assert "| SubjNum | 95.0 | 3.5 [" in text
    assert "| 1 of 2 | 1 | 1.5 | 2.5 | -0.5 |" in text
    assert "Kendall's tau of the order of rises between its seeds: 1.00" in text
    (use, *_) = model.properties
    mean = use._replace(numbers={"rank": 176 / 3, "random": 1.5})
    assert "| 58.7 | 1.5 |" in as_text([model._replace(properties=[mean])])
    lost = [replace(row, test_accuracy=math.nan) if row.task == "BShift" else row for row in run(2).rows]
    (model,) = use_of(models_of([run(1), replace(run(2), rows=lost)]), "last", "mlp")
    assert [use.name for use in model.properties] == ["Tense", "SubjNum", "BShift"]
    unknown = replace(run(2), rows=[row for row in run(2).rows if (row.suite, row.task) != ("probing", "SubjNum")])
    assert "| SubjNum | 95.0 (1 of 2 seeds) | 3.5 [" in as_text(use_of(models_of([run(1), unknown]), "last", "mlp"))


def test_the_picture_and_the_page_have_a_point_for_each_property_and_one_not_used_is_open() -> None:
    section = charts_of_use(use_of(models_of([run(1)]), "last", "mlp"))
    (chart,) = section.charts
    points = {series.name: (series.x, series.y, series.hollow) for series in chart.series}
    assert points["Tense"] == ([(90.0, 89.0, 91.0)], [(28.0, 27.0, 29.0)], False)
    assert points["SubjNum"] == ([(95.0, 94.0, 96.0)], [(2.0, 1.0, 3.0)], True)
    names = ["Tense", "SubjNum", "BShift"]
    assert [text.get_text() for text in draw_section(section).axes[0].texts if text.get_text()] == names
    assert [trace["text"][0] for trace in plotly_figure(chart)["data"] if trace["text"][0]] == names


@pytest.mark.parametrize(("task", "name"), [("Noun in title", f"Noun in title{end}") for end in ("", " in nli")])
def test_a_property_of_any_name_is_known_in_all_parts_of_an_objective(task, name) -> None:
    of = {"probing": task, "use": name}
    rows = [replace(row, task=of[row.suite]) for row in run(1).rows if row.task == "Tense"]
    (model,) = use_of(models_of([replace(run(1), rows=rows)]), "last", "mlp")
    assert [(use.name, use.known) for use in model.properties] == [(name, (90.0, 89.0, 91.0))]


def test_the_axis_of_rises_says_of_what_they_are() -> None:
    errors = [replace(row, classifier="error") if row.suite == "use" else row for row in run(1).rows]
    charts = charts_of_use(use_of(models_of([run(1), replace(run(2), rows=errors, objective="nli")]), "last", "mlp"))
    assert [chart.y.label for chart in charts.charts] == [
        *("used: rise of the loss (thousandths)", "used: rise of the error (points)")
    ]


def test_axes_of_scores_near_each_other_have_several_numbers() -> None:
    rows = [replace(row, test_accuracy=2.0, test_low=-1.0, test_high=3.0) for row in run(1).rows if row.suite == "use"]
    known = [row for row in run(1).rows if row.suite != "use" and row.task != "BShift"]  # 90 and 95
    axes = draw_section(charts_of_use(use_of(models_of([replace(run(1), rows=known + rows)]), "last", "mlp"))).axes[0]
    for (low, high), ticks in ((axes.get_xlim(), axes.get_xticks()), (axes.get_ylim(), axes.get_yticks())):
        assert sum(low <= tick <= high for tick in ticks) > 3


def test_an_epoch_that_is_not_the_last_is_told(tmp_path, capsys) -> None:
    later = score_row("Tense", 99, epoch=3)
    folder = with_rows(run_of(tmp_path / "run"), *run(1).rows, later)
    assert main(["use", str(folder), "epoch=last", f"out={tmp_path / 'use.png'}"]) == 0
    printed = capsys.readouterr().out
    assert "At epoch 2, as the requested one has no scores: BiLSTM-max, NMT En-Fr." in printed
    assert "| Tense | 90.0 | 28.0 [" in printed  # both are of that epoch
