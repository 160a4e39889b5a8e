"""What findings read of run folders: scores by model, curves, sizes, and which models are left out or named."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder_lab.errors import InputError
from encoder_lab.reports.commands import model_panel
from encoder_lab.reports.evidence import Point, epoch_scores_of, evidence_of
from encoder_lab.reports.models import models_of
from encoder_lab.reports.runs import Run, final_rows, read_run, rows_by_one_reader
from encoder_lab.storage.csv_files import upsert_csv
from probes.probing.tasks import share_rated_modified
from probes.results import Answers, ProbeRow, read_rows, write_rows
from probes.task import Items
from tests.reports.small_runs import (
    evaluation_of,
    finding_of,
    models,
    run_of,
    score_row,
    with_rows,
    with_settings,
)

MAX = "BiLSTM-max"
NMT_FR = (MAX, "NMT En-Fr")
EPOCHS, READERS = st.sampled_from([0, 1, 2, 3, 0.25, 1.5, 5]), st.sampled_from(["mlp", "logreg"])
SCORED = st.tuples(EPOCHS, st.sampled_from("AB"), READERS, st.sampled_from(["probing", "downstream"]))


def test_sizes_are_those_of_runs_that_differ_in_the_size_alone(tmp_path) -> None:
    other = with_settings(run_of(tmp_path / "other", dim=4096), "  layers: 1\n")
    folders = [run_of(tmp_path / "a", dim=512), run_of(tmp_path / "b", dim=1024), other]
    assert [*evidence_of(models(*folders)).sizes["BiLSTM-max", "NMT En-Fr"]] == [512, 1024]


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize(("modified", "verdict"), [(8, "holds"), (4, "fails")])
def test_the_bias_of_an_untrained_encoder_is_read_from_its_evaluation(tmp_path, modified, verdict, joined) -> None:
    """Ten test sentences, 200 times: `modified` of ten are called so. `joined`: to another evaluation of the model."""
    folder = evaluation_of(tmp_path / "a", "untrained/bilstm_max", "probing", task="SOMO", objective="untrained")
    (row,) = read_rows(folder / "probes.csv")
    hard = replace(row, suite="hard", answers=Answers("h", np.ones(9, bool)))
    write_rows(folder / "probes.csv", [replace(row, answers=Answers("t", np.ones(2000, bool))), hard])
    predicted = np.array([0] * modified + [1] * (10 - modified))
    (measure,) = share_rated_modified(predicted, Items((), predicted)).items()
    details = {"task": "SOMO", "measure": measure[0], "score": measure[1]}
    upsert_csv(folder / "details.csv", [details], ("task", "measure"))
    other = evaluation_of(tmp_path / "b", "untrained/bilstm_max", objective="untrained") if joined else None
    (model,) = models_of(map(read_run, filter(None, [other, folder])))
    bias = finding_of("untrained encoders call odd words everywhere", evidence_of([model]))
    assert (bias.verdict, bias.comparisons[0].difference) == (verdict, pytest.approx(10 * modified - 60))
    (folder / "details.csv").write_text("task,measure,score\nSOMO,other,many\n")
    with pytest.raises(InputError, match=r"details.csv:2: score is 'many'; evaluate the model again"):
        evidence_of([model])


def test_the_curve_of_a_model_is_the_mean_of_its_seeds(tmp_path) -> None:
    of_seeds = (), (5.0, 9.0, 7.0), (5.0, 7.0)  # one has just begun, one ended early
    runs = [run_of(tmp_path / str(seed), seed=seed, more=3.0 * seed, dev=dev) for seed, dev in enumerate(of_seeds)]
    evidence = evidence_of(models(*runs))
    assert [m.probing["WC"].score for m in evidence.curves[NMT_FR]] == [53, 54, 55, 56]
    assert [m.bleu for m in evidence.curves[NMT_FR]] == [None, 5, 8, 7]
    # at 3 it would be the mean of one seed
    assert model_panel(*models(*runs), "probing", "mlp", "").objective.x == [1, 2]


@given(st.lists(st.lists(SCORED, max_size=9, unique=True), min_size=1, max_size=3))
def test_a_moment_of_a_curve_is_the_table_of_its_epoch(keys) -> None:
    runs = [
        Run(Path(), "e", "o", {}, [ProbeRow(e, 1, s, t, c, 1.0, i, 0, 9, {}, seed, 0.1) for i, (e, t, c, s) in key], [])
        for seed, key in enumerate(map(enumerate, keys))
    ]
    of_one = rows_by_one_reader([run.rows for run in runs], "mlp")
    alone = [replace(run, rows=rows) for run, rows in zip(runs, of_one, strict=True)]
    for moment in epoch_scores_of(runs):
        probed = [[row.epoch for row in run.rows if row.suite == "probing"] for run in alone]
        assert all(min(epochs) <= moment.epoch for epochs in probed if epochs)  # later scores are not of this epoch
        at = [final_rows(run, "probing", str(moment.epoch), "mlp") for run in alone]
        expected = {task: [rows[task].test_accuracy for rows in at if task in rows] for rows in at for task in rows}
        assert {task: point.score for task, point in moment.probing.items()} == {
            task: pytest.approx(sum(scores) / len(scores)) for task, scores in expected.items()
        }


def test_a_score_that_is_not_bleu_is_not_taken_for_it(tmp_path) -> None:
    evidence = evidence_of(models(run_of(tmp_path / "a", score="val/perplexity")))
    assert {m.bleu for m in evidence.curves[NMT_FR]} == {None}


def test_models_that_share_a_name_are_named_and_correlated(tmp_path) -> None:
    runs = [run_of(tmp_path / str(dim), dim=dim) for dim in (512, 1024)]
    evidence = evidence_of(models(*runs, *(evaluation_of(tmp_path / f"of {run.name}", run) for run in runs)))
    assert len(evidence.pairs) == 2
    assert "BiLSTM-max, NMT En-Fr (dim=1024)" in evidence.notes[-1]


def test_claims_about_naive_bayes_read_our_baselines_and_correlations_do_not(tmp_path) -> None:
    folders = []
    for name, order in (("nb-uni-tfidf", 50.0), ("nb-bi-tfidf", 68.0)):
        rows = [score_row(task, s, reader=name, epoch=0) for task, s in (("BShift", order), ("SOMO", 40), ("WC", 90))]
        config = f"model: {name}\nseed: 1\nencoder_name: baseline\nobjective_name: {name}\n"
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.yaml").write_text(config)
        write_rows(tmp_path / name / "probes.csv", [*rows, score_row("MR", 70, "downstream", name, epoch=0)])
        folders.append(tmp_path / name)
    evidence = evidence_of(models(*folders))
    below = finding_of("words are below chance on odd words", evidence)
    bigrams = finding_of("bigrams help only with order", evidence)
    assert (len(below.comparisons), below.verdict) == (2, "holds")
    compared = [(c.label.split(",")[0], c.needed, c.difference) for c in bigrams.comparisons]
    assert compared == [("BShift", True, 18), ("SOMO", False, 5), ("WC", False, 5)]
    assert not evidence.pairs


def test_logistic_regression_evaluated_afterwards_is_read_with_the_mlp(tmp_path) -> None:
    run = run_of(tmp_path / "run")
    rows = [score_row(task, 60, reader="logreg") for task in ("SentLen", "BShift")]
    folder = with_rows(evaluation_of(tmp_path / "linear", run), *rows)
    for at in (run, folder):
        with_settings(at, "probes:\n  paths: [trees]\n  source:\n    paths: [trees]\n")
    evidence = evidence_of(models(run, folder))
    assert evidence.logistic[NMT_FR] == {"SentLen": Point(60, 2), "BShift": Point(60, 2)}
    enough = finding_of("linear readout is enough", evidence)
    assert {c.difference for c in enough.comparisons} == {60 + 5 - 72, 60 + 5 - 62}


@pytest.mark.parametrize("last", ["mlp", "logreg"])
def test_downstream_scores_are_by_logistic_regression_where_there_are_both(tmp_path, last) -> None:
    scores = sorted({"mlp": 70.0, "logreg": 80.0}.items(), key=lambda pair: pair[0] == last)
    rows = [score_row("MR", score, "downstream", reader) for reader, score in scores]
    run = replace(read_run(run_of(tmp_path / "run")), rows=rows)
    assert evidence_of(models_of([run])).downstream[NMT_FR]["MR"].score == 80


def test_discourse_runs_have_the_names_of_the_papers_table(tmp_path) -> None:
    names = {"[nsp]": "Baseline (NSP)", "[nsp, nl, spp]": "+ SPP + NL", "[nsp, spp, nl, sdt]": "Discourse"}
    for losses, name in (names | {"[nl]": "Discourse"}).items():
        config = f"objective: {{losses: {losses}}}"
        run = with_settings(run_of(tmp_path / losses, objective="discourse"), f"{config}\n")
        settings = f"run: {{{config}}}\n"
        scored = evaluation_of(tmp_path / f"of {losses}", "gone", objective="discourse", settings=settings)
        assert [model.objective for model in models(run, scored)] == [name, name]


def test_findings_name_the_models_without_scores_at_the_requested_epoch(tmp_path) -> None:
    run = run_of(tmp_path / "run")
    with_rows(run, *(row for row in read_rows(run / "probes.csv") if row.epoch == 0))
    note = "At epoch 0, as the requested one has no scores: BiLSTM-max, NMT En-Fr."
    assert note in evidence_of(models(run), "last").notes
    assert note not in evidence_of(models(run), "0").notes
    unscored = with_rows(run_of(tmp_path / "unscored", seed=2))
    assert evidence_of(models(run, unscored), "0").notes[-1].startswith("1 of 1 models have one seed")
