"""Items of coherence suites on the HTML page."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder_lab.errors import InputError
from encoder_lab.reports.page import html_page
from encoder_lab.reports.strips import (
    DARKEST_BITS,
    TOKENS_FILE,
    Record,
    StripItem,
    checked_record,
    colour_of,
    strip_items,
    tokens_of,
)


def record(
    condition: str,
    words: str,
    bits: list[float | None],
    item: int = 1,
    regions: list[int] | None = None,
    margin: float | None = 1,
) -> Record:
    tokens = words.split(" ")
    starts = [len(" ".join([*tokens[:at], ""])) for at in range(len(tokens))]
    offsets = [[start, start + len(token)] for start, token in zip(starts, tokens, strict=True)]
    of_item = {"suite": "story_cloze", "metric": "mean", "item": item, "margin": margin, "condition": condition}
    of_text = {"text": words, "tokens": tokens, "offsets": offsets, "regions": regions or [1] * len(tokens)}
    return {**of_item, **of_text, "surprisals": bits}


# bits of both conditions, and by how many all predictions hold
PAIRS = {1: ([1, 1], [3, 3], 2), 2: ([4, 4], [1, 1], -3), 3: ([2, 2], [3, 3], 1), 4: ([9, 9], [0, 0], None)}


@pytest.fixture
def folder(tmp_path) -> Path:
    lines = [
        record(condition, "a b", bits, item, margin=margin)
        for item, (*both, margin) in PAIRS.items()
        for condition, bits in zip(("right", "wrong"), both, strict=True)
    ]
    (tmp_path / TOKENS_FILE).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def test_the_most_right_and_the_most_wrong_item_are_shown_or_those_asked_for(folder) -> None:
    reasons = [(item.records[0]["item"], item.reason.partition(":")[0]) for item in strip_items("m", folder, None)]
    assert reasons == [(1, "most right"), (2, "most wrong")]
    assert [item.records[0]["item"] for item in strip_items("m", folder, ["story_cloze:3", "other:1"])] == [3]


def test_an_item_has_a_strip_for_each_condition_and_the_page_needs_no_network(folder) -> None:
    html = html_page("t", [], items=strip_items("m", folder, ["story_cloze:1"]))
    assert html.count("<div class=row>") == 2
    assert html.index(">right<") < html.index(">wrong<")
    assert "bits: <span" in html
    assert "http" not in html
    assert "metric of the suite: mean of" in html
    assert html.count("mean of bits<br>region 1: ") == 2


def test_text_is_escaped() -> None:
    bad = record("<i>", '<script>alert("&")</script> "x', [1, 2], regions=[1, 2])
    html = html_page("t", [], items=[StripItem("<b>m</b>", "<u>", [bad | {"suite": "<s>"}])])
    for markup in ("<i>", "<script>alert", "<b>m</b>", "<u>", "<s>"):
        assert markup not in html
    assert "&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;" in html
    assert html.count("class=region") == 1


@given(st.lists(st.floats(0, 2 * DARKEST_BITS), min_size=2, max_size=5))
def test_a_more_surprising_token_is_never_lighter(bits) -> None:
    seen = [sum(map(int, re.findall(r"\d+", colour_of(value).split(";")[0]))) for value in sorted(bits)]
    assert seen == sorted(seen, reverse=True)


def test_an_impossible_token_has_the_darkest_colour() -> None:
    assert colour_of(None) == colour_of(DARKEST_BITS) != colour_of(DARKEST_BITS / 2) != colour_of(0)
    assert [token.hover for token in tokens_of(record("a", "x", [None]))[0]] == ["x: ∞ bits"]


def test_a_line_that_is_no_record_is_refused() -> None:
    earlier = record("a", "x y", [1, 2])
    del earlier["margin"]  # of an earlier version
    for wrong in (record("a", "x y", [1]), earlier):
        with pytest.raises(InputError, match=r"file:3: no tokens with their bits"):
            checked_record(wrong, "file:3")
