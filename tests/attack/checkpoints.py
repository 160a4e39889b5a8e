"""Checkpoints that are whole as files, with one part of their content missing or odd."""

import copy
import logging
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import torch
from hypothesis import strategies as st
from torch.utils.data import DataLoader

from encoder_lab.training.checkpoints import LAST, PREVIOUS, newest_readable_checkpoint, read_resumable
from encoder_lab.training.trainer import fit as train
from encoders.load import read_checkpoint
from tests.attack.attack import GONE, Attack, corrupt, refused, unchanged
from tests.fuzzing import limits
from tests.parts import SCHEDULES, Parts, fit, trainer_in

ODD: list[Any] = [
    None, 0, -1, 10**18, 2**70, True, 1.5, float("nan"), float("inf"), "", "abc", "../../victim", [], {}, [1],
]  # fmt: skip
ODD += [
    {"a": 1}, [[]], torch.zeros(0), torch.zeros(3, 5), "/etc/passwd", GONE, 10**9, -0.5,
    torch.zeros(2, 3).to_sparse(), torch.zeros(2, 3, device="meta"),
]  # fmt: skip


@cache
def _of_parts(schedule: str) -> dict[str, Any]:
    """A checkpoint after one epoch, with a schedule, early stopping and a part that was not trained."""
    with tempfile.TemporaryDirectory() as folder:
        fit(trainer_in(Path(folder), schedule, 1), _parts(), [0])
        return read_checkpoint(Path(folder) / LAST)


def _parts() -> Parts:
    return Parts(partial(torch.optim.Adam, lr=0.01), freeze=False)


def resumed(case: Any, folder: Path) -> None:
    """The corrupted checkpoint is refused in one line, and the previous one taken; or training continues from it."""
    steps, odd, schedule = case
    checkpoints = folder / "run" / "checkpoints"
    checkpoints.mkdir(parents=True)
    (folder / "victim").write_text("mine")
    whole = _of_parts(schedule)
    corrupted = copy.deepcopy(whole)
    corrupt(corrupted, steps, ODD[odd])
    torch.save(whole, checkpoints / PREVIOUS)
    torch.save(corrupted, checkpoints / LAST)
    module, trainer = _parts(), trainer_in(checkpoints, schedule, 2)
    message = refused(lambda: read_resumable(checkpoints / LAST, module))
    if message:
        logging.disable(logging.WARNING)
        try:
            chosen = newest_readable_checkpoint(checkpoints, lambda path: read_resumable(path, module))
        finally:
            logging.disable(logging.NOTSET)
        assert chosen == checkpoints / PREVIOUS
        return
    with unchanged(folder / "victim"), limits():
        refused(lambda: train(trainer, module, DataLoader([0, 1]), ANY, folder / "run"))
    assert (folder / "victim").read_text() == "mine"


_steps = st.lists(st.integers(0, 20), min_size=1, max_size=6)
_odd = st.integers(0, len(ODD) - 1)
ATTACKS = [Attack("checkpoint", st.tuples(_steps, _odd, st.sampled_from(sorted(SCHEDULES))), resumed)]
