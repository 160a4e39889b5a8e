"""Runs of the real command, small enough for a test."""

import os
import signal
import subprocess
import sys
from pathlib import Path

os.environ.setdefault("GOMP_SPINCOUNT", "10000")  # as train.py does, before torch is loaded

import pytest
from hypothesis import HealthCheck, settings

# A busy machine fails no test, and fixtures are made to serve many examples.
CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
settings.register_profile("no clock", deadline=None, suppress_health_check=CHECKS)
settings.load_profile("no clock")

ROOT = Path(__file__).parents[1]
TINY = [
    "encoder.dim=16",
    "encoder.projection=12",
    "embeddings.dim=10",
    "embeddings.bucket=100",
    "embeddings.words=5000",
    "corpus.size=400",
    "objective.decoder_embedding=8",
    "objective.decoder_hidden=12",
    "probes.tasks=[SentLen,BShift,SubjNum]",
    "probes.train_size=120",
    "probes.dev_size=60",
    "probes.test_size=60",
    "trainer.max_epochs=2",
    "trainer.enable_progress_bar=false",
]


class Lab:
    """Starts `python train.py` with a cache of its own."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache

    def start(self, *arguments: str, launcher: tuple[str, ...] = ()) -> subprocess.Popen:
        """The command in the background; its output is read as text."""
        command = [sys.executable, *launcher, "train.py", *arguments]
        pipe = subprocess.PIPE
        one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}  # tiny products gain nothing from two
        return subprocess.Popen(
            command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, env=one_thread, preexec_fn=_heed_interrupts
        )

    def finish(self, *arguments: str, launcher: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
        """The command to its end."""
        process = self.start(*arguments, launcher=launcher)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def settings(self, run: Path, *more: str) -> list[str]:
        """A tiny run in the folder `run`."""
        return [*TINY, f"cache={self.cache}", f"hydra.run.dir={run}", *more]


def _heed_interrupts() -> None:
    """Even if the tests are a shell's background job, which ignores them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def finished_run(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two epochs that nobody disturbed. Tests must not write into it."""
    run = tmp_path_factory.mktemp("runs") / "whole"
    done = lab.finish(*lab.settings(run))
    assert done.returncode == 0, done.stderr
    return run
