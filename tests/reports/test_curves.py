"""The picture of a run, and its TensorBoard page, read back."""

from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from PIL import Image

from encoder_lab.reports.chart import OBJECTIVE_COLOUR, TASKS, Axis, Chart, ChartSection, DataSeries, task_looks
from encoder_lab.reports.curves import (
    charts_by_model,
    charts_by_task,
    draw_curves,
    mean_series,
    panel_of,
    rows_by_chart,
)
from encoder_lab.reports.figure import draw_section, render_figure, spread_apart
from encoder_lab.storage.csv_files import read_csv, upsert_csv
from probes.results import read_rows, write_rows
from probes.statistics import mean_of_runs
from tests.reports.small_runs import score_row


def run_of(folder: Path, epochs: int, tasks: tuple[str, ...] = TASKS) -> Path:
    scores = [(task, 40 + 5 * place, epoch) for epoch in range(epochs) for place, task in enumerate(tasks)]
    write_rows(folder / "probes.csv", [score_row(task, score, epoch=epoch) for task, score, epoch in scores])
    if epochs > 1:
        upsert_csv(folder / "metrics.csv", [{"epoch": e, "val/bleu": 3.0 * e} for e in range(1, epochs)], ("epoch",))
    return folder


def panel_of_runs(*runs: Path):
    metrics = [read_csv(run / "metrics.csv") for run in runs if (run / "metrics.csv").exists()]
    return panel_of("a run", [read_rows(run / "probes.csv") for run in runs], "val/bleu", metrics)


def figure_of(*runs: Path):
    return draw_section(charts_by_model([panel_of_runs(*runs)]))


def legend_of(figure) -> list[str]:
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize("epochs", [1, 9])
def test_a_picture_is_wide_enough_for_any_number_of_epochs(tmp_path, epochs) -> None:
    assert Image.open(draw_curves(run_of(tmp_path, epochs), "val/bleu")).size == (1800, 1040)


@pytest.mark.parametrize("tasks", [TASKS, ("WC", "BShift"), ("SentLen", "MyOwnTask")])
def test_every_task_has_a_line_of_its_scores_and_a_name_at_its_end(tmp_path, tasks) -> None:
    probes, dev = figure_of(run_of(tmp_path, 3, tasks)).axes
    assert [label for line in probes.lines if (label := str(line.get_label()))[0] not in "_c"] == list(tasks)
    assert [text.get_text() for text in probes.texts] == [*tasks, "BLEU"]
    assert "BLEU" in dev.get_ylabel()
    points = {line.get_label(): line.get_xydata().tolist() for line in [*probes.lines, *dev.lines]}
    assert (points[tasks[1]], points["BLEU"]) == ([[0, 45], [1, 45], [2, 45]], [[1, 3], [2, 6]])


@pytest.mark.parametrize("scores", [[3.0, 6.0], [21.0, 61.0], [0.2, 0.01], [99.0, 100.0]])
def test_the_score_is_named_where_its_line_ends(tmp_path, scores) -> None:
    run = run_of(tmp_path, 3, ("WC",))
    upsert_csv(run / "metrics.csv", [{"epoch": e + 1, "val/bleu": s} for e, s in enumerate(scores)], ("epoch",))
    probes, dev = figure_of(run).axes
    render_figure(probes.get_figure(), "svg")
    (line,) = [line for line in dev.lines if line.get_label() == "BLEU"]
    end = dev.transData.transform(line.get_xydata()[-1])
    (join,) = [line for line in probes.lines if line.get_color() == OBJECTIVE_COLOUR]
    assert probes.transData.transform(join.get_xydata()[0])[1] == pytest.approx(end[1], abs=0.5)


def test_a_bleu_of_0_at_every_epoch_is_replaced_by_perplexity() -> None:
    flat = [{"epoch": str(e), "val/bleu": "0", "val/perplexity": str(90 - e)} for e in (1, 2)]
    series = DataSeries("perplexity", [1, 2], [(89.0,) * 3, (88.0,) * 3])
    assert panel_of("a", [], "val/bleu", [flat]).objective == series
    assert panel_of("a", [], "val/bleu", [[*flat, {"epoch": "3", "val/bleu": "1"}]]).score == "BLEU"
    assert panel_of("a", [], "val/bleu", [[{"epoch": "1", "val/bleu": "0"}]]).score == "BLEU"


def in_lab(colour: str) -> np.ndarray:
    """CIELAB of a colour in sRGB (IEC 61966-2-1, CIE 15)."""
    parts = np.array(to_rgb(colour))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    x, y, z = np.cbrt(xyz / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("names", [TASKS, ("TopDeps", "WC", "Mood", "SentLen", "SubjPerson"), tuple("abcdefghij")])
def test_ten_tasks_and_the_score_have_colours_that_differ(names) -> None:
    colours = [OBJECTIVE_COLOUR, *(colour for colour, _ in task_looks(names).values())]
    assert min(np.linalg.norm(in_lab(a) - in_lab(b)) for a, b in combinations(colours, 2)) > 35
    # more differ in their style
    assert len(set(task_looks([*names, *map(str, range(20))]).values())) == len(names) + 20


@pytest.mark.parametrize("charts", [charts_by_model, charts_by_task])
@pytest.mark.parametrize("epochs", [1, 3])
def test_every_panel_has_the_levels_of_chance_that_are_known(tmp_path, charts, epochs) -> None:
    chances = {"SentLen": 16.7, "BShift": 50.0, "WC": None}
    panel = panel_of_runs(run_of(tmp_path, epochs, tuple(chances)))
    lines = [replace(line, chance=chances[line.name]) for line in panel.lines]
    figure = draw_section(charts([panel._replace(lines=lines)] * 2))
    drawn = [str(line.get_label()) for axes in figure.axes for line in axes.lines]
    assert [drawn.count(f"chance {level}") for level in (17, 50)] == [1 + (charts is charts_by_model)] * 2
    assert "chance" in legend_of(figure)


def test_an_untrained_run_shows_one_point_for_each_task(tmp_path) -> None:
    (axes,) = figure_of(run_of(tmp_path, 1)).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == list(TASKS)
    assert [text.get_text() for text in axes.texts] == [f"{score:.1f}" for score in range(40, 90, 5)]


def test_a_run_without_probes_shows_its_own_score_and_one_without_metrics_has_no_second_axis(tmp_path) -> None:
    run, other = run_of(tmp_path / "a", 3), run_of(tmp_path / "b", 3)
    (run / "probes.csv").unlink()
    assert draw_curves(run, "val/bleu").exists()
    (other / "metrics.csv").unlink()
    assert len(figure_of(other).axes) == 1


def test_a_figure_says_what_its_bands_are(tmp_path) -> None:
    first, longer, untrained = (run_of(tmp_path / f"{n} epochs", n) for n in (3, 4, 1))
    assert legend_of(figure_of(untrained)) == ["bars: 95% interval"]
    assert legend_of(figure_of(first))[-1] == "bands: 95% interval"
    assert legend_of(figure_of(first, first))[-1] == "bands: 95% interval of the mean over seeds"
    panels = [panel_of_runs(first, longer), panel_of_runs(first)]
    assert legend_of(draw_section(charts_by_model(panels)))[-1] == "bands: 95% interval; seeds: of their mean"
    assert legend_of(figure_of(run_of(tmp_path / "other tasks", 3, ("MR", "CR")))) == ["bands: 95% interval"]


def test_a_seed_that_ends_early_or_has_other_steps_puts_no_step_into_the_mean() -> None:
    """Two seeds that rise by 10 points from 50 and from 20; 4 steps are 0.2 of an epoch of one, 0.4 of the other."""

    seeds = [
        [score_row("WC", first + 10 * at, epoch=e, step=4 + 10 * (e >= 1)) for at, e in enumerate(epochs)]
        for epochs, first in (((0, 0.2, 1), 50), ((0, 0.4, 1, 2), 20))
    ]
    panel = panel_of("m", seeds, "val/bleu", [[], []])
    (line,) = panel.lines
    assert (line.x, [score for score, *_ in line.y]) == (pytest.approx([0, 0.3, 1]), [35, 45, 55])
    assert panel.runs == {2}
    losses = dict.fromkeys((1, 2, 3), (4.0,) * 3)
    assert mean_series("loss", [losses, {1: (6.0,) * 3, 2: (5.0,) * 3}]).x == [1, 2]
    begun = mean_series("loss", [losses, {1: (6.0,) * 3}])
    assert (begun.x, [loss for loss, *_ in begun.y]) == ([1, 2, 3], [4, 4, 4])
    assert panel_of("m", [seeds[0], seeds[1][:1]], "val/bleu", [[], []]).runs == {1}


def test_other_suites_in_a_figure_of_probing_have_no_groups_of_tasks_and_solid_lines(tmp_path) -> None:
    probing, other = (panel_of_runs(run_of(tmp_path / name, 3, (name, "story_cloze"))) for name in ("WC", "order"))
    figure = draw_section(charts_by_model([probing, other]))
    groups = ["probing: surface", "probing: syntax", "probing: semantics"]
    assert legend_of(figure) == [*groups, "bands: 95% interval"]
    _, second = (axes for axes in figure.axes if axes.get_title(loc="left"))
    drawn = [line for line in second.lines if line.get_marker() == "None" and len(line.get_xdata()) > 2]
    assert [line.get_linestyle() for line in drawn] == ["-", "-"]
    assert len({line.get_color() for line in drawn}) == 2


@pytest.mark.parametrize(("suite", "label", "unit"), [
    ("downstream", "downstream score on test (%, r × 100)", "%"), ("selectivity", "selectivity: points", "points"),
])  # fmt: skip
def test_an_axis_names_the_suite_and_the_chart_of_a_task_the_unit(suite, label, unit) -> None:
    panel = panel_of("a run", [[score_row("MR", 60, suite, "logreg", epoch) for epoch in range(2)]], "", [])
    assert draw_section(charts_by_model([panel])).axes[0].get_ylabel() == label
    assert charts_by_task([panel]).charts[0].title == f"MR ({unit})"


@pytest.mark.parametrize(("models", "banded"), [(6, True), (7, False)])
def test_many_models_over_each_other_have_no_bands(tmp_path, models, banded) -> None:
    panel = panel_of_runs(run_of(tmp_path, 3, ("WC",)))
    figure = draw_section(charts_by_task([panel._replace(title=f"model {place}") for place in range(models)]))
    assert bool(figure.axes[0].collections) == banded
    assert ("bands: 95% interval" in legend_of(figure)) == banded


def test_a_model_with_scores_in_two_units_is_one_model_over_others_and_each_unit_has_its_own_axis() -> None:
    scores = {"EffRank": ("dimensions", 300), "MeanCos": ("percent", -5), "Both": ("dimensions", 1)}
    units = [(task, *unit, epoch) for epoch in (0, 1) for task, unit in [*scores.items(), ("Both", ("percent", 2))]]
    rows = [score_row(task, score, "geometry", unit, epoch, half=1) for task, unit, score, epoch in units]
    panels = [panel_of("one", [some], "", []) for some in rows_by_chart(rows).values()]
    assert legend_of(draw_section(charts_by_task(panels))) == ["one", "bands: 95% interval"]
    titles = {chart.title for chart in charts_by_task(panels).charts}
    assert titles == {"EffRank (dimensions)", "MeanCos (%)", "Both (dimensions)", "Both (%)"}
    limits = [axes.get_ylim() for axes in draw_section(charts_by_model(panels)).axes]
    assert [low <= -6 for low, _ in limits] == [False, True]
    assert limits[0][1] > 301


@pytest.mark.parametrize("letters", [70, 300])
def test_the_legend_of_many_models_ends_inside_the_figure(tmp_path, letters) -> None:
    panel = panel_of_runs(run_of(tmp_path, 3, ("WC", "BShift", "Tense")))
    panels = [panel._replace(title=f"{place:02} {'name ' * letters}"[:letters]) for place in range(21)]
    figure = draw_section(charts_by_task(panels))
    render_figure(figure, "svg")
    legend, whole = figure.legends[0].get_window_extent(), figure.bbox
    assert 0 <= legend.x0 < legend.x1 <= whole.x1
    assert 0 <= legend.y0 < legend.y1 <= whole.y1


def test_a_long_title_ends_where_its_panel_ends(tmp_path) -> None:
    panel = panel_of_runs(run_of(tmp_path, 3))._replace(title="BiLSTM-max, NMT En-Fr (" + "encoder.dim=1024, " * 9)
    figure = draw_section(charts_by_model([panel, panel]))
    render_figure(figure, "svg")
    for axes in figure.axes[::2]:
        title = axes.title.get_window_extent() if axes.get_title() else axes._left_title.get_window_extent()
        assert title.x1 - title.x0 < figure.bbox.width / 2


def test_names_stand_at_the_ends_of_lines_also_on_a_logarithmic_axis() -> None:
    x, line = Axis(ticks={512: "512"}, linear=0), DataSeries("WC", [512, 4096], [40, 50])
    axes = draw_section(ChartSection("", [Chart("", x, Axis(ends=(0, 100)), [line], (9, 4), named=True)])).axes[0]
    assert 4096 < axes.texts[-1].get_position()[0] < axes.get_xlim()[1] < 2 * 4096


@given(st.lists(st.floats(0, 100), min_size=1, max_size=11))
@example([10.0, 90.0, 50.0])
def test_names_never_overlap_leave_the_axis_or_change_their_order_and_stay_at_their_lines_with_space(heights) -> None:
    placed = spread_apart(heights, 5.0, 2.0, 98.0)
    ordered = [place for _, place in sorted(zip(heights, placed, strict=True))]
    assert all(b - a > 5.0 - 1e-6 for a, b in pairwise(ordered))
    assert min(placed) >= 2.0 - 1e-6
    assert max(placed) <= 98.0 + 1e-6
    if all(b - a >= 5 for a, b in pairwise([-3.0, *sorted(heights), 103.0])):
        assert placed == pytest.approx(heights)


def test_several_seeds_become_their_mean_with_its_interval_and_one_keeps_its_own() -> None:
    scores = [10.0, 12.0, 13.0, 15.0, 20.0]
    line = mean_series("WC", [*({0.0: (score, 8.0, 99.0)} for score in scores), {1.0: (20.0, 18.0, 22.0)}])
    _, low, high = mean_of_runs([(score, 8.0, 99.0) for score in scores])
    assert line == DataSeries("WC", [0.0, 1.0], [(14.0, low, high), (20.0, 18.0, 22.0)])


@pytest.mark.parametrize(("name", "expected"), [("accuracy", (97.5, 100.0)), ("perplexity", (97.5, 129.3))])
def test_the_interval_over_seeds_ends_at_0_and_of_a_share_at_100(name, expected) -> None:
    mean, _, high = np.array(mean_series(name, [{1.0: (score, score, score)} for score in (95.0, 100.0)]).y[0])
    assert (mean, high) == pytest.approx(expected, abs=0.1)
    assert mean_series(name, [{1.0: (score, score, score)} for score in (5.0, 40.0)]).y[0][1] == 0


def test_the_same_figure_gives_the_same_svg(tmp_path) -> None:
    run = run_of(tmp_path, 3)
    assert render_figure(figure_of(run), "svg") == render_figure(figure_of(run), "svg")
