"""Test suites in files."""

import bz2
import copy
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import compose_unicode
from probes.coherence.suite_file import (
    METRICS,
    Item,
    TestSuite,
    read_suite,
    read_suites,
    record_of,
    suite_fingerprint,
    suite_from_record,
    write_suite,
)
from tests.fuzzing import any_damage_is_read_or_refused

PACKS: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}
PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "syntaxgym"
CONDITIONS = ("original", "shuffled")
ITEMS = (
    Item(1, (("She ate . She slept .", "Then she woke ."), ("She slept . She ate .", "Then she woke .")), "a:1"),
    Item(2, (("", "Hello é !"), ("Hello", ""))),
)
FORMULAS, MORE = ("(2;%original%) < (2;%shuffled%)",), {"comment": "two items", "tags": ["order"]}
SUITE = TestSuite("order", "mean", ("context", "end"), CONDITIONS, FORMULAS, ITEMS, MORE)
FIRST = ["items", 0, "conditions", 0]
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=5)
SENTENCE = st.lists(TEXT, min_size=1, max_size=4).map(" ".join).map(compose_unicode)


def spoil(path: list[Any], value: Any) -> dict[str, Any]:
    """The suite's record with one value replaced, or removed where `value` is ..."""
    record = place = copy.deepcopy(record_of(SUITE))
    for step in path[:-1]:
        place = place[step]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return record


@pytest.mark.parametrize("escaped", [False, True])
def test_a_suite_in_decomposed_unicode_is_read_as_the_same(tmp_path, escaped) -> None:
    decomposed = json.loads(normalize("NFD", json.dumps(record_of(SUITE), ensure_ascii=False)))
    (tmp_path / "order.json").write_text(json.dumps(decomposed, ensure_ascii=escaped))
    assert read_suite(tmp_path / "order.json") == SUITE


def test_a_suite_that_was_scored_or_with_more_spaces_or_conditions_in_another_order_is_read_as_the_same() -> None:
    record = spoil(["items", 0, "conditions", 0, "regions", 1, "content"], " Then she woke . ")
    record["items"][1]["conditions"].reverse()
    record["meta"]["model"] = "a model"
    record["items"][0]["conditions"][1]["regions"][1]["metric_value"] = {"mean": 2.5}
    assert suite_from_record(record, "file") == SUITE


def test_formulas_of_the_older_form_are_read() -> None:
    record = spoil(["predictions"], ...)
    record["meta"]["string_predictions"] = ["[(1;%original%) < (1;%shuffled%)]"]
    assert suite_from_record(record, "file").predictions == ("((1;%original%) < (1;%shuffled%))",)


@pytest.mark.parametrize("place", [
    [], ["predictions", 0], ["items", 0], ["items", 0, "conditions", 0], ["items", 0, "conditions", 0, "regions", 1],
], ids=str)  # fmt: skip
def test_fields_that_the_published_form_allows_are_passed_over(place) -> None:
    assert suite_from_record(spoil([*place, "more"], {"a": [1]}), "file") == SUITE


def test_all_metrics_stands_for_the_sum_that_formulas_read() -> None:
    assert suite_from_record(spoil(["meta", "metric"], "all"), "file").metric == "sum"


@pytest.mark.parametrize(("path", "value", "message"), [
    (["meta"], ..., "file: no 'meta'"),
    (["meta", "name"], 3, "meta: 'name' must be a text, found a whole number"),
    (["meta", "name"], "two\nlines", "in one line"),
    (["meta", "metric"], "total", "suite order: metric 'total'; give one of sum, mean"),
    (["region_meta"], {"1": "a", "3": "b"}, "without a gap"),
    (["predictions"], [], "no predictions"),
    (["predictions", 0, "type"], "relation", "prediction 1: type 'relation'"),
    (["predictions", 0, "formula"], "(2;%original%) <", "prediction 1: formula"),
    (["predictions", 0, "formula"], "(2;%original%)", "neither true nor false"),
    (["predictions", 0, "formula"], "(2;%orignal%) < 1", "no condition 'orignal'; the items have original"),
    (["predictions", 0, "formula"], "(*;%orignal%) < 1", "no condition 'orignal'"),
    (["predictions", 0, "formula"], "(3;%original%) < 1", "no region 3; region_meta names 1 to 2"),
    (["predictions", 0, "formula"], "(0;%original%) < 1", "no region 0"),
    (["items"], [], "no items"),
    (["items", 1, "item_number"], 1, "item 1: the number occurs twice"),
    (["items", 1, "item_number"], True, "must be a whole number, found true or false"),
    (["items", 1, "conditions", 1, "condition_name"], "other", "item 2: conditions original, other, but the first"),
    (["items", 1, "conditions", 1, "condition_name"], "original", "same name"),
    (["items", 1, "conditions"], [], "no conditions"),
    ([*FIRST, "condition_name"], "a\tb", "in one line"),
    ([*FIRST, "regions", 1], ..., "item 1, condition original: 1 regions, but region_meta names 2"),
    ([*FIRST, "regions", 1, "region_number"], 3, "item 1, condition original, region 2: has region_number 3"),
    ([*FIRST, "regions", 1, "content"], "a  b", "item 1, condition original, region 2: 'a  b' has two spaces"),
    ([*FIRST, "regions", 1, "content"], "a\nb", "line end"),
    ([*FIRST, "regions"], [{"region_number": n, "content": ""} for n in (1, 2)], "every region is empty"),
])  # fmt: skip
def test_an_error_names_suite_item_condition_and_region(path, value, message) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as error:
        suite_from_record(spoil(path, value), "file")
    assert "\n" not in str(error.value)


def test_the_published_toolkit_takes_an_unknown_condition_under_a_star_for_nothing() -> None:
    suite_from_record(spoil(["predictions", 0, "formula"], "(*;%orignal%) < 1"), "file", syntaxgym=True)


@pytest.mark.parametrize(("end", "pack"), PACKS.items())
def test_a_corrupted_file_is_read_or_refused_in_one_line(tmp_path, end, pack) -> None:
    path = tmp_path / f"suite.json{end}"
    path.write_bytes(pack(json.dumps(record_of(SUITE), ensure_ascii=False).encode()))
    any_damage_is_read_or_refused(lambda: read_suite(path), path)


@given(st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=4), st.sampled_from(METRICS))
def test_any_suite_survives_writing(tmp_path_factory, texts, metric) -> None:
    items = tuple(Item(number, ((a, b), (b, a))) for number, (a, b) in enumerate(texts, 1))
    suite = TestSuite("any", metric, ("one", "two"), ("a", "b"), ("(1;%a%) = (2;%b%)",), items)
    path = tmp_path_factory.mktemp("suites") / "any.json"
    write_suite(suite, path)
    assert read_suite(path) == suite
    assert suite_fingerprint(read_suite(path)) == suite_fingerprint(suite)


@pytest.mark.skipif(not PUBLISHED.exists(), reason="needs the published suites")
def test_the_published_suites_are_read(tmp_path) -> None:
    counts = {}
    for path in sorted(PUBLISHED.glob("*.json")):
        suite = read_suite(path)
        write_suite(suite, tmp_path / path.name)
        assert read_suite(tmp_path / path.name) == suite
        counts[suite.name] = (len(suite.items), len(suite.conditions), len(suite.regions), len(suite.predictions))
    assert (counts["npz_obj"], counts["nn-nv-rpl"]) == ((24, 4, 6, 1), (1, 4, 5, 2))
    assert sum(items * conditions for items, conditions, _, _ in counts.values()) == 920


BLIMP = [
    {"sentence_good": "The  cat sleeps.", "sentence_bad": "The cat sleep.", "UID": "agreement", "pairID": "0"},
    {"sentence_good": "Dogs run.", "sentence_bad": "Dogs runs.", "UID": "agreement", "more": [1]},
    {"sentence_good": "He saw himself.", "sentence_bad": "He saw herself.", "UID": 0},
]


@pytest.mark.parametrize(("end", "pack"), PACKS.items())
def test_minimal_pairs_in_json_lines_are_a_suite_for_each_phenomenon(end, pack, tmp_path) -> None:
    (tmp_path / f"pairs.jsonl{end}").write_bytes(pack("".join(f"{json.dumps(pair)}\n" for pair in BLIMP).encode()))
    agreement, anaphor = read_suites([tmp_path])
    assert (agreement.name, anaphor.name) == ("agreement", "0")
    first, second = (item.texts for item in agreement.items)
    assert first == (("The cat sleeps.",), ("The cat sleep.",))
    assert second == (("Dogs run.",), ("Dogs runs.",))
    for suite in (agreement, anaphor):
        assert suite_from_record(record_of(suite), "file") == suite  # a suite as any other
        assert suite.predictions == ("(1;%good%) < (1;%bad%)",)


@pytest.mark.parametrize("pair", [
    {"sentence_good": "a"}, {"sentence_good": "a", "sentence_bad": " "}, {"good": "a", "bad": "b"},
])  # fmt: skip
def test_lines_that_are_no_minimal_pairs_are_named(pair, tmp_path) -> None:
    (tmp_path / "pairs.jsonl").write_text(f"{json.dumps(BLIMP[0])}\n{json.dumps(pair)}\n")
    with pytest.raises(InputError, match=r"pairs\.jsonl:2: no text under sentence_good and sentence_bad"):
        read_suites([tmp_path / "pairs.jsonl"])


def test_minimal_pairs_by_the_name_of_json_are_answered_with_the_name_of_json_lines(tmp_path) -> None:
    (tmp_path / "pairs.json").write_text(f"{json.dumps(BLIMP[0])}\n" * 2)
    with pytest.raises(InputError, match=r"not valid JSON .*, or let the name of JSON lines end in \.jsonl"):
        read_suites([tmp_path / "pairs.json"])
