"""The claims of Chen et al. 2019 and of Beyer et al. 2021 on the papers' own tables, and on made-up scores."""

import math
from html import unescape
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder_lab.errors import InputError
from encoder_lab.reports.claim_rules import NSP
from encoder_lab.reports.claims import CLAIMS, Rule
from encoder_lab.reports.evidence import BOV, Evidence, Point, group_means, published_evidence
from encoder_lab.reports.figure import draw_section, render_figure
from encoder_lab.reports.findings import (
    SIGN_COLOURS,
    Comparison,
    Finding,
    chart_of_findings,
    check_claims,
    stacked_heights,
)
from encoder_lab.reports.interactive import plotly_figure
from encoder_lab.reports.published import published
from probes.coherence.world import world_suites
from probes.discoeval import FACTS
from report import main
from tests.reports.small_runs import finding_of

DISCOEVAL = tuple(FACTS.groups.values())
SDT, BERT = ("BiGRU", "+ SDT"), ("", "BERT-Base")
LAYER = ("BERT-Base", "layer 3")  # no model of its own
STORY, DIALOGUE = "the order before the end of a story is not", "dialogue is easier than narration"
PRONOUNS, CONNECTIVES = "pronouns are not preferred to repeated phrases", "connectives differ by sense"
NUMBERS = st.one_of(st.just(0.0), st.floats(0.01, 50))


def points(score: float) -> dict[str, Point]:
    """The same score for all seven groups."""
    return {task: Point(score, 1) for task in DISCOEVAL}


@pytest.mark.parametrize(("claim", "scores", "verdict"), [
    *(("titles hurt", {NSP: 50, SDT: s}, v) for s, v in ((45, "holds"), (50, "cannot tell"), (55, "fails"))),
    *(("bert has the highest mean", {BERT: s, NSP: 50, LAYER: 99}, v) for s, v in ((60, "holds"), (40, "fails"))),
    *(("bert is not best at coherence", {BERT: s, NSP: 50, LAYER: 99}, v) for s, v in ((60, "fails"), (40, "holds"))),
    *(
        ("deeper layers know more of discourse", {("B", f"layer {i}"): 50 + i * step for i in range(4)}, verdict)
        for step, verdict in ((5, "holds"), (-5, "fails"))
    ),
    *(("people are far above models", {NSP: s, ("", "ELMo"): 40}, v) for s, v in ((50, "holds"), (95, "fails"))),
])  # fmt: skip
def test_a_claim_about_discourse_follows_the_scores(claim, scores, verdict) -> None:
    evidence = Evidence(discoeval={name: points(score) for name, score in scores.items()})
    assert finding_of(claim, evidence).verdict == verdict


@pytest.mark.parametrize(("fields", "comparisons"), [
    ({"about": "{task}"}, [("T (70.0 ± 3.0 and 50.0 ± 4.0)", 20, 5), ("U (60.0 ± 3.0 and 10.0 ± 4.0)", 50, 5)]),
    ({"but": ["U"], "plus": [1, 3], "about": "{encoder} {each}"}, [("A y (71.0 ± 3.0 and 53.0 ± 4.0)", 18, 5)]),
    ({"tasks": ["T"], "against": "TU", "each": ["y"]}, [("T, A x over A y (70.0 ± 3.0 and 10.0 ± 4.0)", 60, 5)]),
    ({"mean": True, "about": "{tasks} tasks"}, [("2 tasks (65.0 ± 2.1 and 30.0 ± 2.8)", 35, math.sqrt(12.5))]),
    ({"tasks": ["T"], "within": 25}, [("T, A x over A y (70.0 ± 3.0 and 50.0 ± 4.0)", 5, 5)]),
    ({"second": 40, "tasks": ["U"], "each": [""], "about": "{first} {task}"}, [("A x U (60.0 ± 3.0)", 20, 3)]),
])  # fmt: skip
def test_a_rule_compares_the_tasks_of_the_models_that_it_names(fields, comparisons) -> None:
    """No model is compared with itself, or with one that is not there."""
    high, low = {"T": Point(70, 3), "U": Point(60, 3)}, {"T": Point(50, 4), "U": Point(10, 4)}
    evidence = Evidence({("A", "x"): high, ("A", "y"): low})
    models = {"first": ["probing", "*", "x"], "second": ["probing", "*", "{each}"], "each": ["x", "y", "z"]}
    compared = Rule(**(models | fields)).comparisons(evidence)
    assert [(c[0], c.difference, c.margin) for c in compared] == [(a, d, pytest.approx(h)) for a, d, h in comparisons]


@pytest.mark.parametrize(("claim", "others", "task", "verdicts"), [
    (STORY, {}, "shuffle_narration_context", {50: "holds", 58: "cannot tell", 42: "cannot tell", 70: "fails"}),
    (DIALOGUE, {"shuffle_narration_all": 80}, "shuffle_dialogue_all", {90: "holds", 80: "cannot tell", 70: "fails"}),
    (PRONOUNS, {}, "remention", {50: "holds", 60: "cannot tell", 80: "fails"}),
    (PRONOUNS, {}, "mention_form", {50: "cannot tell"}),  # a suite of the embedded world
    (CONNECTIVES, {"connectives_cause": 50}, "connectives_contrast", {90: "holds", 62: "cannot tell", 50: "fails"}),
])  # fmt: skip
def test_a_claim_about_coherence_follows_the_scores(claim, others, task, verdicts) -> None:
    for score, verdict in verdicts.items():
        scores = {name: Point(value, 3) for name, value in {**others, task: score}.items()}
        assert finding_of(claim, Evidence(coherence={("small", "language model"): scores})).verdict == verdict, score


def test_the_embedded_world_has_the_suite_that_the_claim_about_pronouns_leaves_out() -> None:
    assert "mention_form" in {suite.name for suite in world_suites(2, seed=1)}


def test_controls_decide_nothing() -> None:
    scores = {"story_cloze": Point(90, 1), "speaker_commitment": Point(10, 1)}
    findings = check_claims(CLAIMS, Evidence(coherence={("Baselines", "Unigram"): scores}))
    assert {finding.verdict for finding in findings} == {"cannot tell"}


def test_connectives_without_numbers_of_items_decide_nothing() -> None:
    scores = {"connectives_as": Point(90, math.inf), "connectives_yet": Point(50, math.inf)}
    evidence = Evidence(coherence={("small", "language model"): scores})
    assert finding_of(CONNECTIVES, evidence).verdict == "cannot tell"


def test_the_table_of_connectives_is_the_papers() -> None:
    for model, causal, temporal in (
        ("GPT-2", [44, 80, 28, 64, 72, 80], 96),
        ("DialoGPT", [64, 68, 40, 84, 80, 88], 95),
    ):
        scores = published_evidence().coherence["", model]
        assert scores["connectives_as_causal"].score == pytest.approx(sum(causal) / 6)
        cells = {row.task: row.score for row in published("beyer2021_table4") if row.model == model}
        assert (cells["connectives_since_temporal although"], len(cells)) == (temporal, 22 * 6)


def test_domains_are_averaged_into_groups() -> None:
    scores = {"SParxiv": Point(40, 3), "SProc": Point(50, 4), "SSPabs": Point(70, 1), "RST": Point(5, 1)}
    means = group_means({**scores, "SP without context": Point(99, 1)})
    assert {task: point.score for task, point in means.items()} == {"SP": 45, "SSP": 70, "RST-DT": 5}
    assert means["SP"].margin == 2.5


def test_the_best_layers_of_the_paper_are_those_of_its_table_3() -> None:
    comparisons = finding_of("discourse needs deeper layers than other tasks", published_evidence()).comparisons
    by_model = {c.label[:4]: c for c in comparisons}
    assert "1.3 for DiscoEval and 0.8 for SentEval" in by_model["ELMo"].label
    assert "8.9 for DiscoEval and 5.0 for SentEval" in by_model["BERT"].label  # layers 5, 7 and 10 tie on SSP


def test_ablations_are_compared_with_the_whole_task_of_the_same_model() -> None:
    scores = {"DC": Point(60, 1), "DC without hidden layer": Point(52, 1), "SP without context": Point(43, 1)}
    evidence = Evidence(discoeval={("a", "b"): scores, ("a", "c"): {"SProc": Point(40, 1), **scores}})
    assert [c.difference for c in finding_of("coherence needs a hidden layer", evidence).comparisons] == [8, 8]
    assert [c.difference for c in finding_of("context helps position", evidence).comparisons] == [-3]


def test_the_corrected_table_has_the_mean_of_its_seven_groups() -> None:
    rows = published("chen2019_readme")
    for model in {row.model for row in rows}:
        scores = {row.task: row.score for row in rows if row.model == model}
        assert sum(scores[task] for task in DISCOEVAL) / 7 == pytest.approx(scores["avg."], abs=0.15)


def dots_of(findings: list[Finding]) -> list[tuple[float, str]]:
    """Place and colour of each dot."""
    (chart,) = chart_of_findings(findings).charts
    return [(x, dots.look[0]) for dots in chart.series for x in dots.x]


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
