"""Accuracy against complexity: the front of a grid's cells, its area, and the fronts of small runs."""

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder_lab.errors import InputError
from encoder_lab.reports.commands import chart_sections
from encoder_lab.reports.figure import draw_section
from encoder_lab.reports.models import models_of
from encoder_lab.reports.pareto import area_under_front, as_text, charts_of_fronts, fronts_of
from encoder_lab.reports.runs import Run
from probes.classifiers.classifier import MANY_CLASSES, Grid, probe
from probes.classifiers.grid import pareto_front
from probes.results import ProbeRow
from tests.labelled_vectors import Labelled, random_labels, separable, three


@given(st.lists(st.tuples(st.floats(1, 1e6), st.floats(0, 100)), min_size=1))
def test_no_cell_is_simpler_and_as_good_as_a_point_of_the_front_and_the_best_cell_is_in_it(cells) -> None:
    points = pareto_front(cells)
    assert points[-1][1] == round(max(accuracy for _, accuracy in cells), 2)
    assert all(before[0] < after[0] and before[1] < after[1] for before, after in pairwise(points))
    assert not [p for p in points for c in cells if c[0] < p[0] - 0.01 and c[1] > p[1] - 0.005]


def test_the_area_of_two_points_and_of_a_task_that_was_read_by_nothing() -> None:
    assert area_under_front([(0, 50), (10, 60), (40, 80)], 100) == pytest.approx((10 * 50 + 30 * 60 + 60 * 80) / 100)
    assert area_under_front([(0, 60)], limit=0) == 60


@pytest.mark.parametrize("classes", [3, MANY_CLASSES])
@pytest.mark.parametrize("protocol", ["modern", "senteval"])
def test_the_complexity_of_logistic_regression_is_the_nuclear_norm_of_its_weights(protocol, classes) -> None:
    """It falls as the penalty grows; the number of weights does not."""
    vectors, labels = random_labels(900, 1, classes)
    data = Labelled(vectors + 3 * np.eye(6, dtype=np.float32)[labels % 6], labels)  # learnable
    grids = [Grid(protocol=protocol, widths=(0,), dropouts=(0.0,), l2=(l2,)) for l2 in (1e-5, 1e-2)]
    fronts = [probe(data, data, data, classes, grid, seed=1).hyperparameters["front"] for grid in grids]
    free, tight = (front[-1][0] for front in fronts)
    assert 0 < tight < free


@pytest.mark.parametrize(("protocol", "widths"), [("modern", (4, 8)), ("senteval", (4, 8)), ("modern", (0,))])
def test_a_score_has_the_front_of_the_cells_that_were_trained(protocol, widths) -> None:
    grid = Grid(protocol=protocol, widths=widths, dropouts=(0.0,), l2=(1e-5, 1e-1))
    score = probe(*three(separable, 200, 80, 80, classes=3), classes=3, grid=grid, seed=1)
    points = score.hyperparameters["front"]
    assert points[-1][1] == pytest.approx(score.dev_accuracy, abs=5)
    if widths != (0,):
        assert {complexity for complexity, _ in points} <= {0, *(width * (6 + 3) for width in widths)}


def test_a_front_begins_with_the_majority_class_of_training_on_dev_and_nothing_worse_is_on_it() -> None:
    """Test has another share of it, which says nothing about accuracies on dev."""
    train, dev, test = (np.repeat([0, 1], sizes) for sizes in ((30, 10), (6, 14), (19, 1)))
    data = [Labelled(np.zeros((len(labels), 3), np.float32), labels) for labels in (train, dev, test)]
    assert probe(*data, classes=2, grid=Grid(widths=(4,)), seed=1).hyperparameters["front"] == [[0, 30.0]]


def run(seed: int, points: object) -> Run:
    chosen = {"width": 50, "front": points}
    row = ProbeRow(1, 9, "probing", "Tense", "mlp", 0, 80, 75, 85, chosen, seed, 0, chance=99.0)
    return Run(Path(f"runs/{seed}"), "bilstm_max", "nmt_enfr", {"seed": seed}, [row], [])


def test_models_are_compared_up_to_the_largest_complexity_of_the_task() -> None:
    runs = [run(1, [[0, 50.0], [10, 60.0], [40, 80.0]]), run(2, [[0, 50.0], [100, 70.0]])]
    text = as_text(fronts_of(models_of(runs), "probing", "last", "mlp"))
    areas = 71, 50
    deviation = f"(standard deviation of 2 seeds {np.std(areas, ddof=1):.1f})"
    assert f"area {np.mean(areas):5.1f} {deviation}; 50.0 at 0.0, 60.0 at 10.0, 80.0 at 40.0" in text
    (chart,) = charts_of_fronts(fronts_of(models_of(runs), "probing", "last", "mlp"), "probing").charts
    assert (chart.series[0].x, chart.series[0].y) == ([0, 10, 40, 100], [50, 60, 80, 80])


def test_a_single_classifier_has_no_area_as_it_would_be_that_of_the_majority_class() -> None:
    runs = [run(1, [[0, 50.0], [40, 80.0]]), run(2, [[0, 50.0], [40, 90.0]])]
    assert "area     -; 50.0 at 0.0, 80.0 at 40.0" in as_text(fronts_of(models_of(runs), "probing", "last", "mlp"))


def test_a_task_that_no_classifier_reads_has_the_majority_class_alone() -> None:
    fronts = fronts_of(models_of([run(1, [[0, 50.0], [40, 80.0]]), run(2, [[0, 50.0]])]), "probing", "last", "mlp")
    (chart,) = (section := charts_of_fronts(fronts, "probing")).charts
    assert (chart.series[2].x, chart.series[2].y) == ([0, 40], [50, 50])
    assert draw_section(section)


@pytest.mark.parametrize("points", [None, "60", [], [[1]], [["a", "b"]], [[1, -5]], [[9, 60.0]], 7])
def test_a_front_without_the_majority_class_is_refused(points) -> None:
    with pytest.raises(InputError, match="train or evaluate it again"):
        fronts_of(models_of([run(1, points), run(2, [[0, 50.0]])]), "probing", "last", "mlp")


def test_the_page_says_why_it_has_no_fronts(capsys) -> None:
    models, settings = models_of([run(1, [[9, 60.0]])]), SimpleNamespace(epoch="last", classifier="mlp")
    assert not any("complexity" in section.heading for section in chart_sections(models, settings))
    assert "no accuracy against complexity: BiLSTM-max, NMT En-Fr, Tense: its front" in capsys.readouterr().err
