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


def after_steps(folder: Path, *losses: float, made_of: object) -> None:
    guard = StopsWhereNotFinite(WORDS, folder)
    for step, loss in enumerate(losses, start=1):
        trainer = SimpleNamespace(global_step=step, is_last_batch=False)
        guard.on_train_batch_end(trainer, None, {"loss": torch.tensor(loss)}, made_of, step)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_the_sentences_of_the_batch_are_saved_and_named(tmp_path: Path, bad: float) -> None:
    with pytest.raises(InputError, match=r"step 3 .*step-3\.txt"):
        after_steps(tmp_path, 2.0, 1.5, bad, made_of=batch([2, 3], [3]))
    assert (tmp_path / "step-3.txt").read_text() == "source\tthe dog\nsource\tdog\ntarget\t2 3\ntarget\t3\n"


def test_a_batch_of_one_of_several_objectives_is_saved_alike(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        after_steps(tmp_path, math.nan, made_of=PartBatch(1, batch([2])))
    assert "source\tthe" in (tmp_path / "step-1.txt").read_text()


def test_finite_losses_leave_nothing(tmp_path: Path) -> None:
    after_steps(tmp_path, 2.0, 1e30, made_of=batch([2]))
    assert list(tmp_path.iterdir()) == []
