"""The chance of predictions, against hand-worked values and the laws of orders."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.coherence.formula import chance


@pytest.mark.parametrize(("formulas", "percent"), [
    (["(1;%a%) < (1;%b%)"], 50),
    (["(1;%a%) < (1;%b%)", "(1;%a%) < (1;%c%)"], 100 / 3),  # the smallest of three
    (["((1;%a%) < (1;%b%)) & ((2;%a%) < (2;%b%))"], 25),
    (["((1;%a%) < (1;%b%)) | ((2;%a%) < (2;%b%))"], 75),
    (["(1;%a%) = (1;%b%)"], 0),
    (["(1;%a%) < (1;%b%)", "(1;%b%) < (1;%a%)"], 0),
    (["(1;%a%) - (1;%b%) > (2;%a%) - (2;%b%)"], 50),
    (["((1;%a%) - (1;%b%) > 0) & ((2;%a%) + (2;%b%) < (2;%c%) + (2;%d%))"], 25),
    (["(1;%a%) > 5"], None),
])  # fmt: skip
def test_the_chance_of_formulas_is_their_own(formulas: list[str], percent: float | None) -> None:
    assert chance(formulas) == (percent if percent is None else pytest.approx(percent, abs=0.4))


@given(st.integers(1, 9))
def test_one_condition_below_n_others_is_one_of_n_and_one(others: int) -> None:
    formulas = [f"(1;%a%) < (1;%b{number}%)" for number in range(others)]
    assert chance(formulas) == pytest.approx(100 / (others + 1), abs=0.4)


@given(st.permutations(range(4)))
def test_a_whole_order_is_one_of_all_orders(order: list[int]) -> None:
    formulas = [f"(1;%c{a}%) < (1;%c{b}%)" for a, b in pairwise(order)]
    assert chance(formulas) == pytest.approx(100 / math.factorial(4))
