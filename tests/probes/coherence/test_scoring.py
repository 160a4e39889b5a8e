"""Which predictions hold."""

import json
import math
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder_lab.errors import InputError
from encoder_lab.settings.call import function_named
from probes.coherence.ngram import length_logprobs
from probes.coherence.scoring import compared_name, pairs_of, score_line, score_suite, token_records
from probes.coherence.suite_file import Item, TestSuite
from probes.statistics import wilson_interval
from probes.surprisals import Pair, TokenLogprobs, check_answer, score_pairs


def suite(metric: str, formula: str, *texts: tuple[tuple[str, ...], tuple[str, ...]]) -> TestSuite:
    items = tuple(Item(number, pair) for number, pair in enumerate(texts, 1))
    return TestSuite("lengths", metric, ("one", "two"), ("a", "b"), (formula,), items)


def scored(suite: TestSuite, syntaxgym: bool = False):
    return score_suite(suite, score_pairs(length_logprobs, pairs_of(suite)), syntaxgym)


THREE = (
    (("a bb", "ccc"), ("aaa", "b")),  # region 2: 3 against 1 bit; the text: 6 against 4 bits, 2 against 2 a token
    (("a", "bb"), ("aaaa", "bb")),  # 2 against 2; 3 against 6, 1.5 against 3
    (("a", ""), ("b", "ccc ddd")),  # 0 against 6; 1 against 7, 1 against 7/3
)


@pytest.mark.parametrize(("metric", "formula", "truths", "undefined"), [
    ("sum", "(2;%a%) > (2;%b%)", [1, 0.5, 0], 0),
    ("sum", "(2;%a%) < (2;%b%)", [0, 0.5, 1], 0),
    ("mean", "(2;%a%) < (2;%b%)", [0, 0.5, 0], 1),  # no token, no mean: the comparison is false
    ("sum", "(*;%a%) < (*;%b%)", [0, 1, 1], 0),
    ("mean", "(*;%a%) < (*;%b%)", [0.5, 1, 1], 0),
])  # fmt: skip
def test_predictions_have_the_truth_worked_out_by_hand(metric, formula, truths, undefined) -> None:
    (score,) = scored(suite(metric, formula, *THREE)).predictions
    assert (score.truths.tolist(), score.percent) == (truths, pytest.approx(100 * sum(truths) / 3))
    assert (score.ties, score.undefined) == (truths.count(0.5), undefined)
    assert score.low == wilson_interval(math.floor(sum(truths)), 3)[0]
    assert score.high == wilson_interval(math.ceil(sum(truths)), 3)[1]


@pytest.mark.parametrize("metric", ["sum", "mean"])
def test_items_of_which_a_model_leaves_out_a_region_are_counted(metric) -> None:
    """As one does that cuts long texts: their last region has no token, and is not for that the less surprising one."""

    def first_word(pairs):
        return [[part[:1] for part in answer] for answer in length_logprobs(pairs)]

    texts = suite(metric, "(2;%a%) < (2;%b%)", (("a", "bb"), ("b", "c")))
    (score,) = score_suite(texts, score_pairs(first_word, pairs_of(texts))).predictions
    assert score.undefined == 1
    assert "1 with a region that has no token" in score_line(score)


def test_region_values_are_those_worked_out_by_hand() -> None:
    score = scored(suite("max", "(2;%a%) > (2;%b%)", *THREE))
    np.testing.assert_array_equal(score.sums, [[[3, 3], [3, 1]], [[1, 2], [4, 2]], [[1, 0], [1, 6]]])
    np.testing.assert_array_equal(score.means, [[[1.5, 3], [3, 1]], [[1, 2], [4, 2]], [[1, np.nan], [1, 3]]])
    np.testing.assert_array_equal(score.values, [[[2, 3], [3, 1]], [[1, 2], [4, 2]], [[1, np.nan], [1, 3]]])


def test_the_published_toolkit_adds_region_means_and_has_ties_false() -> None:
    means = suite("mean", "(*;%a%) < (*;%b%)", *THREE)
    (ours,), (theirs,) = scored(means).predictions, scored(means, syntaxgym=True).predictions
    assert ours.truths.tolist() == [0.5, 1, 1]  # 2 and 2, 1.5 and 3, 1 and 7/3
    assert theirs.truths.tolist() == [0, 1, 0]  # 1.5 + 3 and 3 + 1, 1 + 2 and 4 + 2, NaN
    assert scored(suite("sum", "(*;%c%) < (*;%b%)", *THREE), True).predictions[0].truths.tolist() == [1, 1, 1]


def test_a_score_is_said_with_its_ties() -> None:
    (score,) = scored(suite("mean", "(2;%a%) < (2;%b%)", *THREE)).predictions
    assert score_line(score) == "16.7 [0.0, 79.2] of 3 items, 1 tie counted half, 1 with a region that has no token"


def test_tokens_are_kept_with_their_regions() -> None:
    lengths = suite("sum", "(2;%a%) < (2;%b%)", *THREE)
    margins = scored(lengths).margins
    assert margins.tolist() == [-2, 0, 6]  # bits of region 2: 3 and 1, 2 and 2, 0 and 6
    lines = list(token_records(lengths, score_pairs(length_logprobs, pairs_of(lengths)), margins))
    assert [(line["item"], line["condition"]) for line in lines] == [(n, c) for n in (1, 2, 3) for c in "ab"]
    about = {"suite": "lengths", "metric": "sum", "item": 1, "margin": -2, "condition": "a", "text": "a bb ccc"}
    tokens = {"tokens": ["a", "bb", "ccc"], "offsets": [[0, 1], [2, 4], [5, 8]]}
    assert lines[0] == about | tokens | {"regions": [1, 1, 2], "surprisals": [1, 2, 3]}


def test_each_distinct_text_is_scored_once() -> None:
    asked: list[Pair] = []

    def remember(pairs: list[Pair]) -> list[TokenLogprobs]:
        asked.extend(pairs)
        return length_logprobs(pairs)

    lengths = suite("sum", "(2;%a%) < (2;%b%)", *THREE, *THREE, (("a bb", "ccc"), ("a", "bb ccc")))
    score_pairs(remember, pairs_of(lengths))
    assert len(asked) == len(set(asked)) == 6


def test_portions_of_texts_give_the_same_scores(monkeypatch) -> None:
    lengths = suite("mean", "(*;%a%) < (*;%b%)", *THREE, *THREE)
    at_once = scored(lengths)
    monkeypatch.setattr("probes.surprisals.CHUNK_PAIRS", 2)
    in_portions = scored(lengths)
    for whole, part in zip(at_once[1:], in_portions[1:], strict=True):
        np.testing.assert_array_equal(whole, part)
    np.testing.assert_array_equal(at_once.predictions[0].truths, in_portions.predictions[0].truths)


def no_function(pairs: list[Pair]) -> list:
    return [(["x"], [(0, 1)], [-1.0]) for _ in pairs]


def test_a_function_of_the_users_own_is_a_model() -> None:
    answer = score_pairs(function_named(f"{__name__}:no_function", ""), [("", "x")])["", "x"]
    assert (answer.tokens, answer.offsets.tolist(), answer.logprobs.tolist()) == (["x"], [[0, 1]], [-1])


@pytest.mark.parametrize(("body", "message"), [
    ("def f(_): return 1 / 0", "the function failed, ZeroDivisionError: "),
    ("def f(_): raise SystemExit(0)", "the function failed, SystemExit: "),
    ("def f(_): os._exit(0)", "the function failed, SystemExit: "),
    ("os._exit(0)", "the module failed, SystemExit: 0"),
])  # fmt: skip
def test_a_function_or_module_that_fails_or_ends_the_process_is_named(tmp_path, monkeypatch, body, message) -> None:
    name = f"fails_{tmp_path.name}"  # each is imported once
    (tmp_path / f"{name}.py").write_text(f"import os\n{body}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=f"^call:{name}:f: {message}"):
        function_named(f"{name}:f", "")([("", "x")])


def a_process(_: list[Pair]) -> list:
    if not (child := os.fork()):
        os._exit(7)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])]


def test_a_process_that_a_function_starts_may_end() -> None:
    leave = os._exit
    assert function_named(f"{__name__}:a_process", "")([]) == [7]
    assert os._exit is leave


ANSWERS = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(width=16) | st.text(max_size=3) | st.binary(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner, inner, inner) | st.dictionaries(st.text(max_size=1), inner)
    ),
    max_leaves=12,
)
NUMBERS = st.floats(-9, 1) | st.sampled_from([math.nan, math.inf, -math.inf, 10**400, "x", None, [1]])
NEARLY = st.tuples(
    st.lists(st.sampled_from(["a", "b", "\ud800", 3, None]), max_size=3),
    st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 10**30)) | st.none(), max_size=3),
    st.lists(NUMBERS, max_size=3),
)


@given(st.one_of(ANSWERS, st.lists(NEARLY | ANSWERS, min_size=2, max_size=2)))
def test_any_answer_of_a_function_is_read_or_refused_in_one_line(answer) -> None:
    made, message = suite("sum", "(1;%a%) < (1;%b%)", (("a b", ""), ("c", ""))), ""
    try:
        surprisals = score_pairs(lambda _: answer, [("", "a b"), ("", "c")])  # type: ignore[arg-type, return-value]
        records = token_records(made, surprisals, score_suite(made, surprisals).margins)
        assert json.dumps(list(records), ensure_ascii=False).encode()
    except InputError as error:
        message = str(error)
    assert "\n" not in message


@pytest.mark.parametrize("name", ["", "json", ":dumps", "json:", "json:nothing", "no_such_module:f", "math:pi"])
def test_what_is_no_function_is_said(name) -> None:
    with pytest.raises(InputError, match="call:"):
        function_named(name, "scores")


@pytest.mark.parametrize(("answer", "message"), [
    (None, "expected tokens, offsets"),
    ((["a"], [(0, 1)], ["x"]), "expected tokens, offsets"),
    ((["a", "b"], [(0, 1)], [-1.0]), "2 tokens"),
    ((["a"], [(0, 1)], [[-1.0]]), "1 tokens"),
    ((["a"], [(0, 9)], [-1.0]), "outside the 3 characters"),
    ((["a"], [(2, 1)], [-1.0]), "ends before it starts"),
    ((["a", " ", "b"], [(0, 1), (1, 2), (0, 1)], [-1.0] * 3), "starts before the one before it; count characters from"),
    (([3], [(0, 1)], [-1.0]), "a token that is no text"),
    ((["\ud800"], [(0, 1)], [-1.0]), "a token that is no text"),
    ((["a"], [(0, 1)], [-(10**400)]), "too large"),
    ((["a"], [(0, 1)], [0.5]), "above 0"),
    ((["a"], [(0, 1)], [math.nan]), "NaN"),
])  # fmt: skip
def test_an_answer_that_is_no_such_thing_is_refused(answer, message) -> None:
    with pytest.raises(InputError, match=message) as error:
        check_answer(answer, ("", "a b"))
    assert "\n" not in str(error.value)


def test_two_conditions_are_compared_where_one_is_below_the_other_in_a_region() -> None:
    assert compared_name("connectives_as_causal", "(3;%as%) < (3;%yet%)") == "connectives_as_causal yet"
    for other in ("(3;%as%) > (3;%yet%)", "(3;%as%) < (2;%yet%)", "(3;%as%) < 5", "(3;%a%) < (3;%b%) + 1"):
        assert not compared_name("any", other)
