"""Two correlations over the same items: values of the literature, the bootstrap, and how often equal models differ."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

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
