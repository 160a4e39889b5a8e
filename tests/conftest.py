"""Runs of the real command, small enough for a test."""

import gc
import os
import subprocess
import sys
from pathlib import Path

os.environ.setdefault("GOMP_SPINCOUNT", "10000")  # as train.py does, before torch is loaded
os.environ.setdefault("OMP_NUM_THREADS", "1")  # tiny products gain nothing from two
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")  # expected numbers are a CPU's; `make gpu` compares a GPU's

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

from tests import commands, quick  # noqa: F401

# `make test` tries a law on 15 examples, `make test-nightly` (HYPOTHESIS_PROFILE=nightly) on 1,000. A test with slow
# examples gives a smaller number of its own. Neither profile has a clock: a busy machine fails no test. Fixtures are
# made to serve many examples.
CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
settings.register_profile("default", max_examples=15, deadline=None, suppress_health_check=CHECKS)
settings.register_profile("nightly", settings.get_profile("default"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

ROOT = commands.ROOT
TINY = [
    "encoder.dim=16", "encoder.projection=12", "embeddings.dim=10", "embeddings.bucket=100", "embeddings.words=5000",
    "corpus.size=160", "objective.decoder_embedding=8", "objective.decoder_hidden=12",
    "probes.tasks=[SentLen,BShift,SubjNum]", "probes.train_size=120", "probes.dev_size=60", "probes.test_size=60",
    "probes.classifier.widths=[20]", "probes.classifier.dropouts=[0.0]", "trainer.max_epochs=2",
    "trainer.enable_progress_bar=false", "logger=[]",
]  # fmt: skip


SERVER = "FORK_SERVER"  # where the test processes of xdist find the one that forks commands for all of them


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        commands.use(os.environ[SERVER])
    elif config.getoption("numprocesses", None):
        os.environ[SERVER] = commands.address()


gc.disable()  # until all modules are imported: to search them again and again takes a fifth of that time


def pytest_collection_finish() -> None:
    """From here on the collector leaves alone what is loaded: a million objects that stay."""
    gc.freeze()
    gc.enable()


class Lab:
    """Starts `python train.py` with a cache of its own."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache

    def start(self, *arguments: str, forking: bool = False) -> commands.Command:
        """The command in the background, with its imports done."""
        return commands.start("train.py", *arguments, forking=forking)

    def finish(self, *arguments: str, forking: bool = False) -> subprocess.CompletedProcess:
        """The command to its end, with its imports done."""
        return commands.finish("train.py", *arguments, forking=forking)

    def succeed(self, *arguments: str, forking: bool = False) -> str:
        """What the command prints. Fails unless it ends well."""
        return commands.succeed("train.py", *arguments, forking=forking)

    def refusal(self, *arguments: str) -> str:
        """The one line in which the command ends. Fails if it prints more lines of errors, or ends otherwise."""
        return commands.refusal("train.py", *arguments)

    def cold(self, *arguments: str) -> subprocess.CompletedProcess:
        """The command as a user starts it, to its end."""
        command = [sys.executable, "train.py", *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)

    def settings(self, run: Path, *more: str) -> list[str]:
        """A tiny run in the folder `run`."""
        return [*TINY, f"cache={self.cache}", f"hydra.run.dir={run}", *more]


@pytest.fixture(scope="session")
def shared(tmp_path_factory) -> Path:
    """A folder that all processes of this run of the tests have."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session")
def lab(shared) -> Lab:
    (shared / "cache").mkdir(exist_ok=True)
    return Lab(shared / "cache")


@pytest.fixture(scope="session")
def finished_run(lab, shared) -> Path:
    """A run of two epochs that nobody disturbed. Tests must not write into it."""
    run, done = shared / "whole", shared / "whole.done"
    with FileLock(shared / "whole.lock"):
        if not done.exists():  # cold, so with other hashes of strings than the runs that must equal it
            ended = lab.cold(*lab.settings(run, "logger=[tensorboard]", "trainer.log_every_n_steps=4"))
            assert ended.returncode == 0, ended.stderr
            done.touch()
    return run
