"""Findings as a picture: each comparison is a dot on its side of the line of significance."""

import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.errors import InputError
from report import main
from reports.claims import CLAIMS
from reports.evidence import Evidence, published_evidence
from reports.findings import Comparison, Finding, check
from reports.findings_picture import COLOURS, draw_findings, stacked
from reports.page import findings_part

NUMBERS = st.one_of(st.just(0.0), st.floats(0.01, 50))


def dots_of(finding: Finding) -> list[tuple[float, str]]:
    """Place and colour of each dot."""
    lines = [line for line in draw_findings([finding]).axes[0].lines if (line.get_gid() or "").startswith("said ")]
    return [(float(np.asarray(line.get_xydata())[0, 0]), str(line.get_color())) for line in lines]


@given(st.lists(st.tuples(st.floats(-50, 50), NUMBERS), min_size=1, max_size=6))
def test_a_dot_is_outside_of_the_band_exactly_if_its_comparison_is_significant(
    pairs: list[tuple[float, float]],
) -> None:
    comparisons = [Comparison("", difference, half) for difference, half in pairs]
    for comparison, (x, colour) in zip(comparisons, dots_of(Finding("x", "", "", comparisons)), strict=True):
        assert colour == COLOURS[comparison.says]
        assert x * comparison.says >= 1 if comparison.says else abs(x) <= 1


@given(st.lists(st.floats(-30, 30), max_size=60))
def test_dots_of_one_place_have_different_heights_within_the_row(places: list[float]) -> None:
    heights = stacked(places)
    assert all(abs(height) <= 0.4 + 1e-9 for height in heights)
    assert len(set(zip(places, heights, strict=True))) == len(places)


def test_the_picture_has_every_comparison_of_the_claims_that_have_scores() -> None:
    found = check(CLAIMS, published_evidence())
    lines = draw_findings(found).axes[0].lines
    said = sorted(str(line.get_gid()) for line in lines if (line.get_gid() or "").startswith("said "))
    assert said == sorted(f"said {comparison}" for finding in found for comparison in finding.comparisons)


def test_the_page_says_under_the_pointer_what_a_dot_compares() -> None:
    found = check(CLAIMS[:1], published_evidence())
    titles = re.findall(r"<title>(.*?)</title>", findings_part(found))
    assert [unescape(title) for title in titles] == [str(comparison) for comparison in found[0].comparisons]


def test_without_scores_there_is_no_picture() -> None:
    with pytest.raises(InputError, match="no scores for any"):
        draw_findings(check(CLAIMS, Evidence()))


@pytest.mark.parametrize("claim", [[], ["claim=max_is_above_last"]], ids=["all", "one"])
def test_the_report_draws_findings_where_out_is_a_figure(claim: list[str], tmp_path: Path) -> None:
    out = tmp_path / "findings.svg"
    assert main(["findings", "published=true", f"out={out}", *claim]) == 0
    assert out.read_text().startswith("<?xml")
