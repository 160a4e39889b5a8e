"""A loss that is no number ends the run and leaves the sentences that made it."""

import math
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from datamodules.batches import PartBatch, SentencePair, Sentences
from datamodules.errors import InputError
from datamodules.vocabulary import Vocabulary
from objectives.finite import StopsWhereNotFinite

WORDS = Vocabulary(["the", "dog"])


def batch(*rows: list[int]) -> SentencePair:
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
    side = Sentences(ids, torch.tensor([len(row) for row in rows]))
    return SentencePair(side, side)


def after_steps(folder: Path, *losses: float, made_of: object, every: int | None = None) -> StopsWhereNotFinite:
    guard = StopsWhereNotFinite(WORDS, folder, every)
    for step, loss in enumerate(losses, start=1):
        trainer = SimpleNamespace(global_step=step, is_last_batch=False)
        guard.on_train_batch_end(trainer, None, {"loss": torch.tensor(loss)}, made_of, step)  # type: ignore[arg-type]
    return guard


def save(guard: StopsWhereNotFinite, weight: float = 1.0) -> None:
    guard.on_save_checkpoint(None, None, {"state_dict": {"bias": torch.tensor([weight])}})  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_the_sentences_of_the_batch_are_saved_and_named(tmp_path: Path, bad: float) -> None:
    with pytest.raises(InputError, match=r"loss is .* at step 3; .*step-3\.txt"):
        after_steps(tmp_path, 2.0, 1.5, bad, made_of=batch([2, 3], [3]))
    assert (tmp_path / "step-3.txt").read_text() == "source\tthe dog\nsource\tdog\ntarget\t2 3\ntarget\t3\n"


def test_a_batch_of_one_of_several_objectives_is_saved_alike(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        after_steps(tmp_path, math.nan, made_of=PartBatch(1, batch([2])))
    assert "source\tthe" in (tmp_path / "step-1.txt").read_text()


def test_finite_losses_leave_nothing(tmp_path: Path) -> None:
    after_steps(tmp_path, 2.0, 1e30, made_of=batch([2]))
    assert list(tmp_path.iterdir()) == []


def test_a_loss_not_yet_looked_at_is_looked_at_before_a_checkpoint(tmp_path: Path) -> None:
    guard = after_steps(tmp_path, 2.0, math.nan, 1.0, made_of=batch([2]), every=50)
    with pytest.raises(InputError, match=r"loss is nan at step 2"):
        save(guard)


def test_weights_that_are_not_finite_are_not_saved(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"bias is not finite after step 2; .*step-2\.txt"):
        save(after_steps(tmp_path, 2.0, 1.5, made_of=batch([2])), math.inf)


def test_finite_weights_are_saved(tmp_path: Path) -> None:
    save(after_steps(tmp_path, 2.0, made_of=batch([2])))
    assert list(tmp_path.iterdir()) == []
