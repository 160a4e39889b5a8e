"""Two models: laws of the comparison, and what the report writes."""

import csv
import io
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from encoder_lab.errors import InputError
from encoder_lab.reports.compare import TaskComparison, compare_models, two_models
from encoder_lab.reports.evidence import evidence_of
from encoder_lab.reports.findings import compare_scores
from probes.correlations import make_domain
from probes.results import Answers, read_rows
from probes.statistics import compare, compare_over_seeds, compare_unpaired
from report import main
from tests.reports.small_runs import run_of, score_row, with_rows

RIGHT = np.random.default_rng(1).random((2, 3, 300)) < np.array([0.8, 0.6])[:, None, None]
GOLD = np.random.default_rng(2).random(300)
correlations = st.lists(st.floats(0, 100).map(lambda r: (r, r - 3.0, r + 2.0)), min_size=1, max_size=4)


def models_in(folder: Path, right: np.ndarray, test: str = "t") -> None:
    """Folders a and b with a run for each seed of `right (2, S, N)`; SICK-R has no answers, STS12 is a correlation."""
    for name, encoder, seeds in zip("ab", ("bilstm_max", "bov"), right, strict=True):
        for seed, items in enumerate(seeds, 1):
            about: dict[str, Any] = {"score": 100 * items.mean(), "half": 4, "seed": seed}
            answers = Answers(test if name == "b" else "t", items)
            predictions = answers._replace(right=items[:0], domains=(make_domain(items.mean(), items + GOLD),))
            with_rows(
                run_of(folder / name / str(seed), encoder, seed),
                score_row("WC", reader="logreg", answers=answers, **about),
                score_row("SICK-R", suite="downstream", reader="ridge", **about),
                score_row("STS12", suite="downstream", reader="cosine", answers=predictions, **about),
            )


def width(comparison: TaskComparison) -> float:
    return comparison.difference.high - comparison.difference.low


def compared(folder: Path, *names: str) -> dict[str, TaskComparison]:
    (_, first), (_, second) = two_models([folder / name for name in names])
    return {c.task: c for c in compare_models(first, second)}


@pytest.mark.parametrize("seeds", [1, 3])
def test_a_model_does_not_differ_from_itself_and_swapping_two_negates(tmp_path, seeds) -> None:
    models_in(tmp_path, RIGHT[:, :seeds])
    assert {(c.difference.difference, c.difference.p_value) for c in compared(tmp_path, "a", "a").values()} == {(0, 1)}
    forth, back = compared(tmp_path, "a", "b"), compared(tmp_path, "b", "a")
    for task in ("WC", "SICK-R", "STS12"):
        first, second = forth[task].difference, back[task].difference
        assert (first.difference, first.p_value) == pytest.approx((-second.difference, second.p_value))
        assert (first.low, first.high) == pytest.approx((-second.high, -second.low), abs=1)


@given(correlations, correlations)
def test_scores_without_answers_keep_the_laws(first, second) -> None:
    assert compare_unpaired(first, first)[::3] == (0, 1)
    forth, back = compare_unpaired(first, second), compare_unpaired(second, first)
    assert forth == pytest.approx((-back.difference, -back.high, -back.low, back.p_value))


def test_one_seed_is_compared_item_by_item_as_in_findings_and_other_items_are_not_paired(tmp_path) -> None:
    models_in(tmp_path / "same", RIGHT[:, :1])
    tasks = compared(tmp_path / "same", "a", "b")
    assert tasks["WC"].difference == compare(*RIGHT[:, 0])
    assert [tasks[task].paired for task in ("WC", "STS12", "SICK-R")] == [True, True, False]
    models_in(tmp_path / "other", RIGHT[:, :1], test="others")
    apart = compared(tmp_path / "other", "a", "b")
    assert not any(comparison.paired for comparison in apart.values())
    assert width(apart["WC"]) == pytest.approx(2 * 4 * 2**0.5)


def test_findings_and_the_comparison_have_one_interval_and_one_p_value(tmp_path) -> None:
    models_in(tmp_path, RIGHT)
    (_, first), (_, second) = two_models([tmp_path / "a", tmp_path / "b"])
    tasks = compared(tmp_path, "a", "b")
    for suite, task in (("probing", "WC"), ("downstream", "STS12")):
        points = [next(iter(getattr(evidence_of([model]), suite).values()))[task] for model in (first, second)]
        finding, difference = compare_scores(*points, ""), tasks[task].difference
        assert (finding.margin, finding.paired) == (width(tasks[task]) / 2, True)
        assert finding.p_value == pytest.approx(difference.p_value, rel=0.01)  # scores have two decimals


@pytest.mark.parametrize(("items_differ", "seeds_differ"), [(1.0, 0.0), (0.2, 0.6)])
def test_p_values_are_uniform_where_models_do_not_differ(items_differ, seeds_differ) -> None:
    rng = np.random.default_rng(5)
    p_values = []
    for _ in range(100):
        of_seeds, of_items = rng.normal(0, seeds_differ, (2, 4, 1)), rng.normal(0, items_differ, (2, 1, 200))
        first, second = of_seeds + of_items + rng.normal(0, 1, 200) > 0
        p_values.append(compare_over_seeds([compare(a, b) for a, b in zip(first, second, strict=True)]).p_value)
    assert np.mean(np.array(p_values) <= 0.05) < 0.1
    assert kstest(p_values, "uniform").pvalue > 0.001


@pytest.mark.parametrize("form", ["text", "csv", "latex"])
def test_the_report_says_effect_interval_and_corrected_p(tmp_path, form, capsys) -> None:
    models_in(tmp_path, RIGHT)
    with_rows(run_of(tmp_path / "a" / "4", seed=4))  # has no scores
    with_rows(tmp_path / "a" / "3", *(row for row in read_rows(tmp_path / "a/3/probes.csv") if row.task != "SICK-R"))
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), f"format={form}"]) == 0
    printed = capsys.readouterr().out
    if form == "csv":
        row = next(row for row in csv.DictReader(io.StringIO(printed)) if row["task"] == "WC")
        words = compared(tmp_path, "a", "b")["WC"]
        assert float(row["difference"]) == pytest.approx(words.difference.difference, rel=1e-4)
        assert float(row["p_holm"]) == pytest.approx(words.corrected, rel=1e-4)
        assert row["paired"] == "true"
    else:
        assert "A: BiLSTM-max, NMT En-Fr (3 seeds)." in printed
        assert "Not paired: SICK-R" in printed
        assert "Of fewer seeds: SICK-R (A 2)." in printed


def test_two_runs_that_differ_in_seed_can_be_compared_and_three_models_are_refused(tmp_path) -> None:
    models_in(tmp_path, RIGHT)
    (first, _), (second, _) = two_models([tmp_path / "a" / "1", tmp_path / "a" / "2"])
    assert (first, second) == ("BiLSTM-max, NMT En-Fr (1)", "BiLSTM-max, NMT En-Fr (2)")
    assert [len(model.runs) for _, model in two_models([tmp_path])] == [3, 3]
    with pytest.raises(InputError, match="these are 1: BiLSTM-max"):
        two_models([tmp_path / "a"])


def test_the_report_says_where_classifiers_and_epochs_differ_too(tmp_path, capsys) -> None:
    first, second = run_of(tmp_path / "a"), run_of(tmp_path / "b", "bov")
    early = [row for row in read_rows(second / "probes.csv") if row.epoch < 2]
    with_rows(second, *(replace(row, classifier="logreg") if row.task == "WC" else row for row in early))
    assert main(["compare", str(first), str(second), "epoch=3"]) == 0
    printed = capsys.readouterr().out
    assert "as the classifiers do: WC (A mlp, B logreg)." in printed
    assert "At epoch 1, as the requested one has no scores: BoV" in printed


def test_the_test_of_one_task_is_not_corrected(tmp_path, capsys) -> None:
    for name in "ab":
        run_of(tmp_path / name)
        rows = read_rows(tmp_path / name / "probes.csv")
        with_rows(tmp_path / name, *(row for row in rows if row.task == rows[0].task))
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    assert "Holm's correction" not in capsys.readouterr().out


def test_tasks_of_one_name_have_their_suite_and_scores_in_two_units_have_no_difference(tmp_path, capsys) -> None:
    for name, reader in (("a", "loss"), ("b", "error")):
        probed, answers = read_rows(run_of(tmp_path / name) / "probes.csv"), Answers("t", RIGHT[0, 0])
        rows = [replace(row, answers=answers) for row in probed]
        used = [score_row("WC", 9, "use", reader), score_row("SOMO", 9, "use", "loss")]
        used.append(score_row("Tense", math.nan, "use", "loss"))  # of a decoder that diverged
        with_rows(tmp_path / name, *rows, *used)
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    printed = capsys.readouterr().out
    assert "classifiers do: use WC (A loss, B error)." in printed
    assert "in points; in nats/1000: use WC, Tense, SOMO. Paired" in printed
    assert "Not paired: use WC, Tense, SOMO (" in printed
    assert "Holm's correction over 4 tasks" in printed
    assert "use WC 9.0 9.0 +nan +nan +nan nan nan" in [" ".join(line.split()) for line in printed.splitlines()]


@pytest.mark.parametrize(("suite", "said"), [("bits", True), ("gain", False), ("probing", False)])
def test_the_report_says_where_a_smaller_score_is_the_better_one(tmp_path, capsys, suite, said) -> None:
    for name in ("a", "b"):
        with_rows(run_of(tmp_path / name), score_row("WC", 9, suite, "logreg"))
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), f"suite={suite}"]) == 0
    assert (f"A smaller score is the better one in {suite}." in capsys.readouterr().out) == said


def test_a_table_of_gains_says_of_what_they_are_percent(tmp_path, capsys) -> None:
    with_rows(run_of(tmp_path / "a"), score_row("WC", 9, "gain", "logreg"))
    assert main(["table", str(tmp_path / "a"), "suite=gain"]) == 0
    assert "Scores in % of the uniform code saved (online, linear)" in capsys.readouterr().out
