"""Intervals and tests against values from the literature and from counting by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from probes import statistics


@pytest.mark.parametrize(("correct", "total", "low", "high"), [
    (81, 263, 25.53, 36.62),
    (15, 148, 6.24, 16.05),
    (0, 20, 0.00, 16.11),
    (20, 20, 83.89, 100.00),
    (1, 29, 0.61, 17.18),
    (0, 0, 0.00, 100.00),  # of no sentence
])  # fmt: skip
def test_wilson_agrees_with_newcombe_1998_table_1(correct, total, low, high) -> None:
    assert statistics.wilson_interval(correct, total) == pytest.approx((low, high), abs=0.006)


@pytest.mark.parametrize(("first", "second", "p"), [(0, 0, 1), (5, 5, 1), (0, 1, 1), (0, 5, 2 / 32), (1, 9, 22 / 1024)])
def test_mcnemar_counts_coin_flips(first, second, p) -> None:
    assert statistics.mcnemar(first, second) == pytest.approx(p)
    assert statistics.mcnemar(second, first) == pytest.approx(p)


def test_the_paired_interval_equals_that_of_the_mean_difference() -> None:
    first, second = np.random.default_rng(2).random((2, 2000)) < [[0.7], [0.69]]
    differences = 100 * (first.astype(float) - second)
    half = 1.96 * differences.std() / 2000**0.5
    comparison = statistics.compare(first, second)
    assert (comparison.low, comparison.high) == pytest.approx(differences.mean() + np.array([-half, half]), abs=0.15)


@given(st.lists(st.floats(0, 100), min_size=2, max_size=7), st.floats(0, 20), st.floats(0, 20))
def test_a_mean_of_seeds_is_less_sure_than_its_items_and_than_students_t(scores, below, above) -> None:
    mean, low, high = statistics.mean_of_runs([(score, score - below, score + above) for score in scores])
    error = np.std(scores, ddof=1) / len(scores) ** 0.5
    ends = t.interval(0.95, len(scores) - 1, np.mean(scores), error) if error else (mean, mean)
    assert low <= min(mean - below, ends[0]) + 1e-6
    assert high >= max(mean + above, ends[1]) - 1e-6


def test_the_interval_over_seeds_is_that_of_the_mean() -> None:
    interval = statistics.mean_of_runs([(score, score, score) for score in (68.0, 70.0, 72.0)])
    half = 4.303 * 2 / 3**0.5  # t of two degrees of freedom, as in tables
    assert interval == pytest.approx((70, 70 - half, 70 + half), abs=0.001)
    assert statistics.mean_of_runs([(71.5, 70.0, 74.0)] * 3) == (71.5, 70.0, 74.0)  # of equal runs that of one


def test_tasks_of_a_mean_have_their_own_items_and_share_the_seeds() -> None:
    rising, falling = [(score, score - 1.0, score + 1.0) for score in (60.0, 70.0)], [(70.0, 69, 71), (60.0, 59, 61)]
    alike, opposite = (
        statistics.mean_of_runs(statistics.mean_of_tasks([rising, other])) for other in (rising, falling)
    )
    assert alike == pytest.approx((65, *(65 + sign * math.hypot(5 * t.isf(0.025, 1), 0.5**0.5) for sign in (-1, 1))))
    assert opposite == pytest.approx((65, 65 - 0.5**0.5, 65 + 0.5**0.5))
    ((mean, _, high),) = statistics.mean_of_tasks([rising, falling[:1]])
    assert (mean, high - mean) == pytest.approx((67.5, math.hypot(statistics.mean_of_runs(rising)[2] - 65, 1) / 2))


@pytest.mark.parametrize("halves", [(3.0, 4.0), (0.5, 2.0), (0.0, 1.0)])
def test_a_difference_that_reaches_zero_has_a_p_value_of_a_twentieth(halves) -> None:
    scores = 50 + math.hypot(*halves), 50.0
    runs = [[(score, score - half, score + half)] for score, half in zip(scores, halves, strict=True)]
    compared = statistics.compare_unpaired(*runs)
    assert (compared.low, compared.p_value) == pytest.approx((0, 0.05), abs=1e-9)


@pytest.mark.parametrize(("r", "pairs", "interval"), [(1.0, 10, (1, 1)), (-1.0, 10, (-1, -1)), (0.5, 3, (-1, 1))])
def test_fishers_interval_at_its_limits(r, pairs, interval) -> None:
    assert statistics.fisher_interval(r, pairs) == interval


@pytest.mark.parametrize("items", [(0, 0), (3, 4)])
def test_answers_to_other_items_are_not_compared(items) -> None:
    with pytest.raises(ValueError, match="the same sentences for both"):
        statistics.compare(*(np.ones(number, bool) for number in items))
