"""Published claims: decided by numbers alone, and true of the papers' own."""

from dataclasses import replace
from inspect import cleandoc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.report.claims import CLAIMS, MAX, max_is_above_last, probes_flatten_while_bleu_rises
from probes.report.evidence import Evidence, Moment, Point, evidence_of, of_correlation, published_evidence
from probes.report.findings import Claim, Comparison, Finding, check
from probes.report.runs import models_of, read_run
from report import main
from tests.probes.test_report import evaluation_of, run_of

UNDECIDED = {  # of the papers' own tables
    "words are learnt with epochs",  # Figure 1 is a picture
    "length is forgotten with epochs",
    "probes flatten while bleu rises",
    "position and nesting help together",  # the differences are smaller than the intervals
    "titles hurt",
}


def test_the_papers_own_tables_support_what_the_papers_say() -> None:
    found = {f.name: f.verdict for f in check(CLAIMS, published_evidence())}
    assert {name for name, verdict in found.items() if verdict != "holds"} == UNDECIDED
    assert {found[name] for name in UNDECIDED} == {"cannot tell"}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
def test_a_claim_says_where_it_is_from_and_what_decides_it(claim: Claim) -> None:
    said, _, rule = cleandoc(claim.__doc__ or "").partition("\n\n")
    assert "(" in said
    assert rule


def test_without_runs_nobody_can_tell() -> None:
    assert {f.verdict for f in check(CLAIMS, Evidence())} == {"cannot tell"}


def finding(*comparisons: tuple[float, float]) -> Finding:
    return Finding("x", "", "", [Comparison("", difference, half) for difference, half in comparisons])


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(0.1, 20)), min_size=1, max_size=12))
def test_a_claim_that_holds_fails_when_turned_round(pairs: list[tuple[float, float]]) -> None:
    straight, turned = finding(*pairs), finding(*((-difference, half) for difference, half in pairs))
    if straight.verdict == "holds":
        assert turned.verdict == "fails"
    assert (straight.verdict == "cannot tell") == (turned.verdict == "cannot tell")


@pytest.mark.parametrize(
    ("comparisons", "verdict"),
    [
        ([(5, 1)] * 3 + [(-5, 1)], "holds"),
        ([(5, 1)] * 2 + [(-5, 1)], "fails"),
        ([(5, 1), (5, 9), (-5, 9)], "holds"),
        ([(5, 1), (5, 9), (-5, 9), (5, 9)], "cannot tell"),
        ([(5, 5)], "cannot tell"),
    ],
)
def test_the_verdict_follows_the_rule(comparisons: list[tuple[float, float]], verdict: str) -> None:
    assert finding(*comparisons).verdict == verdict


def test_max_above_last_is_about_trained_encoders_and_not_about_length() -> None:
    scores = {"SentLen": Point(10, 1), "WC": Point(60, 1)}
    lower = {"SentLen": Point(90, 1), "WC": Point(50, 1)}
    evidence = Evidence({(MAX, "NLI"): scores, ("BiLSTM-last", "NLI"): lower, (MAX, "Untrained"): lower})
    assert [c.difference for c in max_is_above_last(evidence)] == [10]


def test_flattening_is_measured_from_the_middle_epoch() -> None:
    moments = [Moment(e, {"Tense": Point(score, 1)}, e) for e, score in enumerate((50, 70, 80, 84, 85))]
    evidence = replace(Evidence(), curves={(MAX, "NMT En-Fr"): moments})
    assert [c.difference for c in probes_flatten_while_bleu_rises(evidence)] == [2, 5 - (85 - 80)]


@pytest.mark.parametrize("models", [5, 25, 400])
def test_a_correlation_is_surer_with_more_models(models: int) -> None:
    assert of_correlation(0.5, models).half > of_correlation(0.5, models + 5).half
    assert (of_correlation(0.8, models).half < 0.8) == (models > 5)


def test_seeds_of_a_model_make_it_surer(tmp_path: Path) -> None:
    runs = [run_of(tmp_path / str(seed), seed=seed) for seed in range(4)]
    one, four = (evidence_of(models_of(map(read_run, some))) for some in (runs[:1], runs))
    name = (MAX, "NMT En-Fr")
    assert one.probing[name]["SentLen"] == Point(72, 2)
    assert four.probing[name]["SentLen"] == Point(72, 1)


def test_the_report_reads_runs_and_evaluations(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    runs = [run_of(tmp_path / name, encoder=name, more=more) for name, more in (("bilstm_max", 9), ("bilstm_last", 0))]
    assert main(["findings", *map(str, runs), str(evaluation_of(tmp_path / "bov", "bov"))]) == 0
    printed = capsys.readouterr().out
    assert "| max is above last |" in printed
    assert "2 for, 0 against, 0 within" in printed
    assert main(["findings"]) == 2
