"""Learning rates by step and by score, and early stopping: hand-worked values, and the same after a resume."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytorch_lightning as pl
import torch
from hypothesis import given
from hypothesis import strategies as st

from datamodules.nli import InferencePairs
from encoder_lab.errors import InputError
from encoder_lab.training.schedules import Cosine, InferSent, InverseSquareRoot, Linear, Plateau, StepSchedule
from encoder_lab.training.stops import StepsAreReached, StopsEarly
from tests.objectives.test_nli import objective
from tests.parts import SCHEDULES
from tests.silent import silent_trainer
from tests.tiny_corpus import TinyCorpus

RATE = 0.1
SCORES = [50.0, 60.0, 60.004, 70.0, 65.0, 64.0]


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> InferencePairs:
    return InferencePairs(TinyCorpus(), tmp_path_factory.mktemp("cache"), seed=1, batch_size=8)


class Rates(pl.Callback):
    """The rate of each step."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        self.seen.append(trainer.optimizers[0].param_groups[0]["lr"])


def fit(
    data: InferencePairs,
    made: list[pl.Callback],
    epochs: int,
    path: Path | None = None,
    rate: float = RATE,
    **ends: int,
) -> tuple[pl.Trainer, list[float]]:
    """Train with given scores after each epoch; the trainer and the rate of every step."""
    module, rates = objective(data, rate=rate), Rates()
    module.on_validation_epoch_end = lambda: module.log_score("val/accuracy", SCORES[module.current_epoch])
    run = silent_trainer(max_epochs=epochs, callbacks=[*made, rates], **ends)
    run.fit(module, data, ckpt_path=path, weights_only=True)
    return run, rates.seen


@given(warmup=st.integers(1, 50), steps=st.integers(51, 200), end=st.floats(0, 0.9))
def test_every_warm_up_is_a_line_to_one_and_every_rate_after_it_falls(warmup, steps, end) -> None:
    made: list[StepSchedule] = [InverseSquareRoot(warmup), Linear(warmup, end, None), Cosine(warmup, end, None)]
    for schedule in made:
        factors = [schedule.factor(step, steps) for step in range(1, steps + 1)]
        assert factors[:warmup] == pytest.approx([step / warmup for step in range(1, warmup + 1)])
        assert all(np.diff(factors[warmup - 1 :]) < 1e-12)
    assert factors[-1] == pytest.approx(end)


def test_the_shapes_have_their_published_values() -> None:
    assert InverseSquareRoot(100).factor(400, 1000) == 0.5
    assert Linear(0, 0.2, None).factor(50, 100) == pytest.approx(0.6)
    assert Cosine(0, 0.0, None).factor(25, 100) == pytest.approx((1 + math.sqrt(0.5)) / 2)


def test_a_step_has_the_rate_of_its_schedule(data) -> None:
    run, rates = fit(data, [Linear(2, 0.0, None)], epochs=2)
    total = run.global_step
    expected = [RATE / 2, *(RATE * (total - step) / (total - 2) for step in range(2, total + 1))]
    assert rates == pytest.approx(expected)


def by_epoch(rates: list[float], epochs: int) -> list[float]:
    return [float(part[0]) for part in np.array_split(rates, epochs)]


@pytest.mark.parametrize(("warmup", "told"), [(6, ""), (7, "schedule.warmup=7: the run has 6 steps, so")])
def test_a_warm_up_longer_than_the_run_is_told(data, warmup, told, capsys) -> None:
    fit(data, [Linear(warmup, 0.0, None)], epochs=2)
    assert capsys.readouterr().out[: len(told) or 1] == told


class WithoutRate(torch.optim.Optimizer):
    def __init__(self, weights: Any) -> None:
        super().__init__(weights, {"size": 0.1})


@pytest.mark.parametrize("make", [make for name, make in SCHEDULES.items() if name != "constant"])
def test_an_optimiser_without_a_rate_is_refused_before_the_first_step(data, make) -> None:
    module = objective(data)
    module.make_optimizer = WithoutRate
    with pytest.raises(InputError, match=r"^schedule: objective\.optimizer has no lr"):
        silent_trainer(max_epochs=1, callbacks=[make()]).fit(module, data)  # its step() raises NotImplementedError


@pytest.mark.parametrize(("limits", "patience", "told"), [
    ({"max_steps": 6, "min_steps": 6, "min_epochs": 2}, 1, ""),
    ({"max_steps": 7}, 1, "trainer.max_steps=7: the run ends after 6 steps, by trainer.max_epochs= or max_steps="),
    ({"min_steps": 7}, 1, "trainer.min_steps=7: the run ends after 6 steps, by trainer.max_epochs= or max_steps="),
    ({"min_epochs": 3}, 1, "trainer.min_epochs=3: the run ends after 2 epochs, by trainer.max_epochs= or max_steps="),
    ({}, 2, "early_stopping.patience=2: cannot end a run of 2 epochs"),
])  # fmt: skip
def test_an_end_that_the_run_never_reaches_is_told(data, limits, patience, told, capsys) -> None:
    callbacks = [StepsAreReached({}), StopsEarly("val/accuracy", "max", patience)]
    silent_trainer(max_epochs=2, callbacks=callbacks, **limits).fit(objective(data), data)
    assert capsys.readouterr().out.strip() == told


def test_infersent_lowers_the_rate_each_epoch_and_more_without_gain(data) -> None:
    _, rates = fit(data, [InferSent(0.99, 0.2, 1e-5)], epochs=5)
    assert by_epoch(rates, 5) == pytest.approx(RATE * np.cumprod([1, 0.99, 0.99, 0.99 / 5, 0.99]))


@pytest.mark.parametrize(("least", "last"), [(0.0, RATE / 2), (RATE, RATE), (2 * RATE, RATE)])
def test_a_plateau_halves_the_rate_after_its_patience_and_never_raises_it(data, least, last) -> None:
    _, rates = fit(data, [Plateau(0.5, 0, least)], epochs=6)
    assert by_epoch(rates, 6) == pytest.approx([RATE, RATE, RATE, RATE, RATE, last])


@pytest.mark.parametrize(("make", "last"), [
    (lambda: StopsEarly("val/accuracy", "max", 1), 5),  # the fifth score is lower than the fourth
    (lambda: InferSent(0.01, 0.2, 1e-4), 2),  # 0.1 * 0.01 * 0.01 < 1e-4
], ids=["patience", "spent rate"])  # fmt: skip
def test_what_ends_a_run_ends_a_resumed_one(data, tmp_path, make, last) -> None:
    run, _ = fit(data, [make()], epochs=6)
    assert run.current_epoch == last
    run.save_checkpoint(tmp_path / "last.ckpt")
    resumed, steps = fit(data, [make()], 6, tmp_path / "last.ckpt")
    assert (resumed.global_step, steps) == (run.global_step, [])


@pytest.mark.parametrize("least", [{"min_epochs": 4}, {"min_steps": 10}], ids=str)
def test_a_run_that_may_not_end_yet_ends_by_its_later_scores(data, monkeypatch, least) -> None:
    monkeypatch.setattr(f"{__name__}.SCORES", [50.0, 40.0, 60.0, 70.0, 65.0, 80.0])
    run, _ = fit(data, [StopsEarly("val/accuracy", "max", 1)], epochs=6, **least)
    assert (run.current_epoch, run.global_step) == (5, 15)  # of three steps each, and the fifth is the first worse one


class SavesAtEpoch(pl.Callback):
    """Saves as our runs do: in the hook at the end of an epoch, after the schedule's."""

    def __init__(self, path: Path, epoch: int) -> None:
        self.path, self.epoch = path, epoch

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if trainer.current_epoch + 1 == self.epoch:
            trainer.save_checkpoint(self.path)


@pytest.mark.parametrize("make", SCHEDULES.values(), ids=SCHEDULES.keys())
def test_a_resumed_run_has_the_rates_and_weights_of_an_uninterrupted_one(data, tmp_path, make) -> None:
    path = tmp_path / "last.ckpt"
    run, rates = fit(data, [make(), SavesAtEpoch(path, 5)], epochs=6)
    resumed, more = fit(data, [make()], 6, path)
    assert more == rates[-len(more) :]
    assert 0 < len(more) < len(rates)
    ours, theirs = (trainer.lightning_module.state_dict() for trainer in (resumed, run))
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
