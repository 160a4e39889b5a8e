"""What training writes can be resumed: every optimiser, schedule, set of trained parts; what was changed is refused."""

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
import pytorch_lightning as pl
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch_lightning.callbacks import Timer
from torch import Tensor
from torch.utils.data import DataLoader

from encoder_lab.errors import InputError
from encoder_lab.training.checkpoints import LAST, AtomicCheckpoints, content_hash, read_resumable
from encoder_lab.training.stops import StopsEarly
from encoder_lab.training.trainer import fit as train
from encoders.load import read_checkpoint
from tests.parts import SCHEDULES, TORCH_OPTIMIZERS, Parts, fit, trainer_in

OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    name: cls for name, cls in TORCH_OPTIMIZERS.items() if name not in ("LBFGS", "SparseAdam", "Muon")
}
OPTIMIZERS |= {"momentum": partial(torch.optim.SGD, lr=0.1, momentum=0.9, nesterov=True)}
OPTIMIZERS |= {"amsgrad": partial(torch.optim.AdamW, amsgrad=True, fused=True)}
OPTIMIZERS |= {"centered": partial(torch.optim.RMSprop, momentum=0.1, centered=True)}


class SavesOften(pl.Callback):
    """Saves before the first step, after each, and after each epoch."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.saved = folder, 0

    def on_train_start(self, trainer: pl.Trainer, *_: Any, **__: Any) -> None:
        trainer.save_checkpoint(self.folder / f"{self.saved}.ckpt")
        self.saved += 1

    on_train_batch_end = on_train_epoch_end = on_train_start


@settings(max_examples=8)
@given(
    optimizer=st.sampled_from(sorted(OPTIMIZERS)),
    schedule=st.sampled_from(sorted(SCHEDULES)),
    drawn=st.lists(st.integers(0, 1), min_size=1, max_size=3),
    freeze=st.booleans(),
    epochs=st.integers(0, 2),
)
def test_what_training_writes_can_be_resumed_and_goes_on_exactly(
    tmp_path_factory, optimizer, schedule, drawn, freeze, epochs
) -> None:
    folder = tmp_path_factory.mktemp("checkpoints")
    saves, whole, stopped = SavesOften(folder), *(Parts(OPTIMIZERS[optimizer], freeze) for _ in range(2))
    fit(trainer_in(folder, schedule, 2, saves), whole, drawn)
    assert saves.saved == 1 + 2 * (len(drawn) + 1)
    for number in range(saves.saved):
        read_resumable(folder / f"{number}.ckpt", stopped)
    fit(trainer_in(folder, schedule, 2), stopped, drawn, folder / f"{epochs * (len(drawn) + 1)}.ckpt")
    for name, weight in whole.state_dict().items():
        assert torch.equal(weight, stopped.state_dict()[name])


@pytest.mark.parametrize(("ends", "least"), [
    (StopsEarly(Parts.score, "min", 1), 1), (Timer({"microseconds": 1}, "epoch"), 1), (pl.Callback(), 5),
], ids=["no better score", "time", "epochs"])  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_a_run_that_ended_stays_as_it_is_when_it_is_resumed_and_says_why(tmp_path, ends, least, capsys, caplog) -> None:
    steps = []
    for _ in range(2):
        assert "nothing is trained" not in capsys.readouterr().out
        trainer = trainer_in(tmp_path / "checkpoints", "constant", 5, deepcopy(ends))
        train(trainer, Parts(torch.optim.Adam, freeze=True), DataLoader(torch.tensor([0])), ANY, tmp_path)  # type: ignore[arg-type]
        steps.append(trainer.global_step)
    assert least <= steps[0] == steps[1] < least + 4
    assert "nothing is trained" in capsys.readouterr().out
    assert "damaged" not in caplog.text


@pytest.mark.filterwarnings("ignore")
def test_weights_of_64_bits_are_not_rounded_when_a_run_is_resumed(tmp_path) -> None:
    whole, stopped, resumed = (Parts(torch.optim.Adam, freeze=True) for _ in range(3))
    for folder, epochs, module in (("whole", 2, whole), ("run", 1, stopped), ("run", 2, resumed)):
        trainer = trainer_in(tmp_path / folder / "checkpoints", "constant", epochs, precision="64-true")
        train(trainer, module, DataLoader(torch.tensor([0, 1])), ANY, tmp_path / folder)  # type: ignore[arg-type]
    assert all(map(torch.equal, whole.state_dict().values(), resumed.state_dict().values()))


plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.builds(torch.zeros, st.integers(0, 3))
keys = st.text(max_size=3) | st.integers()
nested = st.recursive(
    plain | st.sets(keys),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner) | st.dictionaries(keys, inner, max_size=3),
)


@settings(max_examples=20)
@given(state=st.dictionaries(st.text(max_size=3), nested, max_size=3))
def test_any_state_of_a_callback_has_the_same_hash_after_it_was_read(tmp_path_factory, state) -> None:
    path = tmp_path_factory.mktemp("state") / "state.ckpt"
    AtomicCheckpoints().save_checkpoint(state, path)
    checkpoint = torch.load(path, weights_only=True)
    assert checkpoint["content"] == content_hash(checkpoint) == content_hash(state)


@pytest.fixture
def written(tmp_path) -> tuple[dict[str, Any], Parts]:
    """A checkpoint after an epoch of both parts, and what it was written of."""
    module = Parts(torch.optim.Adam, freeze=True)
    fit(trainer_in(tmp_path, "constant", 1), module, [0, 1])
    return read_checkpoint(tmp_path / LAST), module


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "another epoch": lambda checkpoint: checkpoint.update(epoch=7),
    "another rate": lambda checkpoint: checkpoint["optimizer_states"][0]["param_groups"][0].update(lr=0.5),
    "no state of a weight": lambda checkpoint: checkpoint["optimizer_states"][0]["state"].pop(0),
    "another path": lambda checkpoint: next(iter(checkpoint["callbacks"].values())).update(best_model_path="../x"),
    "half of a mean": lambda checkpoint: checkpoint["optimizer_states"][0]["state"][0].update(exp_avg=torch.ones(1)),
    "no sums": lambda checkpoint: checkpoint.pop("train_sums"),
    "no hash": lambda checkpoint: checkpoint.pop("content"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.filterwarnings("ignore")
def test_a_checkpoint_that_was_changed_is_refused(tmp_path, change, written) -> None:
    checkpoint, module = written
    change(checkpoint)
    torch.save(checkpoint, tmp_path / LAST)
    with pytest.raises(InputError, match="its content has changed"):
        read_resumable(tmp_path / LAST, module)


def test_a_checkpoint_with_other_weights_is_refused(tmp_path, written) -> None:
    _, module = written
    module.parts.append(torch.nn.Linear(1, 1))
    with pytest.raises(InputError, match="other weights"):
        read_resumable(tmp_path / LAST, module)


ODD: dict[str, Callable[[Tensor], Any]] = {
    "sparse": Tensor.to_sparse,
    "meta": lambda weight: weight.to("meta"),
    "quantised": lambda weight: torch.quantize_per_tensor(weight, 0.1, 0, torch.qint8),
    "expanded": lambda weight: weight.flatten()[:1].clone().expand(weight.shape),
    "complex": lambda weight: weight.to(torch.complex64),
    "integer": lambda weight: weight.long(),
    "narrow": lambda weight: weight.to(torch.float8_e4m3fn),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
@pytest.mark.filterwarnings("ignore")
def test_odd_weights_are_refused(tmp_path, odd, written) -> None:
    checkpoint, module = written
    checkpoint["state_dict"]["parts.0.weight"] = odd(checkpoint["state_dict"]["parts.0.weight"])
    torch.save(checkpoint, tmp_path / LAST)
    with pytest.raises(InputError, match="not a checkpoint"):
        read_resumable(tmp_path / LAST, module)


def test_a_file_outside_the_folder_of_a_run_is_never_deleted(tmp_path) -> None:
    (tmp_path / "run").mkdir()
    for name in ("victim", "run/best.ckpt"):
        (tmp_path / name).touch()
    for path in (f"{tmp_path}/run/../victim", "s3://a/b", tmp_path / "run" / "best.ckpt"):
        AtomicCheckpoints().remove_checkpoint(path)
    assert {path.name for path in tmp_path.rglob("*")} == {"run", "victim"}
