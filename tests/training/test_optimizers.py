"""Every optimiser of torch trains and resumes, or is refused in one line; so is a setting out of its range."""

from inspect import signature
from typing import Any

import pytest
import pytorch_lightning as pl
import torch

from encoder_lab.errors import InputError
from encoder_lab.training.build import trainable_optimizer
from tests.parts import TORCH_OPTIMIZERS, Parts, fit, trainer_in

OTHERS = {"LBFGS": "closure", "SparseAdam": "dense gradients", "Muon": "2D parameters"}


def prepared(name: str, **settings: Any) -> Any:
    """The optimiser of a run with these settings, to be called with weights."""
    return trainable_optimizer({"_target_": f"torch.optim.{name}", "lr": 0.01, **settings}, "cpu")


@pytest.mark.parametrize("name", TORCH_OPTIMIZERS)
@pytest.mark.filterwarnings("ignore")
def test_an_optimiser_resumes_exactly_or_is_refused(name, tmp_path) -> None:
    if name in OTHERS:
        culprit = rf"objective\.optimizer\._target_=torch\.optim\.{name}"
        with pytest.raises(InputError, match=f"^{culprit}: .*{OTHERS[name]}"):
            prepared(name)
        return
    make = prepared(name)
    assert make.keywords.get("fused", False) == ("fused" in signature(make.func).parameters)
    whole, stopped = Parts(make, freeze=True), Parts(make, freeze=True)
    fit(trainer_in(tmp_path / "whole", "linear", 3), whole, [0, 1])
    fit(trainer_in(tmp_path / "stopped", "linear", 3, StopsAfter(2)), stopped, [0, 1])
    fit(trainer_in(tmp_path / "stopped", "linear", 3), stopped, [0, 1], tmp_path / "stopped" / "last.ckpt")
    assert all(torch.equal(value, stopped.state_dict()[key]) for key, value in whole.state_dict().items())


class StopsAfter(pl.Callback):
    """Ends training after some epochs."""

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        trainer.should_stop = trainer.current_epoch + 1 == self.epochs


@pytest.mark.parametrize(("name", "settings", "culprit"), [
    ("Adam", {"weight_decay": -1}, "weight_decay=-1"),
    ("Adam", {"betas": [0.9, 1.0]}, r"betas=\[0.9, 1.0\]"),
    ("SGD", {"nesterov": True}, "nesterov=True"),
    ("Adam", {"momentum": 0.9}, "momentum=0.9"),
    ("RMSprop", {"fused": True}, "fused=True"),
    ("Adam", {"fused": True, "foreach": True}, "_target_=torch.optim.Adam with these settings"),
])  # fmt: skip
def test_a_setting_that_an_optimiser_refuses_is_named(name, settings, culprit) -> None:
    with pytest.raises(InputError, match=rf"^objective\.optimizer\.{culprit}: "):
        prepared(name, **settings)


def test_an_optimiser_without_a_class_is_refused() -> None:
    with pytest.raises(InputError, match=r"^objective\.optimizer=\{'lr': 1\}: give _target_ with it"):
        trainable_optimizer({"lr": 1}, "cpu")


def test_another_step_of_torch_is_taken_where_the_user_asks_for_it() -> None:
    assert prepared("Adam", foreach=True).keywords.keys() == {"lr", "foreach"}


@pytest.mark.filterwarnings("ignore")
def test_momentum_trains_a_part_with_its_first_batch_after_those_of_the_others(tmp_path) -> None:
    fit(trainer_in(tmp_path, "constant", 1), Parts(prepared("SGD", momentum=0.9), freeze=True), [0, 1])


def test_a_run_with_another_optimiser_and_its_own_settings_resumes(lab, tmp_path) -> None:
    run = tmp_path / "run"
    settings = [text for text in lab.settings(run, "probes=none") if "probes.t" not in text]
    optimizer = ["objective.optimizer._target_=torch.optim.AdamW", "+objective.optimizer.betas=[0.9,0.98]"]
    for arguments in ([*settings, *optimizer, "trainer.max_epochs=1"], [f"resume={run}", "trainer.max_epochs=2"]):
        lab.succeed(*arguments)
