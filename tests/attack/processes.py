"""Runs that are killed, interrupted, or lose their folders: nothing is lost, and the user reads one line.

Whole runs of some seconds, so `make attack` alone tries these; tests/test_resume.py and tests/test_faults.py have the
moments that a test suite has time for.
"""

import os
import shutil
import signal
import tempfile
import time
from functools import cache
from multiprocessing import Process
from pathlib import Path
from typing import Any

import torch
from hypothesis import strategies as st

from probes.results import read_rows
from tests import commands
from tests.attack.attack import Attack
from tests.conftest import TINY
from tests.phases import PHASES, Death, attempt, read_watch
from tests.test_train import assert_same_weights

MOST_SECONDS = 240
WAITS = 6.0  # at most, before a signal: about as long as a tiny run takes


@cache
def _place() -> Path:
    """A folder for this program, with the cache of all runs."""
    return Path(tempfile.mkdtemp(prefix="attack-"))


def _settings(run: Path) -> list[str]:
    return [*TINY, f"cache={_place() / 'cache'}", f"hydra.run.dir={run}"]


@cache
def _whole() -> Path:
    """A run that nobody disturbed."""
    run = _place() / "whole"
    done = commands.finish("train.py", *_settings(run))
    assert done.returncode == 0, done.stderr
    return run


def _continued(run: Path) -> None:
    """The run, continued to its end, equals the whole one."""
    arguments = [f"resume={run}"] if (run / "config.yaml").exists() else _settings(run)
    done = commands.finish("train.py", *arguments)
    assert done.returncode == 0, done.stderr
    assert_same_weights(run, _whole())
    ours, theirs = (read_rows(folder / "probes.csv") for folder in (run, _whole()))
    assert [(r.epoch, r.task, r.test_accuracy) for r in ours] == [(r.epoch, r.task, r.test_accuracy) for r in theirs]
    assert [path.name for path in run.rglob(".*")] == [".running"]
    assert _checkpoints(run) == _checkpoints(_whole())


def _checkpoints(run: Path) -> dict[str, Any]:
    """What the callbacks keep in each checkpoint, without the place of the run."""
    read = {path.name: torch.load(path, weights_only=True) for path in (run / "checkpoints").iterdir()}
    return {name: str(checkpoint.get("callbacks")).replace(str(run), "") for name, checkpoint in read.items()}


def killed(case: Any, folder: Path) -> None:
    """SIGKILL at some moment of some phase."""
    phase, moment = case
    run, watched = folder / "run", folder / "watched"
    _whole()
    process = Process(target=attempt, args=(_settings(run), watched, Death(phase, moment)))
    process.start()
    process.join(MOST_SECONDS)
    assert not process.is_alive()
    read_watch(watched)
    _continued(run)


def signalled(case: Any, folder: Path) -> None:
    """Ctrl-C, SIGTERM or a closed terminal after some seconds, once or twice."""
    name, share, twice = case
    run = folder / "run"
    _whole()
    process = commands.start("train.py", *_settings(run))
    time.sleep(share * WAITS)
    for pause in (0.0, 0.2)[: 1 + twice]:
        time.sleep(pause)
        if process.poll() is None:
            os.kill(process.pid or 0, getattr(signal, name))
    _, errors = process.communicate(MOST_SECONDS)
    assert "Traceback" not in errors, errors
    _continued(run)


def removed(case: Any, folder: Path) -> None:
    """The cache, or the folder of the run or a part of it, is renamed or deleted while it trains.

    One line, or it goes on. Without the cache the run can be continued to the same end.
    """
    what, share, deleted = case
    run, cache_of_it = folder / "run", folder / "cache"
    _whole()
    shutil.copytree(_place() / "cache", cache_of_it)
    process = commands.start("train.py", *TINY, f"cache={cache_of_it}", f"hydra.run.dir={run}")
    time.sleep(share * WAITS)
    gone = {"cache": cache_of_it, "run": run}.get(what, run / what)
    if gone.exists() and deleted:
        shutil.rmtree(gone, ignore_errors=True) if gone.is_dir() else gone.unlink()
    elif gone.exists():
        gone.rename(folder / "elsewhere")
    _, errors = process.communicate(MOST_SECONDS)
    assert "Traceback" not in errors, errors[-3000:]
    assert process.returncode in (0, 2), errors
    assert process.returncode == 0 or sum(line.startswith("error: ") for line in errors.splitlines()) == 1, errors
    if what == "cache":
        _continued(run)


PARTS = ["cache", "run", "checkpoints", "vectors", "metrics.csv", "probes.csv", "config.yaml", ".running"]
_share = st.floats(0, 1, width=16)
ATTACKS = [
    Attack("kill", st.tuples(st.sampled_from(sorted(PHASES)), st.integers(1, 20)), killed),
    Attack("signal", st.tuples(st.sampled_from(["SIGINT", "SIGTERM", "SIGHUP"]), _share, st.booleans()), signalled),
    Attack("removal", st.tuples(st.sampled_from(PARTS), _share, st.booleans()), removed),
]
