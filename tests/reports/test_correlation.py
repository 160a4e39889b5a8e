"""Correlations of probing with downstream scores, over models: known values, what is significant, what is drawn."""

import math

import numpy as np
import pytest

from encoder_lab.errors import InputError
from encoder_lab.reports.correlation import chart_of_correlations, correlate, holm_adjusted, scores_of
from encoder_lab.reports.table import probing_table


def test_the_papers_own_numbers_show_its_findings() -> None:
    matrix = correlate(*(scores_of(probing_table([], suite)) for suite in ("probing", "downstream")))
    assert matrix.models.max() == 25
    assert (matrix.rho[matrix.probing.index("WC")] > 0).all()
    assert (matrix.rho[matrix.probing.index("SentLen")] < 0).mean() > 0.5  # most, says the paper
    signs = {matrix.probing[i]: np.sign(matrix.rho[i, j]) for i, j in np.argwhere(matrix.significant)}
    assert signs == {"WC": 1, "SentLen": -1}


def test_insignificant_cells_have_no_colour() -> None:
    rng = np.random.default_rng(0)
    first = {f"m{i}": {"WC": float(i), "SOMO": float(rng.random())} for i in range(20)}
    matrix = correlate(first, {f"m{i}": {"MR": float(i) ** 2} for i in range(20)})
    assert matrix.significant.tolist() == [[True], [False]]
    assert chart_of_correlations(matrix).charts[0].shades.tolist() == [[1], [0.5]]


def test_a_correlation_says_of_how_many_models_it_is_and_needs_four() -> None:
    same = {f"m{i}": {"WC": float(i), "MR": float(i)} for i in range(5)}
    assert correlate(same, same).p_value[0, 0] == pytest.approx(2 / 120)
    with pytest.raises(InputError, match="needs 4"):
        correlate({"m": {"WC": 1.0}}, {"m": {"MR": 1.0}})
    scores = {f"m{i}": {"WC": float(i), **({"Tense": float(i)} if i else {})} for i in range(6)}
    scores["m6"] = {"WC": math.nan, "Tense": math.nan}
    matrix = correlate(scores, {name: {"MR": 1.0 * place} for place, name in enumerate(scores)})
    assert matrix.models.tolist() == [[6], [5]]
    (chart,) = chart_of_correlations(matrix).charts
    assert chart.title == "Spearman's ρ over 5 to 6 models"
    assert chart.hover[1] == ["ρ 1.00, p 0.0167, 5 models"]


def test_holm_rejects_step_by_step_and_counts_no_test_that_could_not_be_made() -> None:
    # limits .0125 .0167 .025 .05
    held = holm_adjusted(np.array([[0.010, 0.04, np.nan], [0.030, 0.005, np.nan]])) <= 0.05
    assert held.tolist() == [[True, False, False], [False, True, False]]
