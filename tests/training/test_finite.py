"""A loss that is not finite ends the run and writes the sentences of its batch."""

import math
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from datamodules.base import ResumableData
from datamodules.batches import SentencePair, Sentences
from datamodules.text.vocabulary import Vocabulary
from encoder_lab.errors import InputError
from encoder_lab.training.stops import StopsIfNotFinite


class Data(ResumableData):
    """Of a process among others."""

    vocabulary = Vocabulary(["the", "dog"])
    rank, world = property(lambda self: self.place[0]), property(lambda self: self.place[1])

    def __init__(self, *place: int) -> None:
        self.place = place


def batch(*rows: list[int]) -> SentencePair:
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
    side = Sentences(ids, torch.tensor([len(row) for row in rows]))
    return SentencePair(side, side)


def after_steps(
    folder: Path, *losses: float, made_of: object, every: int = 1, rank: int = 0, world: int = 1
) -> StopsIfNotFinite:
    guard = StopsIfNotFinite(Data(rank, world), folder, every)
    for step, loss in enumerate(losses, start=1):
        trainer = SimpleNamespace(global_step=step, is_last_batch=False)
        guard.on_train_batch_end(trainer, None, {"loss": torch.tensor(loss)}, made_of, step)  # type: ignore[arg-type]
    return guard


def save(guard: StopsIfNotFinite, weight: float = 1.0) -> None:
    guard.on_save_checkpoint(None, None, {"state_dict": {"bias": torch.tensor([weight])}})  # type: ignore[arg-type]


def end_epoch(guard: StopsIfNotFinite, weight: float = 1.0, score: float = 1.0) -> None:
    module = torch.nn.Linear(1, 1)
    torch.nn.init.constant_(module.bias, weight)
    trainer = SimpleNamespace(callback_metrics={"val/loss": torch.tensor(score)})
    guard.on_train_epoch_end(trainer, module)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_the_sentences_of_the_batch_are_saved_and_named(tmp_path, bad) -> None:
    with pytest.raises(InputError, match=r"loss is .* at step 3; .*step-3\.txt"):
        after_steps(tmp_path, 2.0, 1.5, bad, made_of=batch([2, 3], [3]))
    assert (tmp_path / "step-3.txt").read_text() == "source\tthe dog\nsource\tdog\ntarget\tthe dog\ntarget\tdog\n"


def test_each_of_several_processes_saves_its_own_batch(tmp_path) -> None:
    for rank, word in enumerate(("the", "dog")):
        with pytest.raises(InputError, match=rf"step-1-process-{rank}\.txt"):
            after_steps(tmp_path, math.nan, made_of=batch([2 + rank]), rank=rank, world=2)
        assert word in (tmp_path / f"step-1-process-{rank}.txt").read_text()


@pytest.mark.parametrize("then", [save, end_epoch])
def test_every_loss_is_checked_before_a_checkpoint_or_a_record(tmp_path, then) -> None:
    guard = after_steps(tmp_path, 2.0, math.nan, 1.0, made_of=batch([2]), every=50)
    with pytest.raises(InputError, match=r"loss is nan at step 2"):
        then(guard)


@pytest.mark.parametrize("then", [save, end_epoch])
def test_weights_that_are_not_finite_are_neither_saved_nor_recorded(tmp_path, then) -> None:
    with pytest.raises(InputError, match=r"bias is not finite after step 2; .*step-2\.txt"):
        then(after_steps(tmp_path, 2.0, 1.5, made_of=batch([2])), math.inf)


def test_a_score_that_is_not_finite_is_not_recorded(tmp_path) -> None:
    with pytest.raises(InputError, match=r"val/loss is not finite after step 2; .*step-2\.txt"):
        end_epoch(after_steps(tmp_path, 2.0, 1.5, made_of=batch([2])), score=math.nan)


@pytest.mark.parametrize("then", [save, end_epoch])
def test_finite_losses_and_weights_are_saved_and_recorded(tmp_path, then) -> None:
    then(after_steps(tmp_path, 2.0, 1e30, made_of=batch([2])))
    assert list(tmp_path.iterdir()) == []
