"""The claims of Beyer et al. 2021 on the paper's own tables, and on made-up scores."""

import math

import pytest

from encoder_lab.reports.claims import CLAIMS
from encoder_lab.reports.evidence import Evidence, Point, published_evidence
from encoder_lab.reports.findings import check
from encoder_lab.reports.published import published
from probes.coherence.world import world_suites
from tests.reports.small_runs import finding_of


def verdict(claim: str, **scores: float) -> str:
    evidence = Evidence(coherence={("small", "language model"): {task: Point(s, 3) for task, s in scores.items()}})
    return finding_of(claim, evidence).verdict


def test_controls_decide_nothing() -> None:
    points = {"story_cloze": Point(90, 1), "speaker_commitment": Point(10, 1)}
    findings = check(CLAIMS, Evidence(coherence={("Baselines", "Unigram"): points}))
    assert {finding.verdict for finding in findings} == {"cannot tell"}


@pytest.mark.parametrize(("score", "said"), [(50, "holds"), (58, "cannot tell"), (42, "cannot tell"), (70, "fails")])
def test_a_story_before_its_end_is_near_chance(score: float, said: str) -> None:
    assert verdict("the order before the end of a story is not", shuffle_narration_context=score) == said


@pytest.mark.parametrize(("dialogue", "said"), [(90, "holds"), (80, "cannot tell"), (70, "fails")])
def test_dialogue_is_compared_with_narration(dialogue: float, said: str) -> None:
    scores = {"shuffle_dialogue_all": dialogue, "shuffle_narration_all": 80}
    assert verdict("dialogue is easier than narration", **scores) == said


@pytest.mark.parametrize(("score", "said"), [(50, "holds"), (60, "cannot tell"), (80, "fails")])
def test_pronouns_are_preferred_where_scores_are_high(score: float, said: str) -> None:
    assert verdict("pronouns are not preferred to repeated phrases", remention=score) == said


@pytest.mark.parametrize(("best", "said"), [(90, "holds"), (62, "cannot tell"), (50, "fails")])
def test_connectives_differ_where_the_best_is_far_above_the_worst(best: float, said: str) -> None:
    assert verdict("connectives differ by sense", connectives_cause=50, connectives_contrast=best) == said


def test_the_table_of_connectives_is_the_papers() -> None:
    for model, causal, temporal in (
        ("GPT-2", [44, 80, 28, 64, 72, 80], 96),
        ("DialoGPT", [64, 68, 40, 84, 80, 88], 95),
    ):
        points = published_evidence().coherence["", model]
        assert points["connectives_as_causal"].score == pytest.approx(sum(causal) / 6)
        cells = {row.task: row.score for row in published("beyer2021_table4") if row.model == model}
        assert cells["connectives_since_temporal although"] == temporal
        assert len(cells) == 22 * 6


def test_connectives_without_numbers_of_items_decide_nothing() -> None:
    points = {"connectives_as": Point(90, math.inf), "connectives_yet": Point(50, math.inf)}
    evidence = Evidence(coherence={("small", "language model"): points})
    assert finding_of("connectives differ by sense", evidence).verdict == "cannot tell"


def test_the_claim_about_pronouns_is_not_about_the_forms_of_the_embedded_world() -> None:
    assert verdict("pronouns are not preferred to repeated phrases", mention_form=50) == "cannot tell"
    assert "mention_form" in {suite.name for suite in world_suites(2, seed=1)}
