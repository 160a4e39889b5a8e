"""Every epoch kept, steps within the first, a suite added later, a run that begins with another."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch

from benchmarks.memory import END_OF_EPOCH
from encoder_lab.errors import InputError
from encoder_lab.reports.commands import panels_of
from encoder_lab.reports.models import models_of, one_run_per_seed
from encoder_lab.reports.runs import read_run, run_folders
from encoders import load_encoder
from probes.results import ProbeRow, read_rows
from tests.test_evaluate import scored
from tests.test_resume import scores
from tests.test_train import assert_same_weights

OF_NLI = ["objective=nli", "trainer.max_epochs=1"]
OF_WHAT_IT_BEGINS_WITH = "objective.", "embeddings.bucket", "embeddings.words"


class Dense(NamedTuple):
    """A run that keeps every epoch and some steps, and what it printed."""

    folder: Path
    printed: str


@pytest.fixture(scope="module")
def dense(lab, tmp_path_factory) -> Dense:
    run = tmp_path_factory.mktemp("runs") / "dense"
    more = ["checkpoints.keep=every", "checkpoints.steps=[1,4]", "probes.steps=[1,4]", "checkpoints.every_n_steps=4"]
    return Dense(run, lab.succeed(*lab.settings(run, *more)))


def epochs(rows: list[ProbeRow]) -> list[float]:
    return list(dict.fromkeys(row.epoch for row in rows))


def test_probing_and_keeping_within_an_epoch_never_change_training(dense, finished_run) -> None:
    assert_same_weights(dense.folder, finished_run)
    assert [row for row in scores(dense.folder) if isinstance(row.epoch, int)] == scores(finished_run)


def test_steps_are_rows_within_the_first_epoch(dense) -> None:
    rows = read_rows(dense.folder / "probes.csv")
    last = next(row.step for row in rows if row.epoch == 1)
    assert epochs(rows) == [0, round(1 / last, 6), round(4 / last, 6), 1, 2]
    assert all(row.answers for row in rows)


def test_probing_after_each_power_of_two_needs_no_end_of_the_run(lab, tmp_path) -> None:
    lab.succeed(*lab.settings(tmp_path / "log", "probes.steps=log", "probes.tasks=[SentLen]"))
    steps = {row.step for row in read_rows(tmp_path / "log" / "probes.csv")}
    last = max(steps)
    assert {1 << power for power in range(last.bit_length()) if 1 << power <= last} <= steps


def test_every_epoch_loads_and_is_the_encoder_of_that_epoch(dense) -> None:
    last = torch.load(dense.folder / "checkpoints" / "last.ckpt", weights_only=True)["state_dict"]
    weights = torch.load(dense.folder / "checkpoints" / "epoch-2.ckpt", weights_only=True)["state_dict"]
    assert all(torch.equal(last[name], weights[name]) for name in last)
    vectors = [load_encoder(dense.folder, epoch=epoch).encode(["the dog sleeps ."]) for epoch in (0, 1, 2)]
    assert not np.array_equal(vectors[0], vectors[1])
    assert not np.array_equal(vectors[1], vectors[2])


def test_an_epoch_that_is_not_kept_is_answered_with_those_that_are(dense, finished_run) -> None:
    with pytest.raises(InputError, match=r"no checkpoint of epoch 7; there are 0, 1, 2,"):
        load_encoder(dense.folder, epoch=7)
    with pytest.raises(InputError, match=r"no checkpoint of epoch 0; .*checkpoints.keep=every"):
        load_encoder(finished_run, epoch=0)
    assert load_encoder(finished_run, epoch=2).dim == 16  # of last.ckpt


def test_the_space_for_checkpoints_is_said_before_training(dense) -> None:
    before = dense.printed.partition("epoch 0/2")[0]
    assert "weights of 3 epochs and 2 steps" in before
    sizes = [path.stat().st_size for path in (dense.folder / "checkpoints").glob("*-*.ckpt")]
    assert len(sizes) == 5
    total = float(before.partition(" kB in all")[0].rpartition(" ")[2]) * 1000
    assert total == pytest.approx(sum(sizes), rel=0.15)  # a file has some kB of its own


def test_without_a_terminal_each_epoch_is_a_line(dense) -> None:
    lines = [line for line in dense.printed.splitlines() if ": epoch " in line]
    rows = read_rows(dense.folder / "probes.csv")
    for epoch, line in enumerate(lines):
        assert f"{dense.folder.name}: epoch {epoch}/2  " in line
        assert all(f"{row.task} {row.test_accuracy:.1f}" in line for row in rows if row.epoch == epoch)
    assert [bool(END_OF_EPOCH.search(line)) for line in lines] == [False, True, True]  # as a benchmark finds them
    assert "before training" in lines[0]
    assert all(word in lines[1] for word in ("loss ", "bleu ", " s, ", " left"))
    assert "left" not in lines[2]


def test_a_run_resumed_between_two_epochs_ends_with_the_same_rows(lab, dense, tmp_path) -> None:
    run = shutil.copytree(dense.folder, tmp_path / "run")
    checkpoints = run / "checkpoints"
    previous = torch.load(checkpoints / "previous.ckpt", weights_only=True)
    assert previous["epoch"] == 1  # within the second
    (checkpoints / "previous.ckpt").replace(checkpoints / "last.ckpt")
    (checkpoints / "epoch-2.ckpt").unlink()
    lab.succeed(f"resume={run}")
    assert scores(run) == scores(dense.folder)
    assert_same_weights(run, dense.folder)
    assert (checkpoints / "epoch-2.ckpt").exists()


def test_the_kept_epochs_get_the_scores_that_they_got_while_training(lab, dense, tmp_path, capfd) -> None:
    run = shutil.copytree(dense.folder, tmp_path / "run")
    (done,) = scored(lab, Path("evaluations"), f"model={run}", "epochs=all")
    assert "other tasks" not in capfd.readouterr().err
    assert done.folder.is_relative_to(run / "evaluations" / "probing")
    assert scores(done.folder) == scores(run)
    (model,) = models_of(one_run_per_seed(map(read_run, run_folders([run]))))
    assert sorted(map(what, model.runs[0].rows)) == sorted(map(what, read_run(run).rows))  # each once
    elsewhere = scored(lab, tmp_path / "out", f"model=[{run},{dense.folder}]", "epochs=[2]")
    assert len({scores.folder for scores in elsewhere}) == 2  # outside of the runs, too, none replaces another's


def test_epochs_scored_on_other_tasks_than_the_runs_are_told_with_what_differs(lab, dense, tmp_path, capfd) -> None:
    run = shutil.copytree(dense.folder, tmp_path / "run")
    scored(lab, Path("evaluations"), f"model={run}", "epochs=[2]", "seed=2", "probes.tasks=[SentLen]")
    assert f"{run}: its own scores are of other tasks, with seed=1 and not 2; so" in capfd.readouterr().err
    assert len(models_of(map(read_run, run_folders([run])))) == 2


def what(row: ProbeRow) -> tuple:
    return row.epoch, row.suite, row.task, row.test_accuracy


def test_a_suite_added_later_is_one_curve_of_the_run_also_after_a_move(lab, dense, tmp_path) -> None:
    run = shutil.copytree(dense.folder, tmp_path / "run")
    sizes = [f"discoeval.{split}_size=20" for split in ("train", "dev", "test")]
    for chosen in ("epochs=[2]", "epochs=all"):  # the second adds to the first
        discoeval = "suite=discoeval", "discoeval.tasks=[SP]", "probes.classifier.widths=[0]", *sizes
        scored(lab, Path("evaluations"), f"model={run}", chosen, *discoeval)
    moved = run.rename(tmp_path / "moved")
    (model,) = models_of(one_run_per_seed(map(read_run, run_folders([moved]))))
    (panel,) = panels_of([model], "discoeval", "logreg")
    assert [line.x for line in panel.lines] == [epochs(read_rows(dense.folder / "probes.csv"))]
    assert len(panel.objective.x) == 2


@pytest.mark.parametrize(("more", "message"), [
    (["epochs=[5]"], "no checkpoint of epoch 5"),
    (["epochs=some"], "give all, or numbers"),
    (["epochs=all", "model=bov"], "model=bov: no run folder"),
    (["epochs=all"], "keeps no epoch"),
])  # fmt: skip
def test_epochs_that_cannot_be_scored_are_refused(lab, finished_run, tmp_path, more, message) -> None:
    with pytest.raises(InputError, match=message):
        scored(lab, tmp_path, f"model={finished_run}", *more)


@pytest.mark.parametrize(("setting", "message"), [
    ("checkpoints.every_n_epochs=2", "give checkpoints.keep=every with it"),
    ("checkpoints.steps=[1,999]", "checkpoints.steps: the run has 10 steps, so it never reaches step 999"),
    ("probes.steps=[11]", "probes.steps: the run has 10 steps"),
])  # fmt: skip
def test_what_would_have_no_effect_is_refused(lab, tmp_path, setting, message) -> None:
    assert message in lab.refusal(*lab.settings(tmp_path / "run", setting, "probes.tasks=[SentLen]"))


def test_a_run_to_begin_with_that_is_missing_is_refused(lab, tmp_path) -> None:
    assert "no such run folder" in lab.refusal("init=/nowhere", f"hydra.run.dir={tmp_path / 'run'}")


@pytest.fixture(scope="module")
def after(lab, dense, tmp_path_factory) -> Path:
    """A run of NLI that begins with the last epoch of the dense run."""
    run = tmp_path_factory.mktemp("runs") / "after"
    settings = [text for text in lab.settings(run) if not text.startswith(OF_WHAT_IT_BEGINS_WITH)]
    lab.succeed(*settings, *OF_NLI, f"init={dense.folder / 'checkpoints' / 'last.ckpt'}")
    return run


def test_epoch_0_of_a_run_that_begins_with_another_has_its_scores(dense, after) -> None:
    theirs = [replace(row, epoch=0, step=0) for row in scores(dense.folder) if row.epoch == 2]
    assert [row for row in scores(after) if row.epoch == 0] == theirs


def test_it_has_the_words_of_both_and_composes_new_ones_alike(dense, after) -> None:
    ours, theirs = load_encoder(after), load_encoder(dense.folder)
    assert set(theirs.vocabulary.words) < set(ours.vocabulary.words)
    row = {word: place for place, word in enumerate(ours.vocabulary.words)}
    table = ours.embedding.table.cpu()[[row[word] for word in theirs.vocabulary.words]]
    assert torch.equal(table, theirs.embedding.table.cpu())
    assert np.array_equal(ours.oov("zebrafinchish"), theirs.oov("zebrafinchish"))
    new = next(word for word in ours.vocabulary.words if word not in set(theirs.vocabulary.words))
    assert np.array_equal(ours.embedding.table.cpu()[row[new]], theirs.oov(new))


def test_reports_name_the_chain(after) -> None:
    (model,) = models_of([read_run(after)])
    assert model.title == "BiLSTM-max, NMT En-Fr → NLI"


@pytest.mark.parametrize(("setting", "message"), [
    ("encoder.dim=18", "another encoder: encoder.dim=16 there and 18 here"),
    ("embeddings.dim=11", "its word vectors have 10 numbers; give embeddings.dim=10"),
])  # fmt: skip
def test_sizes_that_differ_are_one_line(lab, dense, tmp_path, setting, message) -> None:
    settings = [text for text in lab.settings(tmp_path / "run") if not text.startswith(OF_WHAT_IT_BEGINS_WITH)]
    assert message in lab.refusal(*settings, *OF_NLI, f"init={dense.folder}", setting)
