"""Checkpoints are complete or absent, and the previous one is kept in case the disk corrupts the last."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from datamodules.text.vocabulary import Vocabulary
from datamodules.word_vectors.run_vectors import load_run_vectors, save_run_vectors
from encoder_lab.errors import InputError
from encoder_lab.training.checkpoints import (
    DAMAGED,
    LAST,
    PREVIOUS,
    AtomicCheckpoints,
    CheckpointEvery,
    newest_readable_checkpoint,
)
from encoder_lab.training.initial import InitialRun, extend_vocabulary
from tests.parts import Parts, fit, trainer_in


def read(path: Path) -> int:
    try:
        return int(torch.load(path, weights_only=True)["epoch"])
    except Exception:
        raise InputError(f"{path}: damaged") from None


def save(folder: Path, *epochs: int) -> None:
    for epoch in epochs:
        AtomicCheckpoints().save_checkpoint({"epoch": epoch}, folder / LAST)


def test_the_previous_checkpoint_is_kept_and_no_other_file(tmp_path) -> None:
    save(tmp_path, 1)
    assert [path.name for path in tmp_path.iterdir()] == [LAST]
    save(tmp_path, 2, 3)
    assert (read(tmp_path / LAST), read(tmp_path / PREVIOUS)) == (3, 2)
    assert len(list(tmp_path.iterdir())) == 2


def test_the_best_checkpoint_keeps_no_previous_one(tmp_path) -> None:
    for epoch in (1, 2):
        AtomicCheckpoints().save_checkpoint({"epoch": epoch}, tmp_path / "best.ckpt")
    assert [path.name for path in tmp_path.iterdir()] == ["best.ckpt"]


class Scored(Parts):
    """The score of an epoch is the mean of its two steps."""

    scores: tuple[float, ...] = ()  # of all steps

    def log_score(self, name: str, value: Any, *arguments: Any) -> None:
        super().log_score(name, self.scores[self.global_step], *arguments)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("scores", "best"), [((2, 2, 4, -8), [3, 3, 2]), ((2, 2, 1, 9, 0, 0), [2, 2, 4])])
def test_the_best_epoch_of_a_run_that_ended_within_a_later_one_is_of_whole_ones_when_it_is_resumed(
    tmp_path, scores, best
) -> None:
    last, steps = tmp_path / LAST, []
    for most, start in ((3, None), (3, last), (-1, last)):
        trainer = trainer_in(tmp_path, "constant", len(scores) // 2, CheckpointEvery(None, last))
        trainer.fit_loop.epoch_loop.max_steps = most
        module = Scored(torch.optim.Adam, freeze=True)
        module.scores = scores
        fit(trainer, module, [0, 0], start)
        steps.append(torch.load(tmp_path / "best.ckpt", weights_only=True)["global_step"])
    assert steps == best


def test_a_corrupt_last_checkpoint_falls_back_to_the_previous_one_and_never_replaces_it(tmp_path, caplog) -> None:
    save(tmp_path, 1, 2)
    left = (tmp_path / LAST).read_bytes()[:99]
    (tmp_path / LAST).write_bytes(left)
    assert newest_readable_checkpoint(tmp_path, read) == tmp_path / PREVIOUS
    assert f"{LAST}: damaged; renamed to {DAMAGED}; continuing from {tmp_path / PREVIOUS}" in caplog.text
    save(tmp_path, 3)
    assert (read(tmp_path / LAST), read(tmp_path / PREVIOUS)) == (3, 1)
    assert (tmp_path / DAMAGED).read_bytes() == left


def test_two_corrupt_checkpoints_are_an_error_and_none_is_a_start(tmp_path) -> None:
    assert newest_readable_checkpoint(tmp_path, read) is None
    save(tmp_path, 1, 2)
    for name in (LAST, PREVIOUS):
        (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(InputError, match=r"last\.ckpt: damaged; .* delete last\.ckpt and previous\.ckpt, and resume="):
        newest_readable_checkpoint(tmp_path, read)


def test_ctrl_c_within_a_write_is_no_full_disk_and_keeps_the_last_checkpoint(tmp_path, monkeypatch) -> None:
    save(tmp_path, 1)
    before = torch.save

    class Stopped(io.BytesIO):
        def write(self, part: Any) -> int:
            if len(part) > 1000:  # within the weights
                raise KeyboardInterrupt
            return super().write(part)

    monkeypatch.setattr(torch, "save", lambda checkpoint, _: before(checkpoint, Stopped()))
    with pytest.raises(KeyboardInterrupt):
        AtomicCheckpoints().save_checkpoint({"epoch": 2, "weight": torch.zeros(1000, 100)}, tmp_path / LAST)
    assert read(tmp_path / LAST) == 1
    assert [path.name for path in tmp_path.iterdir()] == [LAST]


def test_a_failed_write_keeps_the_last_checkpoint_intact(tmp_path, monkeypatch) -> None:
    save(tmp_path, 1)

    def full(*_: object) -> None:
        raise RuntimeError("PytorchStreamWriter failed writing file")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(OSError, match="could not be written"):
        save(tmp_path, 2)
    assert read(tmp_path / LAST) == 1
    assert [path.name for path in tmp_path.iterdir()] == [LAST]


def test_a_new_word_gets_the_trained_vector_of_its_lower_case(tmp_path) -> None:
    save_run_vectors(tmp_path, Vocabulary(["red"]), np.ones((3, 2), np.float32), lowercase=True)
    trained = torch.tensor([[0.0, 0], [0, 0], [7, 8]])
    source = InitialRun("run", {"embedding.table": trained}, load_run_vectors(tmp_path))
    words, looked_up = extend_vocabulary(source, Vocabulary(["Red"]), None)
    assert dict(zip(words.words, looked_up.matrix.tolist(), strict=True))["Red"] == [7, 8]


def test_a_word_without_a_vector_in_the_first_run_counts_as_such_in_the_next(tmp_path) -> None:
    save_run_vectors(tmp_path, Vocabulary(["red", "blue"]), np.eye(4, 1, -2, np.float32))
    _, looked_up = extend_vocabulary(InitialRun("run", {}, load_run_vectors(tmp_path)), Vocabulary(["blue"]), None)
    assert looked_up.coverage == "word vectors: 1 of 2 words found, 0 composed of subwords, 1 without a vector"
