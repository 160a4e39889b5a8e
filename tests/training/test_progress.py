"""Progress within an epoch, in a terminal and in a file; epochs are counted as everywhere."""

import warnings
from types import SimpleNamespace

import pytest
import pytorch_lightning as pl
import torch
from pytorch_lightning.demos.boring_classes import BoringModel

from encoder_lab import progress
from encoder_lab.training.progress import CountsSteps, epoch_of, progress_bar
from tests.silent import QUIET


@pytest.mark.parametrize(("end", "shown"), [(2, "Epoch 2/2"), (-1, "Epoch 2"), (None, "Epoch 2")])
def test_the_second_epoch_of_two_is_epoch_2_of_2(end: int | None, shown: str) -> None:
    assert epoch_of(SimpleNamespace(current_epoch=1, max_epochs=end)) == shown


def test_the_bar_shows_it() -> None:
    bar = progress_bar()
    bar._trainer = SimpleNamespace(current_epoch=1, max_epochs=2, sanity_checking=False)
    assert bar._get_train_description(1).strip() == "Epoch 2/2"


def test_a_file_has_lines_of_the_steps_and_of_dev_with_the_name_of_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(progress, "_names", ["runs/a"])
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    limits = {"max_epochs": 2, "limit_train_batches": 3, "limit_val_batches": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pl.Trainer(**QUIET | limits, accelerator="cpu", callbacks=[CountsSteps()]).fit(BoringModel())
    lines = capsys.readouterr().err.splitlines()
    steps = [f"{step} of 3 steps" for step in range(4)]
    counted = [
        *(f"epoch {{0}}/2: {step}" for step in steps),
        *(f"epoch {{0}}/2, dev: {n} of 1 batches" for n in (0, 1)),
    ]
    assert [line.split(", 0 s")[0] for line in lines] == [
        f"runs/a: {line.format(epoch)}" for epoch in (1, 2) for line in counted
    ]


def test_a_resumed_epoch_counts_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(progress, "_names", [""])
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    trainer = SimpleNamespace(current_epoch=0, max_epochs=-1, num_training_batches=float("inf"), is_global_zero=True)
    counts = CountsSteps()
    counts.on_train_batch_start(trainer, None, torch.ones(1), 7)  # type: ignore[arg-type]
    counts.on_train_batch_end()
    assert capsys.readouterr().err.splitlines()[-1].startswith("epoch 1: 8 steps")
