"""Accuracy against complexity: the front of a grid's cells, its area, and the fronts of small runs."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder_lab.errors import InputError
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
    assert area_under_front([(10, 60), (40, 80)], chance=50, limit=100) == pytest.approx(
        (10 * 50 + 30 * 60 + 60 * 80) / 100
    )
    assert area_under_front([(0, 60)], chance=50, limit=0) == 50


@pytest.mark.parametrize("classes", [3, MANY_CLASSES])
@pytest.mark.parametrize("protocol", ["modern", "senteval"])
def test_the_complexity_of_logistic_regression_is_the_nuclear_norm_of_its_weights(protocol, classes) -> None:
    """It falls as the penalty grows; the number of weights does not."""
    data = [Labelled(*random_labels(size * classes, seed, classes)) for seed, size in enumerate((8, 2, 2))]
    grids = [Grid(protocol=protocol, widths=(0,), dropouts=(0.0,), l2=(l2,)) for l2 in (1e-5, 10.0)]
    free, tight = (probe(*data, classes=classes, grid=grid, seed=1).hyperparameters["front"][-1] for grid in grids)
    assert 0 < tight[0] < free[0]


@pytest.mark.parametrize(("protocol", "widths"), [("modern", (4, 8)), ("senteval", (4, 8)), ("modern", (0,))])
def test_a_score_has_the_front_of_the_cells_that_were_trained(protocol, widths) -> None:
    grid = Grid(protocol=protocol, widths=widths, dropouts=(0.0,), l2=(1e-5, 1e-1))
    score = probe(*three(separable, 200, 80, 80, classes=3), classes=3, grid=grid, seed=1)
    points = score.hyperparameters["front"]
    assert points[-1][1] == pytest.approx(score.dev_accuracy, abs=5)
    if widths != (0,):
        assert {complexity for complexity, _ in points} <= {width * (6 + 3) for width in widths}


def run(seed: int, points: object) -> Run:
    chosen = {"width": 50, "front": points}
    row = ProbeRow(1, 9, "probing", "Tense", "mlp", 0, 80, 75, 85, chosen, seed, 0, chance=50.0)
    return Run(Path(f"runs/{seed}"), "bilstm_max", "nmt_enfr", {"seed": seed}, [row], [])


def test_models_are_compared_up_to_the_largest_complexity_of_the_task() -> None:
    runs = [run(1, [[10, 60.0], [40, 80.0]]), run(2, [[100, 70.0]])]
    text = as_text(fronts_of(models_of(runs), "probing", "last", "mlp"))
    areas = 71, 50
    deviation = f"(standard deviation of 2 seeds {np.std(areas, ddof=1):.1f})"
    assert f"area {np.mean(areas):5.1f} {deviation}; 60.0 at 10.0, 80.0 at 40.0" in text
    (chart,) = charts_of_fronts(fronts_of(models_of(runs), "probing", "last", "mlp"), "probing").charts
    assert (chart.series[0].x, chart.series[0].y) == ([0, 10, 40, 100], [50, 60, 80, 80])
    unknown = [replace(r, rows=[replace(row, chance=None) for row in r.rows]) for r in runs]
    assert "area   nan" in as_text(fronts_of(models_of(unknown), "probing", "last", "mlp"))


def test_a_classifier_that_is_not_above_chance_is_not_on_the_front() -> None:
    runs = [run(1, [[10, 40.0], [20, 50.0], [40, 80.0]]), run(2, [[100, 50.0]])]
    fronts = fronts_of(models_of(runs), "probing", "last", "mlp")
    assert [front.seeds for front in fronts] == [[[(40, 80.0)], []]]
    assert "area  50.0 (standard deviation of 2 seeds 0.0); 80.0 at 40.0" in as_text(fronts)
    (chart,) = (section := charts_of_fronts(fronts, "probing")).charts
    assert (chart.series[2].x, chart.series[2].y) == ([0, 40], [50, 50])
    assert draw_section(section)


@pytest.mark.parametrize("points", [None, "60", [[1]], [["a", "b"]], [[1, -5]], 7])
def test_a_score_without_a_front_is_refused(points) -> None:
    with pytest.raises(InputError, match="train or evaluate it again"):
        fronts_of(models_of([run(1, points)]), "probing", "last", "mlp")
