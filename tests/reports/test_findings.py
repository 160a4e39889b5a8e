"""Published claims: decided by numbers alone, and true of the papers' own."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from encoder_lab.reports.claims import CLAIMS, correlations
from encoder_lab.reports.correlation import correlate, scores_of
from encoder_lab.reports.evidence import EpochScores, Evidence, Point, evidence_of
from encoder_lab.reports.evidence import published_evidence as quoted
from encoder_lab.reports.findings import Comparison, Finding, check_claims, compare_scores
from encoder_lab.reports.table import probing_table
from probes.results import Answers, read_rows, write_rows
from probes.statistics import compare
from report import main
from tests.reports.small_runs import (
    evaluation_of,
    finding_of,
    models,
    of_a_run,
    run_of,
    score_row,
    with_rows,
    with_settings,
)

MAX = "BiLSTM-max"
UNDECIDED = {  # of the papers' own tables
    "words are learnt with epochs",  # Figure 1 is a picture
    "length is forgotten with epochs",
    "probes flatten while bleu rises",
    "odd words stay flat",
    "size helps nli",  # so is Figure 3
    "size does not help nmt",
    "meaning goes with downstream",  # Figure 2 is of more than 40 models
    "structure goes against similarity",
    "question types go with most probes",
    "nesting helps supervised similarity",  # the differences are smaller than the intervals
    "titles hurt",  # the differences are smaller than the intervals
    "together they help more than alone",
    "alone they help here and hurt there",
    "discourse needs deeper layers than other tasks",  # seven tasks and four
    "what follows the referent says more than the whole",  # 6 and 2 points of 273 items
}
RIGHT = np.random.default_rng(1).random((2, 500)) < [[0.70], [0.65]]


def test_the_papers_own_tables_support_what_the_papers_say() -> None:
    findings = check_claims(CLAIMS, quoted())
    verdicts = {finding.name: finding.verdict for finding in findings}
    assert {name for name, verdict in verdicts.items() if verdict != "holds"} == UNDECIDED
    assert {verdicts[name] for name in UNDECIDED} == {"cannot tell"}
    # that do not survive the correction for many comparisons
    changed = {finding.name for finding in findings if finding.corrected.verdict != finding.verdict}
    assert changed == {"max is above last downstream", "seq2tree is above the human bound"}


def test_comparisons_are_corrected_together() -> None:
    nearly = finding(*[(2.1, 2.0)] * 10)  # p = .04 each
    assert (nearly.verdict, nearly.corrected.verdict) == ("holds", "cannot tell")
    clear = finding(*[(3.0, 2.0)] * 10)  # p = .0033 each, 10 times that is below .05
    assert (clear.verdict, clear.corrected.verdict) == ("holds", "holds")
    assert Comparison("", 1.96, 1.96).p_value == pytest.approx(0.05, abs=1e-4)
    same = finding((2.1, 2.0), (0.0, 0.0), (0.0, 0.0))  # equal scores say nothing for a claim
    assert (same.verdict, same.corrected.verdict) == ("holds", "cannot tell")


def test_the_size_of_the_vector_is_judged_from_the_smallest_to_the_largest() -> None:
    def points(score: float) -> dict[str, Point]:
        return {"Tense": Point(score, 0.5), "WC": Point(score, 0.5)}

    sizes = {512: points(70), 1024: points(99), 4096: points(75)}
    evidence = Evidence(sizes={(MAX, "NLI"): sizes, (MAX, "NMT En-Fr"): sizes})
    assert [round(c.difference, 6) for c in finding_of("size helps nli", evidence).comparisons] == [5]
    (nmt,) = finding_of("size does not help nmt", evidence).comparisons
    assert round(nmt.difference, 6) == -3
    assert "4096 over 512 dimensions" in nmt.label


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_claim_says_where_it_is_from_and_compares_something(claim) -> None:
    """The papers print no curves and no sizes as numbers."""
    points = quoted().probing[MAX, "NLI"]
    names = [name for name in quoted().probing if name[0] == MAX]
    curves = {name: [EpochScores(epoch, points, epoch) for epoch in range(4)] for name in names}
    evidence = replace(quoted(), curves=curves, sizes={name: {512: points, 1024: points} for name in names})
    assert "(" in claim.claim
    assert claim.rule
    assert list(claim.compare(evidence))


def finding(*comparisons: tuple[float, float]) -> Finding:
    return Finding("x", "", "", [Comparison("", difference, half) for difference, half in comparisons])


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(0.1, 20)), min_size=1, max_size=12))
def test_a_claim_that_holds_fails_when_turned_round(pairs) -> None:
    straight, turned = finding(*pairs), finding(*((-difference, half) for difference, half in pairs))
    assert turned.verdict == {"holds": "fails", "fails": "holds", "cannot tell": "cannot tell"}[straight.verdict]


@pytest.mark.parametrize(("comparisons", "verdict"), [
    ([(5, 1)] * 3 + [(-5, 1)], "holds"),
    ([(5, 1)] * 2 + [(-5, 1)], "cannot tell"),
    ([(-5, 1)] * 3 + [(5, 1)], "fails"),
    ([(5, 1), (5, 9), (-5, 9)], "holds"),
    ([(5, 1), (5, 9), (-5, 9), (5, 9)], "cannot tell"),
    ([(5, 5)], "cannot tell"),
])  # fmt: skip
def test_the_verdict_follows_the_rule(comparisons, verdict) -> None:
    assert finding(*comparisons).verdict == verdict


def test_max_above_last_is_about_trained_encoders_and_not_about_length() -> None:
    scores = {"SentLen": Point(10, 1), "WC": Point(60, 1)}
    lower = {"SentLen": Point(90, 1), "WC": Point(50, 1)}
    evidence = Evidence({(MAX, "NLI"): scores, ("BiLSTM-last", "NLI"): lower, (MAX, "Untrained"): lower})
    assert [c.difference for c in finding_of("max is above last", evidence).comparisons] == [10]


def test_flattening_is_measured_from_the_middle_epoch() -> None:
    moments = [EpochScores(e, {"Tense": Point(score, 1)}, e) for e, score in enumerate((50, 70, 80, 84, 85))]
    flat = finding_of("probes flatten while bleu rises", replace(Evidence(), curves={(MAX, "NMT En-Fr"): moments}))
    assert [c.difference for c in flat.comparisons] == [2, 5 - (85 - 80)]


@pytest.mark.parametrize(("last", "verdict"), [(25, "holds"), (10.6, "holds"), (10.2, "cannot tell"), (5, "fails")])
def test_flat_probes_are_no_finding_without_rising_bleu(last, verdict) -> None:
    sure = {task: Point(80, 0.1) for task in ("Tense", "BShift", "TopConst", "TreeDepth")}
    flat = {**sure, "SubjNum": Point(80, 10), "ObjNum": Point(80, 10)}
    moments = [EpochScores(epoch, flat, bleu) for epoch, bleu in enumerate((0, 5, 10, 10, last))]
    evidence = replace(Evidence(), curves={(MAX, "NMT En-Fr"): moments})
    finding = finding_of("probes flatten while bleu rises", evidence)
    assert (finding.verdict, finding.corrected.verdict) == (verdict, verdict)


def test_a_correlation_is_significant_where_the_figure_has_it_so() -> None:
    matrix = correlate(*(scores_of(probing_table([], suite)) for suite in ("probing", "downstream")))
    compared = list(correlations(quoted(), ["*"], sign=-1))
    assert [c.sign for c in compared] == np.where(matrix.significant, -np.sign(matrix.rho), 0).ravel().tolist()


@pytest.mark.parametrize(("models", "sign"), [(3, None), (4, 0), (7, 1), (12, 1)])
def test_a_perfect_correlation_is_significant_from_five_models_on(models, sign) -> None:
    pairs = [({"WC": Point(score, 1)}, {"MR": Point(score, 1)}) for score in range(models)]
    compared = correlations(Evidence(pairs=pairs), ["WC"], sign=1)
    assert [c.sign for c in compared] == ([] if sign is None else [sign])


def test_rows_that_a_published_table_repeats_are_not_compared_with_themselves() -> None:
    comparisons = finding_of("linear readout is enough", quoted()).comparisons
    assert len(comparisons) == (24 + 1) * 9  # encoders and BoV; tasks but WC


def run_with_answers(folder: Path, encoder: str, right: np.ndarray, test: str = "t", seed: int = 1) -> Path:
    run = run_of(folder, encoder=encoder, seed=seed, more=100 * right.mean() - 52)
    write_rows(run / "probes.csv", [replace(r, answers=Answers(test, right)) for r in read_rows(run / "probes.csv")])
    return run


def wc_of_max_and_last(*folders: Path) -> Comparison:
    by_task = {c.label[:2]: c for c in finding_of("max is above last", evidence_of(models(*folders))).comparisons}
    return by_task["WC"]


@pytest.mark.parametrize(("test", "paired"), [("t", True), ("other", False)])
def test_models_with_the_same_test_items_are_compared_item_by_item(tmp_path, test, paired) -> None:
    first = run_with_answers(tmp_path / "a", "bilstm_max", RIGHT[0])
    second = run_with_answers(tmp_path / "b", "bilstm_last", RIGHT[1], test)
    expected = compare(RIGHT[0], RIGHT[1])
    half = (expected.high - expected.low) / 2 if paired else math.hypot(2, 2)
    comparison = wc_of_max_and_last(first, second)
    assert (comparison.difference, comparison.margin) == pytest.approx((expected.difference, half), abs=0.01)
    assert comparison.paired == paired


@pytest.mark.parametrize("evaluated", [False, True])
def test_paired_seeds_that_differ_alike_have_only_the_variance_of_the_items(tmp_path, evaluated) -> None:
    pairs = [(np.roll(RIGHT[0], seed), np.roll(RIGHT[1], seed)) for seed in range(3)]
    folders = [
        run_with_answers(tmp_path / f"{encoder} {place}", encoder, right, f"t{seed}", 1 if evaluated else seed)
        for seed, pair in enumerate(pairs)
        for encoder, right, place in zip(("bilstm_max", "bilstm_last"), pair, (seed, 9 - seed), strict=True)
    ]
    if evaluated:  # the seed of the evaluation is that of the classifiers, and the same for all
        folders = [with_settings(f, f"model: r{at // 2}\n{of_a_run(at // 2)}") for at, f in enumerate(folders)]
    expected = compare(RIGHT[0], RIGHT[1])
    comparison = wc_of_max_and_last(*sorted(folders))
    assert comparison.margin == pytest.approx((expected.high - expected.low) / 2)
    assert comparison.paired
    assert not wc_of_max_and_last(*folders[:-1]).paired


def test_means_over_tasks_are_compared_item_by_item_where_all_their_tasks_can_be() -> None:
    def scores(right: np.ndarray, test: str) -> dict[str, Point]:
        return dict.fromkeys(("SParxiv", "SPwiki", "BSOdemo"), Point(100 * right.mean(), 4, (Answers(test, right),)))

    def titles_hurt(test: str) -> list[Comparison]:
        models = {"Baseline (NSP)": scores(RIGHT[0], "t"), "+ SDT": scores(RIGHT[1], test)}
        evidence = Evidence(discoeval={("BiGRU", name): points for name, points in models.items()})
        return finding_of("titles hurt", evidence).comparisons

    low, high = compare(*RIGHT)[1:3]
    paired, apart = (high - low) / 2, math.hypot(4, 4)
    for test, item in (("t", paired), ("other", apart)):
        mean, position, order = titles_hurt(test)
        assert [c.paired for c in (mean, position, order)] == [test == "t"] * 3
        assert (position.margin, order.margin) == pytest.approx((item / math.sqrt(2), item))
        assert mean.margin == pytest.approx(math.hypot(position.margin, order.margin) / 2)


def test_a_seed_that_moves_all_tasks_makes_their_mean_as_unsure_as_each(tmp_path) -> None:
    folders = []
    for seed, right in enumerate((RIGHT, RIGHT[::-1])):
        for encoder, items in zip(("bigru_mean", "bov"), right, strict=True):
            row = score_row("SParxiv", 100 * items.mean(), "discoeval", seed=seed, answers=Answers("t", items))
            rows = [replace(row, task=task, test_low=0, test_high=90) for task in ("SParxiv", "SPwiki", "SProc")]
            folders.append(with_rows(run_of(tmp_path / f"{encoder}{seed}", encoder, seed), *rows))
    reported = models(*folders)
    cell = probing_table(reported, "discoeval", published_names=[]).rows[0].cells["SP"]
    ours, theirs = evidence_of(reported).tables["groups"].values()
    (score, half), (other, _) = ours["SP"][:2], theirs["SP"][:2]
    seeds = t.isf(0.025, 1) * 100 * abs(RIGHT[0].mean() - RIGHT[1].mean()) / 2
    assert (cell.score, cell.score - cell.low) == pytest.approx((score, half))
    assert half == pytest.approx(math.hypot(seeds, 45 / 3**0.5))
    items = compare(*RIGHT)
    expected = math.hypot(2 * seeds, (items.high - items.low) / 2 / 3**0.5)
    compared = compare_scores(ours["SP"], theirs["SP"], "")
    assert (compared.margin, compared.paired) == (pytest.approx(expected, abs=0.1), True)
    assert score == pytest.approx(other)


@pytest.mark.parametrize(("order", "verdict"), [(70, "cannot tell"), (67, "holds")])
def test_a_loss_that_helps_one_discourse_task_and_hurts_none_has_no_complex_effects(order, verdict) -> None:
    base = {task: Point(70, 1) for task in ("DC", "BSO", "SP")}
    loss = base | {"DC": Point(80, 1), "BSO": Point(order, 1)}
    models = {"Baseline (NSP)": base, "+ SPP": loss, "+ NL": loss}
    evidence = Evidence(discoeval={("BiGRU", name): points for name, points in models.items()})
    assert finding_of("alone they help here and hurt there", evidence).verdict == verdict


def test_a_report_says_how_many_comparisons_are_paired(tmp_path, capsys) -> None:
    encoders = "bilstm_max", "bilstm_last"
    runs = [run_with_answers(tmp_path / e, e, right) for e, right in zip(encoders, RIGHT, strict=True)]
    assert main(["findings", *map(str, runs)]) == 0
    assert "\n6 of 7 comparisons are paired.\n" in capsys.readouterr().out  # all but that of BLEU


def test_the_report_has_every_claim_or_one_with_every_comparison(tmp_path, capsys) -> None:
    runs = [run_of(tmp_path / name, encoder=name, more=more) for name, more in (("bilstm_max", 9), ("bilstm_last", 0))]
    findings = ["findings", *map(str, runs), str(evaluation_of(tmp_path / "bov", "bov"))]
    assert main(findings) == 0
    printed = capsys.readouterr().out
    assert "| max is above last |" in printed
    assert "2 for, 0 against, 0 within" in printed
    assert main([*findings, "claim=max_is_above_last"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "max is above last: holds (with Holm's correction: holds)"
    assert [line.split(",")[0].split() for line in lines[4:]] == [["for", "WC"], ["for", "BShift"]]
    assert main([*findings, "claim=nonsense"]) == 2


def test_a_claim_alone_tells_which_of_two_models_of_one_name_it_judges(tmp_path, capsys) -> None:
    runs = [str(run_of(tmp_path / str(dim), dim=dim)) for dim in (64, 32)]
    assert main(["findings", *runs, "claim=max_is_above_last"]) == 0
    assert "the first is judged; others count in correlations and sizes alone: BiLSTM-max" in capsys.readouterr().err


def test_runs_without_anything_to_compare_are_told_what_a_claim_needs(tmp_path, capsys) -> None:
    assert main(["findings", str(evaluation_of(tmp_path / "bov", "bov"))]) == 0
    printed = capsys.readouterr().out
    assert "give the folders" in printed
    assert "|" not in printed
