"""The cache or the folder of a run is deleted or renamed while it trains: it goes on, or ends in one line."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from tests.commands import FORKS, ROOT
from tests.test_faults import SETTINGS


def deleted(folder: Path) -> None:
    shutil.rmtree(folder)


def renamed(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


def trained(arguments: list[str], log: Path, moment: str, remove: Callable[[Path], None], gone: Path) -> None:
    """`python train.py` in this process, a fresh fork; `gone` disappears before the first call of a function."""
    os.chdir(ROOT)
    for number, file in ((1, os.devnull), (2, log)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), number)
    sys.argv = ["train.py", *arguments]
    from train import main

    place, _, name = moment.rpartition(".")
    owner = resolve_name(place)
    first: Callable[..., Any] = getattr(owner, name)

    def after_removal(*arguments: Any, **more: Any) -> Any:
        if gone.exists():
            remove(gone)
        setattr(owner, name, first)
        return first(*arguments, **more)

    setattr(owner, name, after_removal)
    main(arguments)


@pytest.mark.parametrize(("moment", "remove", "what", "ends"), [
    ("objectives.sequence.SequenceObjective.training_step", deleted, "cache", {0, 2}),
    ("probes.probing.data.write_task", deleted, "cache", {0, 2}),  # while the cache is filled
    ("encoder_lab.training.checkpoints.AtomicCheckpoints.save_checkpoint", renamed, "run", {2}),
])  # fmt: skip
def test_a_folder_that_disappears_is_one_line_at_most(lab, tmp_path, moment, remove, what, ends) -> None:
    run, log = tmp_path / "run", tmp_path / "log"
    cold = [*SETTINGS, f"cache={tmp_path / 'cache'}", f"hydra.run.dir={run}"]
    arguments = cold if what == "cache" else lab.settings(run)
    process = FORKS.Process(target=trained, args=(arguments, log, moment, remove, tmp_path / what))
    process.start()
    process.join(300)
    errors = [line for line in log.read_text().splitlines() if line.startswith(("error: ", "Traceback"))]
    assert process.exitcode in ends, log.read_text()
    assert len(errors) == bool(process.exitcode), log.read_text()
    assert all(line.startswith("error: ") and str(tmp_path) in line for line in errors)
