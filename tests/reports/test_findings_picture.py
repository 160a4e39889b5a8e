"""Findings as a picture: each comparison is a dot on its side of the line of significance."""

import math
from html import unescape
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from encoder_lab.errors import InputError
from encoder_lab.reports.claims import CLAIMS
from encoder_lab.reports.evidence import BOV, Evidence, Point, published_evidence
from encoder_lab.reports.figure import draw_section, render_figure
from encoder_lab.reports.findings import Comparison, Finding, check_claims
from encoder_lab.reports.findings_chart import SIGN_COLOURS, chart_of_findings, stacked_heights
from encoder_lab.reports.interactive import plotly_figure
from report import main

NUMBERS = st.one_of(st.just(0.0), st.floats(0.01, 50))


def dots_of(findings: list[Finding]) -> list[tuple[float, str]]:
    """Place and colour of each dot."""
    (chart,) = chart_of_findings(findings).charts
    return [(x, dots.look[0]) for dots in chart.series for x in dots.x]


@settings(max_examples=25)
@given(st.lists(st.tuples(st.floats(-50, 50), NUMBERS), min_size=1, max_size=6))
def test_a_dot_is_outside_of_the_band_exactly_if_its_comparison_is_significant(pairs) -> None:
    comparisons = [Comparison("", difference, half) for difference, half in pairs]
    dots = dots_of([Finding("x", "", "", comparisons)])
    assert sorted(colour for _, colour in dots) == sorted(SIGN_COLOURS[comparison.sign] for comparison in comparisons)
    side = {colour: says for says, colour in SIGN_COLOURS.items()}
    assert all(x * side[colour] >= 1 if side[colour] else abs(x) <= 1 for x, colour in dots)


@given(st.lists(st.floats(-30, 30), max_size=60))
def test_dots_of_one_place_have_different_heights_within_the_row(places) -> None:
    heights = stacked_heights(places)
    assert all(abs(height) <= 0.4 + 1e-9 for height in heights)
    assert len(set(zip(places, heights, strict=True))) == len(places)


def test_the_picture_has_every_comparison_of_the_claims_that_have_scores() -> None:
    findings = check_claims(CLAIMS, published_evidence())
    assert len(dots_of(findings)) == sum(len(finding.comparisons) for finding in findings)


def test_the_page_says_under_the_pointer_what_a_dot_compares() -> None:
    findings = check_claims(CLAIMS[:1], published_evidence())
    data = plotly_figure(chart_of_findings(findings).charts[0])["data"]
    texts = sorted(unescape(text) for dots in data for text in dots["text"])
    assert texts == sorted(str(comparison) for comparison in findings[0].comparisons)


def test_without_scores_there_is_no_picture() -> None:
    with pytest.raises(InputError, match="no scores for any"):
        chart_of_findings(check_claims(CLAIMS, Evidence()))
    with pytest.raises(InputError, match="no scores for 'bov is at chance on order'"):
        chart_of_findings(check_claims(CLAIMS[:1], Evidence()))


def test_a_score_without_a_number_for_its_interval_is_not_compared() -> None:
    tasks = dict.fromkeys(("BShift", "SOMO"), Point(50.0, 1.0)) | {"CoordInv": Point(50.0, math.nan)}
    (finding,) = check_claims(CLAIMS[:1], Evidence(probing={BOV: tasks}))
    assert len(finding.comparisons) == 2


def test_a_name_with_control_characters_makes_no_broken_picture() -> None:
    named = Finding("x", "", "", [Comparison("\x1b[31m\x00red", 1.0, 0.5)])
    ElementTree.fromstring(render_figure(draw_section(chart_of_findings([named])), "svg"))


def test_findings_of_published_tables_take_no_runs(tmp_path, capsys) -> None:
    assert main(["findings", str(tmp_path), "published=true"]) == 2
    assert "published=true checks no runs; leave one of them out" in capsys.readouterr().err


@pytest.mark.usefixtures("plain_layout")
@pytest.mark.parametrize("claim", [[], ["claim=max_is_above_last"]], ids=["all", "one"])
def test_the_report_draws_findings_where_out_is_a_figure(claim, tmp_path) -> None:
    out = tmp_path / "findings.svg"
    assert main(["findings", "published=true", f"out={out}", *claim]) == 0
    assert out.read_text().startswith("<?xml")
