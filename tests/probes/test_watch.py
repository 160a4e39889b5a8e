"""Probing in trainings that are not ours: any LightningModule, Hugging Face's Trainer."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import ModelCheckpoint
from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset
from transformers import Trainer, TrainingArguments

from encoder_lab.errors import InputError
from encoder_lab.evaluation.tasks import tasks_for
from probes.callback import ProbingCallback
from probes.classification import Classification
from probes.classifiers.grid import Grid
from probes.results import read_rows, write_rows
from probes.trainer_callback import ProbingTrainerCallback
from probes.watch import probe_now
from tests.conftest import TINY
from tests.probes.test_share import tasks
from tests.silent import silent_trainer

LETTERS = "abc"


class Foreign(pl.LightningModule):
    """Somebody else's module: letter counts through dropout and a layer, which training shrinks."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.drop, self.layer = nn.Dropout(0.5), nn.Linear(3, 2)
        self.modes: list[bool] = []
        self.encoded: list[float] = []  # by which weights

    def forward(self, counts: Tensor, labels: Tensor | None = None) -> dict[str, Tensor]:
        vectors = self.layer(self.drop(counts))
        return {"loss": vectors.square().mean(), "vectors": vectors}

    def encode(self, sentences: list[str]) -> Tensor:
        self.modes.append(self.training or torch.is_grad_enabled())
        self.encoded.append(float(self.layer.weight.detach().sum()))
        torch.rand(3)  # an encoder may use random numbers
        return self(torch.tensor([[float(s.count(letter)) for letter in LETTERS] for s in sentences]))["vectors"]

    def training_step(self, batch: Tensor, batch_idx: int) -> Tensor:
        return self(batch)["loss"]

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def trained_by_lightning(folder: Path | None, *more: pl.Callback, path: Path | None = None) -> Foreign:
    module = Foreign()
    callbacks = [ProbingCallback(tasks(2), module, folder / "probes.csv", steps=[1])] if folder else []
    saves = bool(more)
    run = silent_trainer(
        max_epochs=2, callbacks=[*callbacks, *more], accumulate_grad_batches=2, enable_checkpointing=saves
    )
    torch.manual_seed(1)
    run.fit(module, DataLoader(torch.ones(8, 3), batch_size=2), ckpt_path=path, weights_only=False)
    return module


def trained_by_hugging_face(
    folder: Path, probed: bool, epochs: float = 2, trains: Any = Trainer, data: Any = None, **more: Any
) -> tuple[Foreign, Trainer]:
    module = Foreign()
    twice = [*tasks(1), replace(tasks(1)[0], grid=Grid(widths=(2,), dropouts=(0.0,), l2=(1e-3,)))]  # by two readers
    callbacks = [ProbingTrainerCallback(twice, module, folder / "probes.csv", 2)] if probed else []
    arguments = TrainingArguments(
        str(folder), num_train_epochs=epochs, per_device_train_batch_size=2, report_to="none", disable_tqdm=True,
        use_cpu=True, logging_strategy="no", **{"save_strategy": "no", **more},
    )  # fmt: skip
    trainer = trains(module, arguments, train_dataset=data or list(Pieces()), eval_dataset=[], callbacks=callbacks)
    trainer.train()
    return module, trainer


class Pieces(IterableDataset):
    """Four batches without a length."""

    def __iter__(self) -> Iterator[dict[str, Tensor]]:
        return iter([{"counts": torch.ones(3), "labels": torch.tensor(0)}] * 8)


class FirstIsBest(Trainer):
    """Each evaluation is worse than the one before."""

    evaluations = 0

    def evaluate(self, *arguments: Any, **more: Any) -> dict[str, float]:
        self.evaluations += 1
        return {"eval_loss": float(self.evaluations)}


class StopsAtThird(FirstIsBest):
    """The third evaluation ends the training."""

    def evaluate(self, *arguments: Any, **more: Any) -> dict[str, float]:
        self.control.should_training_stop = self.evaluations == 2
        return super().evaluate()


def same_weights(first: nn.Module, second: nn.Module) -> bool:
    return all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


def test_a_module_that_is_not_ours_is_probed_and_trains_as_it_would_without(tmp_path) -> None:
    module = trained_by_lightning(tmp_path)
    states = [(0, 0), (0.5, 1), (1, 2), (2, 4)]  # two batches a step
    assert [(r.epoch, r.step) for r in read_rows(tmp_path / "probes.csv")] == sorted(2 * states)
    assert module.modes == [False] * len(states)
    assert same_weights(module, trained_by_lightning(None))


@pytest.mark.filterwarnings("ignore:You're resuming from a checkpoint that ended before", "ignore:Checkpoint directory")
def test_a_step_of_several_batches_is_probed_once_also_where_training_resumes_between_them(tmp_path) -> None:
    trained_by_lightning(tmp_path, ModelCheckpoint(tmp_path, "{step}", every_n_train_steps=1, save_top_k=-1))
    rows = read_rows(tmp_path / "probes.csv")
    (tmp_path / "probes.csv").unlink()
    write_rows(tmp_path / "probes.csv", [row for row in rows if row.step < 2])
    trained_by_lightning(tmp_path, path=tmp_path / "step=1.ckpt")
    assert [(r.epoch, r.step) for r in read_rows(tmp_path / "probes.csv")] == [(r.epoch, r.step) for r in rows]


def test_the_trainer_of_hugging_face_is_probed_and_trains_as_it_would_without(tmp_path) -> None:
    module, trainer = trained_by_hugging_face(tmp_path, probed=True)
    assert [(r.epoch, r.step) for r in read_rows(tmp_path / "probes.csv")] == [(e, 4 * e) for e in (0, 0, 2, 2)]
    logged = [entry for entry in trainer.state.log_history if "T0" in str(entry)]
    assert [(entry["epoch"], entry["step"]) for entry in logged] == [(0, 0), (2, 8)]
    assert {"probing/T0 logreg", "probing/T0 mlp"} < logged[0].keys()
    assert not any(module.modes)
    assert same_weights(module, trained_by_hugging_face(tmp_path / "other", probed=False)[0])


@pytest.mark.parametrize("train", [trained_by_lightning, partial(trained_by_hugging_face, probed=True)])
def test_a_training_that_begins_mixes_its_scores_with_no_others(tmp_path, train) -> None:
    train(tmp_path)
    with pytest.raises(InputError, match=r"probes\.csv: has scores of another training, until step [48]; write to an"):
        train(tmp_path)


@pytest.mark.parametrize("epochs", [1, 0.5, 1.5])
def test_a_training_that_ends_between_probed_epochs_is_probed_at_its_end(tmp_path, epochs) -> None:
    trained_by_hugging_face(tmp_path, probed=True, epochs=epochs)
    assert {(row.epoch, row.step) for row in read_rows(tmp_path / "probes.csv")} == {(0, 0), (epochs, 4 * epochs)}


def test_weights_that_the_trainer_loads_at_its_end_are_not_scored_as_those_of_its_last_step(tmp_path) -> None:
    best = dict.fromkeys(("eval_strategy", "save_strategy"), "epoch") | {"load_best_model_at_end": True}
    loaded, plain = (
        trained_by_hugging_face(tmp_path / name, True, 3, FirstIsBest, **more)[0]
        for name, more in (("loaded", best), ("plain", {}))
    )
    assert loaded.encoded == plain.encoded
    assert not same_weights(loaded, plain)
    with pytest.warns(UserWarning, match=r"the end, step 12, has no scores: .* of step 4; every_n_epochs=1 scores it"):
        trained_by_hugging_face(tmp_path / "early", True, 9, StopsAtThird, **best)
    assert {row.step for row in read_rows(tmp_path / "early" / "probes.csv")} == {0, 8}


def test_each_pass_over_data_without_a_length_is_an_epoch(tmp_path) -> None:
    trained_by_hugging_face(tmp_path, probed=True, data=Pieces(), max_steps=10)
    assert [(r.epoch, r.step) for r in read_rows(tmp_path / "probes.csv")][::2] == [(0, 0), (2, 8), (2.2, 10)]


def test_tasks_for_settings_are_those_that_evaluate_scores(tmp_path) -> None:
    small = [text for text in TINY if text.startswith("probes.") or text.startswith("corpus.")]
    cache, results = [f"cache={tmp_path}"], str(tmp_path / "probes.csv")
    made = tasks_for(*small, *cache)
    assert [task.name for task in made] == ["SentLen", "BShift", "SubjNum"]
    assert np.unique([len(task.train.gold) for task in made]).tolist() == [120]
    published = tasks_for(*small, *cache, f"hydra.searchpath=[file://{tmp_path}]", "control=true", "protocol=senteval")
    assert {task.suite for task in published} == {"probing", "control", "selectivity"}
    assert {task.grid.protocol for task in published if task.suite == "probing"} == {"senteval"}
    both = r"probes\.train_size=-3: give .*; probes\.tsks=.* did you mean probes\.tasks="
    for arguments, message in (
        (["probes.train_size=-3", "+probes.tsks=[SentLen]"], both),
        (["probes.task=[SentLen]"], "^probes.task: nothing reads such a setting; did you mean probes.tasks="),
        (["~probes.classifier.l2"], "^~probes.classifier.l2: it needs a value; give probes.classifier.l2="),
    ):
        with pytest.raises(InputError, match=message):
            tasks_for(*arguments)
    with pytest.raises(InputError, match=r"^tasks_for takes texts, not list: tasks_for\("):
        tasks_for(small)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^the model: has vectors alone; leave out suites that need surprisals"):
        probe_now(tasks_for("suite=coherence", "coherence.items=2", *cache), Foreign(), Foreign(), results, 0)
    for other in ("model=bov", "embeddings=file", "published=none", "write_sentences=x"):
        with pytest.raises(InputError, match=f"^{other}: no task depends on it; leave it out"):
            tasks_for(other, *cache)
    with pytest.raises(InputError, match=r"^the model: method has no method encode\(sentences\); give an object with"):
        probe_now(made, Foreign().encode, Foreign(), results, 0)  # type: ignore[arg-type]


@pytest.mark.parametrize("callback", [ProbingCallback, ProbingTrainerCallback])
@pytest.mark.parametrize("wrong", [0, -1, 0.5, None])
def test_a_callback_refuses_what_is_no_number_of_epochs(callback, wrong, tmp_path) -> None:
    with pytest.raises(InputError, match=f"^every_n_epochs={wrong}: give a whole number"):
        callback(tasks(1), Foreign(), tmp_path / "probes.csv", every_n_epochs=wrong)


def test_scores_name_the_seed_of_their_tasks_and_no_other(tmp_path) -> None:
    own, module = [replace(task, seed=3) for task in tasks(2)], Foreign()
    assert {row.seed for row in probe_now(own, module, module, tmp_path / "own.csv", 0)} == {3}
    for mixed, seed in ((own, 1), ([own[0], tasks(2)[1]], None)):
        with pytest.raises(InputError, match=r"^seed=1 and seed=3: tasks and their scores have one seed; give"):
            probe_now(mixed, module, module, tmp_path / "mixed.csv", 0, seed=seed)


@pytest.mark.parametrize(("epoch", "written"), [(1.0, 1), (np.int64(2), 2), (np.float64(0.25), 0.25)])
def test_an_epoch_may_be_any_number(epoch, written, tmp_path) -> None:
    module = Foreign()
    (row,) = probe_now(tasks(1), module, module, tmp_path / "probes.csv", epoch)
    assert (row.epoch, type(row.epoch)) == (written, type(written))
    assert [row.epoch for row in read_rows(tmp_path / "probes.csv")] == [written]


@pytest.mark.parametrize("wrong", [{"epoch": -1}, {"epoch": float("nan")}, {"epoch": 0, "device": "cuda:99"}])
def test_what_is_no_epoch_or_device_is_refused_before_encoding(wrong, tmp_path) -> None:
    module = Foreign()
    with pytest.raises(InputError, match=r"^(epoch=(-1|nan): give the epochs|device=cuda:99: not on this machine)"):
        probe_now(tasks(1), module, module, tmp_path / "probes.csv", **wrong)
    assert not module.modes


def test_tasks_that_come_one_by_one_are_probed_in_every_epoch(tmp_path) -> None:
    module = Foreign()
    watch = ProbingCallback((task for task in tasks(2)), module, tmp_path / "probes.csv")  # type: ignore[arg-type]
    silent_trainer(max_epochs=2, callbacks=[watch]).fit(module, DataLoader(torch.ones(8, 3), batch_size=2))
    assert [row.epoch for row in read_rows(tmp_path / "probes.csv")] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("off", ["off", "null", "false"])
def test_tasks_without_a_cache_leave_no_folder(off, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = tasks_for("corpus.size=200", "probes.tasks=[SentLen]", "probes.train_size=60", f"cache={off}")
    assert [task.name for task in made] == ["SentLen"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("trained", [True, False])
def test_modes_are_restored_one_by_one(trained, tmp_path) -> None:
    module = Foreign().train(trained)
    module.drop.train(not trained)
    probe_now(tasks(1), module, module, tmp_path / "probes.csv", epoch=0)
    assert (module.training, module.drop.training, module.layer.training) == (trained, not trained, trained)


def test_memory_of_a_gpu_is_given_back_after_encoding_and_after_the_classifiers(tmp_path, monkeypatch) -> None:
    did: list[str] = []
    module, encode, score = Foreign(), Foreign.encode, Classification.score
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: did.append("given back"))
    monkeypatch.setattr(Foreign, "encode", lambda *args: (did.append("encoded"), encode(*args))[1])
    monkeypatch.setattr(Classification, "score", lambda *args: (did.append("read"), score(*args))[1])
    probe_now(tasks(2), module, module, tmp_path / "probes.csv", epoch=0)
    assert did == ["encoded", "given back", "read", "read", "given back"]
