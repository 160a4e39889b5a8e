"""Intervals, tests and correlations against values from the literature and from counting by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, t

from probes import statistics
from probes.correlations import (
    Domain,
    _steiger_difference,
    _zou_reach,
    compare_correlations,
    make_domain,
    pack_domains,
    unpack_domains,
)

R = st.floats(-1, 1)


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


@pytest.mark.parametrize("answers", [1, 2])  # of an item
def test_the_paired_interval_equals_that_of_the_mean_difference(answers) -> None:
    first, second = np.random.default_rng(2).random((2, 2000, answers)) < [[[0.7]], [[0.69]]]
    differences = 100 * (first.astype(float) - second).mean(1)
    half = 1.96 * differences.std() / 2000**0.5
    comparison = statistics.compare(first, second)
    assert (comparison.low, comparison.high) == pytest.approx(differences.mean() + np.array([-half, half]), abs=0.15)


def test_answers_that_always_agree_count_once() -> None:
    models = np.random.default_rng(2).random((2, 200)) < [[0.8], [0.7]]
    assert statistics.compare(*models.repeat(2, 1).reshape(2, 200, 2)) == pytest.approx(statistics.compare(*models))


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


@pytest.mark.parametrize("other", [(99.4, 99.6, 99.2), (99.8, 99.2, 99.2), (99.0, 99.4, 99.8)])
def test_means_of_scores_with_one_sum_are_a_tie(other) -> None:
    means = {
        statistics.mean_of_runs([(score, 0.0, 100.0) for score in scores])[0] for scores in ((99.2, 99.4, 99.6), other)
    }
    assert means == {99.4}


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


def predictions(rng: np.random.Generator, items: int, *noise: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """Gold scores, and predictions that have half of their noise in common."""
    gold, shared = rng.normal(size=(2, items))
    return gold, [gold + amount * (shared + rng.normal(size=items)) / 2**0.5 for amount in noise]


def scored(gold: np.ndarray, predicted: np.ndarray) -> Domain:
    return make_domain(float(np.corrcoef(gold, predicted)[0, 1]), predicted)


def test_the_interval_is_that_of_zou_2007_for_an_overlapping_variable() -> None:
    below, above = _zou_reach(0.396, 0.179, 0.088, 66)
    assert (0.217 - below, 0.217 + above) == pytest.approx((-0.093, 0.517), abs=5e-4)


def test_the_statistic_is_that_of_steiger_1980() -> None:
    step, variance = _steiger_difference(0.4, 0.5, 0.1, 103)
    assert step / math.sqrt(variance) == pytest.approx(-0.89, abs=5e-3)


def test_interval_and_p_value_agree_with_the_bootstrap_over_items() -> None:
    rng = np.random.default_rng(1)
    gold, predicted = predictions(rng, 400, 0.8, 0.9)
    drawn = rng.integers(400, size=(2000, 400))
    differences = [np.subtract(*(np.corrcoef(gold[at], p[at])[0, 1] for p in predicted)) * 100 for at in drawn]
    compared = compare_correlations(*([scored(gold, p)] for p in predicted))
    assert (compared.low, compared.high) == pytest.approx(np.quantile(differences, (0.025, 0.975)), abs=0.4)
    assert compared.p_value == pytest.approx(2 * np.mean(np.array(differences) < 0), abs=0.02)


@pytest.mark.parametrize("sizes", [(300,), (60, 200, 90)])
def test_p_values_are_uniform_where_correlations_do_not_differ(sizes) -> None:
    rng = np.random.default_rng(2)
    p_values = []
    for _ in range(300):
        models: tuple[list[Domain], list[Domain]] = [], []
        for place, items in enumerate(sizes):
            gold, both = predictions(rng, items, *([0.5 + place] * 2))
            for domains, predicted in zip(models, both, strict=True):
                domains.append(scored(gold, predicted))
        p_values.append(compare_correlations(*models).p_value)
    assert kstest(p_values, "uniform").pvalue > 0.01


def test_four_domains_alike_halve_the_interval_of_their_mean() -> None:
    gold, predicted = predictions(np.random.default_rng(3), 100, 0.8, 0.9)
    models = [[scored(gold, p)] for p in predicted]
    single, several = compare_correlations(*models), compare_correlations(*(4 * model for model in models))
    assert several.difference == pytest.approx(single.difference)
    assert several.high - several.low == pytest.approx((single.high - single.low) / 2)


@given(st.lists(st.tuples(R, st.binary(min_size=1, max_size=9)), min_size=1, max_size=3), R)
def test_domains_survive_a_trip_through_text_and_models_differ_as_much_the_other_way(parts, other) -> None:
    first = unpack_domains(pack_domains([Domain(r, np.frombuffer(values, np.uint8)) for r, values in parts]))
    assert [part.predicted.tobytes() for part in first] == [values for _, values in parts]
    assert [part.r for part in first] == pytest.approx([r for r, _ in parts], abs=1e-6)
    second = [part._replace(r=other) for part in first]
    forth, back = compare_correlations(first, second), compare_correlations(second, first)
    assert forth == pytest.approx((-back.difference, -back.high, -back.low, back.p_value))
    assert compare_correlations(first, first)[::3] == (0, 1)


@pytest.mark.parametrize("text", ["1.2:00", "nan:00", "0.5:0", "x.:00", "0.5", "0.5:"])
def test_other_text_is_refused(text) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack_domains(text)
