"""The claims of Chen et al. 2019 on the paper's own tables, and on made-up scores."""

import pytest

from encoder_lab.reports.claim_rules import NSP, layers_of
from encoder_lab.reports.evidence import Evidence, Point, groups, published_evidence
from encoder_lab.reports.published import published
from probes.discoeval import FACTS
from tests.reports.small_runs import finding_of

DISCOEVAL = tuple(FACTS.groups.values())


def points(score: float, half: float = 1, **others: float) -> dict[str, Point]:
    """The same score for all seven groups, but others where named (SP, BSO, DC, SSP)."""
    return {task: Point(others.get(task, score), half) for task in DISCOEVAL}


@pytest.mark.parametrize(("titles", "verdict"), [(45, "holds"), (50, "cannot tell"), (55, "fails")])
def test_titles_hurt_where_scores_fall(titles: float, verdict: str) -> None:
    evidence = Evidence(discoeval={NSP: points(50), ("BiGRU", "+ SDT"): points(titles)})
    assert finding_of("titles hurt", evidence).verdict == verdict


@pytest.mark.parametrize(("bert", "verdicts"), [(60, ["holds", "fails"]), (40, ["fails", "holds"])])
def test_bert_is_compared_with_the_others(bert: float, verdicts: list[str]) -> None:
    evidence = Evidence(
        discoeval={("", "BERT-Base"): points(bert), NSP: points(50), ("BERT-Base", "layer 3"): points(99)}
    )
    claims = "bert has the highest mean", "bert is not best at coherence"
    assert [finding_of(claim, evidence).verdict for claim in claims] == verdicts


def test_domains_are_averaged_into_groups() -> None:
    scores = {"SParxiv": Point(40, 3), "SProc": Point(50, 4), "SSPabs": Point(70, 1), "RST": Point(5, 1)}
    means = groups({**scores, "SP without context": Point(99, 1)})
    assert {task: point.score for task, point in means.items()} == {"SP": 45, "SSP": 70, "RST-DT": 5}
    assert means["SP"].half == 2.5


def test_layers_are_in_the_order_of_their_numbers() -> None:
    scores = {("B", f"layer {i}"): {"SP": Point(i, 1)} for i in (10, 9, 0)}
    assert [layer["SP"].score for layer in layers_of({**scores, ("B", "NMT"): {}})["B"].values()] == [0, 9, 10]


@pytest.mark.parametrize(("step", "verdict"), [(5, "holds"), (-5, "fails")])
def test_deeper_layers_are_compared_with_shallow_ones(step: int, verdict: str) -> None:
    evidence = Evidence(discoeval={("B", f"layer {i}"): points(50 + i * step) for i in range(4)})
    assert finding_of("deeper layers know more of discourse", evidence).verdict == verdict


def test_the_best_layers_of_the_paper_are_those_of_its_table_3() -> None:
    comparisons = finding_of("discourse needs deeper layers than other tasks", published_evidence()).comparisons
    by_model = {c.about[:4]: c for c in comparisons}
    assert "1.3 for DiscoEval and 0.8 for SentEval" in by_model["ELMo"].about
    assert "8.9 for DiscoEval and 5.0 for SentEval" in by_model["BERT"].about  # layers 5, 7 and 10 tie on SSP


def test_ablations_are_compared_with_the_whole_task_of_the_same_model() -> None:
    scores = {"DC": Point(60, 1), "DC without hidden layer": Point(52, 1), "SP without context": Point(43, 1)}
    evidence = Evidence(discoeval={("a", "b"): scores, ("a", "c"): {"SProc": Point(40, 1), **scores}})
    assert [c.difference for c in finding_of("coherence needs a hidden layer", evidence).comparisons] == [8, 8]
    assert [c.difference for c in finding_of("context helps position", evidence).comparisons] == [-3]


@pytest.mark.parametrize(("model", "verdict"), [(50, "holds"), (95, "fails")])
def test_the_papers_person_is_compared_with_the_best_model(model: float, verdict: str) -> None:
    evidence = Evidence(discoeval={NSP: points(model), ("", "ELMo"): points(40)})
    assert finding_of("people are far above models", evidence).verdict == verdict


def test_the_corrected_table_has_the_mean_of_its_seven_groups() -> None:
    rows = published("chen2019_readme")
    for model in {row.model for row in rows}:
        scores = {row.task: row.score for row in rows if row.model == model}
        assert sum(scores[task] for task in DISCOEVAL) / 7 == pytest.approx(scores["avg."], abs=0.15)
