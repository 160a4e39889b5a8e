from types import SimpleNamespace
from typing import Any

import pytest

from datamodules.base import ResumableData
from encoder_lab.errors import InputError


def among(processes: int, done: int = 0, limit: float = 1.0) -> Any:
    """A datamodule in a trainer with `processes`, after some of 100 batches."""
    data: Any = ResumableData(batch_size=4, seed=1)
    progress = SimpleNamespace(batch_progress=SimpleNamespace(current=SimpleNamespace(ready=done)))
    loops = SimpleNamespace(epoch_loop=progress)
    trainer = {"world_size": processes, "num_training_batches": 100, "limit_train_batches": limit}
    data.trainer = SimpleNamespace(**trainer, fit_loop=loops)
    return data


def test_an_epoch_resumes_only_with_the_same_number_of_processes() -> None:
    stopped = among(processes=1, done=60).state_dict()
    among(processes=1).load_state_dict(stopped)
    with pytest.raises(InputError, match="began with 1, and now it is 4; resume with 1, or"):
        among(processes=4).load_state_dict(stopped)


def test_an_epoch_resumes_only_with_the_same_part_of_its_batches() -> None:
    with pytest.raises(InputError, match=r"limit_train_batches: .* began with 1.0, and now it is 1; resume with 1.0"):
        among(processes=1, limit=1).load_state_dict(among(processes=1, done=60).state_dict())


def test_both_may_change_between_epochs() -> None:
    among(processes=4, limit=2).load_state_dict(among(processes=1, done=100).state_dict())
