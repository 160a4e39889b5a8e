"""When a training run is probed."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import pytorch_lightning as pl
import torch

from datamodules.nli import InferencePairs
from encoder_lab.errors import InputError
from encoder_lab.training.checkpoints import CheckpointEvery, KeptWeights
from encoder_lab.training.schedules import InferSent
from objectives.nli import NLI
from probes.callback import ProbingCallback, curves_of
from probes.results import ProbeRow, read_rows
from tests.objectives.test_nli import objective
from tests.probes.test_share import Counts, tasks
from tests.silent import silent_trainer
from tests.tiny_corpus import TinyCorpus


def spent_after_two_epochs(data: InferencePairs) -> NLI:
    module = objective(data, rate=3e-5)
    module.on_validation_epoch_end = lambda: module.log_score("val/accuracy", 40.0)
    return module


def fit(folder: Path, model: Counts, **more: object) -> pl.Trainer:
    """A run that may be probed every fifth of nine epochs, and ends itself after the second."""
    data = InferencePairs(TinyCorpus(), folder, seed=1, batch_size=8)
    callbacks = [InferSent(0.99, 0.2, 1e-5), ProbingCallback(tasks(1), model, folder / "probes.csv", 5)]
    run = silent_trainer(max_epochs=9, callbacks=callbacks)
    run.fit(spent_after_two_epochs(data), data, weights_only=True, **more)
    return run


def test_the_last_epoch_is_probed_exactly_once_however_training_ends_and_resumes(tmp_path) -> None:
    run, model = fit(tmp_path, Counts()), Counts()
    assert [(row.epoch, row.step) for row in read_rows(tmp_path / "probes.csv")] == [(0, 0), (2, run.global_step)]
    run.save_checkpoint(tmp_path / "last.ckpt")
    fit(tmp_path, model, ckpt_path=tmp_path / "last.ckpt")
    assert not model.encoded


def test_a_run_killed_before_its_last_epoch_was_probed_is_probed_when_resumed(tmp_path) -> None:
    run = fit(tmp_path, Counts())
    run.save_checkpoint(tmp_path / "last.ckpt")
    rows = (tmp_path / "probes.csv").read_text().splitlines(keepends=True)
    (tmp_path / "probes.csv").write_text("".join(rows[:-1]))
    fit(tmp_path, Counts(), ckpt_path=tmp_path / "last.ckpt")
    assert [(row.epoch, row.step) for row in read_rows(tmp_path / "probes.csv")] == [(0, 0), (2, run.global_step)]


def test_damaged_scores_are_an_error_before_a_resumed_run_trains(tmp_path) -> None:
    fit(tmp_path, Counts())
    with (tmp_path / "probes.csv").open("a") as file:
        file.write("1,")
    probing = ProbingCallback(tasks(1), Counts(), tmp_path / "probes.csv")
    with pytest.raises(InputError, match=r"probes\.csv:4: expected 13 columns"):
        probing.on_train_start(SimpleNamespace(global_step=3), None)


def test_what_a_run_has_of_an_epoch_that_it_ended_within_is_replaced_when_it_is_resumed(tmp_path) -> None:
    data, last, rows = InferencePairs(TinyCorpus(), tmp_path, seed=1, batch_size=8), tmp_path / "last.ckpt", []
    for path, most in ((None, 4), (last, -1)):  # an epoch has three steps
        probing = ProbingCallback(tasks(1), Counts(), tmp_path / "probes.csv", 5)
        callbacks = [probing, KeptWeights(tmp_path, 5, ()), CheckpointEvery(None, last)]
        run = silent_trainer(max_epochs=3, max_steps=most, callbacks=callbacks, enable_checkpointing=True)
        run.fit(objective(data), data, ckpt_path=path, weights_only=True)
        saved = torch.load(tmp_path / "epoch-2.ckpt", weights_only=True)["global_step"]
        rows.append([*((row.epoch, row.step) for row in read_rows(tmp_path / "probes.csv")), saved])
    assert rows == [[(0, 0), (2, 4), 4], [(0, 0), (2, 6), (3, 9), 6]]


def test_each_reader_of_a_task_has_a_curve_of_its_own_and_so_have_the_numbers_next_to_a_score() -> None:
    codes = [("bits", "logreg", 60.0, {"compression": 1.67}), ("bits", "mlp", 50.0, {"compression": 2.0})]
    codes.append(("probing", "mlp", 90.0, {"width": 50}))
    rows = [ProbeRow(1, 9, suite, "Tense", how, 0, x, x, x, more, 1, 0.1) for suite, how, x, more in codes]
    assert curves_of(rows) == {
        **{"bits/Tense logreg": 60.0, "bits/Tense logreg compression": 1.67, "bits/Tense mlp": 50.0},
        **{"bits/Tense mlp compression": 2.0, "probing/Tense": 90.0},
    }
