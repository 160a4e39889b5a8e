"""The language of predictions."""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder_lab.errors import InputError
from probes.coherence.formula import (
    Formula,
    Number,
    Operation,
    Value,
    chance,
    evaluate,
    formula_text,
    is_prediction,
    margin,
    parse,
)

NAN = float("nan")
NUMBERS = st.floats(-1e6, 1e6).map(Number)
VALUES = st.builds(Value, st.one_of(st.none(), st.integers(1, 9)), st.sampled_from(["a", "b-2", "c_D"]))


def computed(text: str, syntaxgym: bool = False, **values: float) -> float:
    """The formula where `a1` is the value of region 1 of condition a, and `a` that of its whole text."""

    def value(of: Value) -> np.ndarray:
        return np.array([values[of.condition + ("" if of.region is None else str(of.region))]])

    return float(np.ravel(evaluate(parse(text, syntaxgym), value, syntaxgym))[0])


@pytest.mark.parametrize(("text", "expected"), [
    ("(1;%a%) + (1;%b%)", 5.5),
    ("(1;%a%) - (1;%b%) - 1", -2.5),  # from the left
    ("(1;%a%) - ((1;%b%) - 1)", -0.5),
    ("-3 + (1;%a%)", -1.0),
    ("(1;%a%)--3", 5.0),
    ("1e1 + 2.5E-1", 10.25),
    ("(*;%a%)", 7.0),
    ("( 1 ;% a % )", 2.0),
])  # fmt: skip
def test_numbers_have_the_value_worked_out_by_hand(text, expected) -> None:
    assert computed(text, a1=2.0, b1=3.5, a=7.0) == pytest.approx(expected)
    assert not is_prediction(parse(text))


@pytest.mark.parametrize(("text", "expected"), [
    ("(1;%a%) < (1;%b%)", 1),
    ("(1;%a%) > (1;%b%)", 0),
    ("(1;%a%) + 1.5 < (1;%b%)", 0.5),  # a tie
    ("(1;%a%) = 2.001", 1),
    ("(1;%a%) = 2.0011", 0),
    ("100000 = 100000.9", 1),  # 0.001 + 0.00001 * 100000.9
    ("100000 = 100001.1", 0),
    ("(1;%a%) < (1;%b%) & (1;%b%) < 4", 1),
    ("(1;%a%) < 2 & (1;%b%) < 4", 0.5),
    ("(1;%a%) < 2 & (1;%b%) > 4", 0),  # the other side decides
    ("(1;%a%) < 2 | (1;%b%) > 4", 0.5),
    ("((1;%a%) < 3 | (1;%a%) > 9) & (1;%b%) < 0", 0),
    ("(1;%a%) < 3 | ((1;%a%) > 9 & (1;%b%) < 0)", 1),
])  # fmt: skip
def test_predictions_have_the_truth_worked_out_by_hand(text, expected) -> None:
    assert computed(text, a1=2.0, b1=3.5) == expected
    assert is_prediction(parse(text))


@pytest.mark.parametrize("symbol", ["<", ">", "="])
def test_a_comparison_with_nan_is_false(symbol) -> None:
    assert computed(f"(1;%a%) {symbol} 1", a1=NAN) == computed(f"1 {symbol} (1;%a%)", a1=NAN) == 0


def test_sums_that_differ_by_rounding_alone_tie() -> None:
    assert computed("(1;%a%) > (1;%b%)", a1=0.1 + 0.2, b1=0.3) == 0.5
    assert computed("(1;%a%) > (1;%b%)", a1=100 * (1 + 2e-7), b1=100.0) == 0.5  # as float32 has sums of batches
    assert computed("(1;%a%) > (1;%b%)", a1=1000.01, b1=1000.0) == 1


@pytest.mark.parametrize(("text", "write"), [
    ("1 < 2 < 3", "(1.0 < 2.0) & (2.0 < 3.0)"),
    ("(1;%a%) < (2;%a%) = 3", "((1;%a%) < (2;%a%)) & ((2;%a%) = 3.0)"),
    ("1 < 2 | 3 < 4 & 5 < 6", "((1.0 < 2.0) | (3.0 < 4.0)) & (5.0 < 6.0)"),
])  # fmt: skip
def test_what_can_be_read_in_two_ways_is_refused_with_what_to_write(text, write) -> None:
    with pytest.raises(InputError, match="two ways") as error:
        parse(text)
    assert write in str(error.value)
    parse(write)


def test_the_published_toolkit_has_ties_false_ignores_the_end_of_a_chain_and_reads_from_the_left() -> None:
    assert computed("(1;%a%) < 2", True, a1=2.0) == computed("(1;%a%) > 2", True, a1=2.0) == 0
    assert computed("1 < 2 < 0", True) == 1
    assert computed("1 < 2 | 1 < 2 & 2 < 1", True) == 0  # (true | true) & false
    assert computed("(1 < 2) | ((1 < 2) & (2 < 1))", True) == 1


@pytest.mark.parametrize(("text", "message"), [
    ("", r"character 1 \(the end\)"),
    ("(1;%a%) >", "the end"),
    ("(1;%a%) >= 2", "character 10 "),
    ("(1;%a%) * 2 > 1", "expected an operator"),
    ("(1;% a b%) > 1", "expected"),
    ("(x;%a%) > 1", "expected"),
    ("((1;%a%) > 1]", r"expected '\)'"),
    ("-(1;%a%) > 1", "expected"),
    ("1e999 > 1", "too large"),
    ("(99999999;%a%) > 1", "no region"),
    ("1 & 2", "comparisons"),
    ("(1 < 2) + 3", "numbers, not comparisons"),
    ("(" * 60 + "1" + ")" * 60, "expected"),
    ("+".join("1" * 300), "more than 200 operators"),
    ("1" * 20000, "20000 characters"),
])  # fmt: skip
def test_an_invalid_formula_is_refused_in_one_line(text, message) -> None:
    with pytest.raises(InputError, match=message) as error:
        parse(text)
    assert "\n" not in str(error.value)


def operations(symbols: str, sides: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    return st.builds(Operation, st.sampled_from(symbols), sides, sides)


def trees(leaves: st.SearchStrategy[Formula], symbols: str) -> st.SearchStrategy[Formula]:
    return st.recursive(leaves, lambda sides: operations(symbols, sides), max_leaves=6)


SUMS = trees(st.one_of(NUMBERS, VALUES), "+-")
PREDICTIONS = trees(operations("<>=", SUMS), "&|")


@given(st.one_of(SUMS, PREDICTIONS))
def test_what_is_written_is_read_as_the_same(tree) -> None:
    assert (parse(formula_text(tree)), parse(formula_text(tree), syntaxgym=True)) == (tree, tree)


def values_by(seed: int, items: int = 5) -> Callable[[Value], np.ndarray]:
    """Small whole numbers, so that ties are frequent, and some NaN."""

    def value(of: Value) -> np.ndarray:
        rng = np.random.default_rng([seed, of.region or 0, len(of.condition)])
        return np.where(rng.random(items) < 0.1, NAN, rng.integers(0, 3, items))

    return value


def one_by_one(tree: Formula, at: int, value: Callable[[Value], np.ndarray]) -> float:
    """A second evaluator: one item, Python's own numbers."""
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Value):
        return float(value(tree)[at])
    left, right = one_by_one(tree.left, at, value), one_by_one(tree.right, at, value)
    near = abs(left - right) <= 1e-9 * max(1, abs(left), abs(right))
    return {
        "+": lambda: left + right,
        "-": lambda: left - right,
        "&": lambda: min(left, right),
        "|": lambda: max(left, right),
        "=": lambda: float(abs(left - right) <= 1e-3 + 1e-5 * abs(right)),
        "<": lambda: 0.5 if near else float(left < right),
        ">": lambda: 0.5 if near else float(left > right),
    }[tree.symbol]()


@given(PREDICTIONS, st.integers(0, 99))
def test_all_items_at_once_equal_one_at_a_time(tree, seed) -> None:
    value = values_by(seed)
    together = np.broadcast_to(evaluate(tree, value), 5)
    np.testing.assert_array_equal(together, [one_by_one(tree, at, value) for at in range(5)])


@given(SUMS, SUMS, st.integers(0, 99))
def test_less_and_greater_are_opposite_and_share_their_ties(left, right, seed) -> None:
    value = values_by(seed)
    less, greater = (evaluate(Operation(symbol, left, right), value) for symbol in "<>")
    np.testing.assert_array_equal(less, evaluate(Operation(">", right, left), value))
    total = less + greater
    assert set(np.ravel(total)) <= {0.0, 1.0}  # 0 where NaN
    assert ((less == 0.5) == (greater == 0.5)).all()


@given(st.text(alphabet="0123456789+-<>=&|()[]%;*ab_. e\n\x00é", max_size=40))
def test_any_text_is_a_formula_or_refused_in_one_line(text) -> None:
    for syntaxgym in (False, True):
        message = ""
        try:
            tree = parse(text, syntaxgym)
        except InputError as error:
            message = str(error)
        else:
            assert parse(formula_text(tree)) == tree
        assert "\n" not in message


@pytest.mark.parametrize(("symbol", "truths"), [("<", [1.0, 0.0, 0.5]), (">", [0.0, 1.0, 0.5]), ("=", [0.0, 0.0, 1.0])])
def test_every_number_is_below_infinity(symbol, truths) -> None:
    bits = [(5.0, float("inf")), (float("inf"), 5.0), (float("inf"), float("inf"))]
    assert [computed(f"(1;%a%) {symbol} (1;%b%)", a1=left, b1=right) for left, right in bits] == truths


@given(PREDICTIONS, st.integers(0, 99))
def test_a_prediction_holds_where_its_margin_is_above_zero(tree, seed) -> None:
    value = values_by(seed)
    by = np.broadcast_to(margin(tree, value), 5)
    holds = np.broadcast_to(evaluate(tree, value), 5)
    clear = (np.abs(by) > 1e-6) & np.isfinite(by) & ("=" not in formula_text(tree))
    np.testing.assert_array_equal(holds[clear], by[clear] > 0)


def test_margins_are_those_worked_out_by_hand() -> None:
    values = {("a", 1): 2.0, ("b", 1): 5.0, ("c", 1): 1.0}

    def by(text: str) -> float:
        return float(margin(parse(text), lambda of: np.array([values[of.condition, of.region or 0]]))[0])

    assert (by("(1;%a%) < (1;%b%)"), by("(1;%a%) > (1;%b%)")) == (3, -3)
    assert by("((1;%a%) < (1;%b%)) & ((1;%a%) < (1;%c%))") == -1
    assert (by("((1;%a%) < (1;%b%)) | ((1;%a%) < (1;%c%))"), by("(1;%a%) = (1;%c%)")) == (3, -1)


@pytest.mark.parametrize(("formulas", "percent"), [
    (["(1;%a%) < (1;%b%)"], 50),
    (["((1;%a%) < (1;%b%)) & ((2;%a%) < (2;%b%))"], 25),
    (["((1;%a%) < (1;%b%)) | ((2;%a%) < (2;%b%))"], 75),
    (["(1;%a%) = (1;%b%)"], 0),
    (["(1;%a%) < (1;%b%)", "(1;%b%) < (1;%a%)"], 0),
    (["(1;%a%) - (1;%b%) > (2;%a%) - (2;%b%)"], 50),
    (["((1;%a%) - (1;%b%) > 0) & ((2;%a%) + (2;%b%) < (2;%c%) + (2;%d%))"], 25),
    (["(1;%a%) > 5"], None),
])  # fmt: skip
def test_the_chance_of_formulas_is_their_own(formulas, percent) -> None:
    assert chance(formulas) == (percent if percent is None else pytest.approx(percent, abs=0.4))


@given(st.integers(1, 9))
def test_one_condition_below_n_others_is_one_of_n_and_one(others) -> None:
    formulas = [f"(1;%a%) < (1;%b{number}%)" for number in range(others)]
    assert chance(formulas) == pytest.approx(100 / (others + 1), abs=0.4)


@given(st.permutations(range(4)))
def test_a_whole_order_is_one_of_all_orders(order) -> None:
    formulas = [f"(1;%c{a}%) < (1;%c{b}%)" for a, b in pairwise(order)]
    assert chance(formulas) == pytest.approx(100 / math.factorial(4))
