"""Our commands without the seconds of their imports: a fork server imports all modules once and forks each command.

`start("train.py", "encoder=bov")` does what `python train.py encoder=bov` does, in a process and a process group of its
own, with its own arguments, environment and output. All commands of one server share the hashes of strings.
"""

import atexit
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("common", "datamodules", "encoders", "evaluation", "objectives", "probes", "reports", "studies", "training")
HEAVY = ("torch", "pytorch_lightning", "sklearn.linear_model", "transformers", "nltk.lm")  # even if we import them late
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if not path.stem.startswith("__")
]
FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(["train", "evaluate", "report", *HEAVY, *MODULES])


def become(
    arguments: Sequence[str], environment: Mapping[str, str] | None = None, out: str = "", err: str = ""
) -> None:
    """Do what `python ARGUMENTS` does, a script or `-m` and a module, in this process, which must be a fresh fork."""
    os.setpgrp()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # even if the tests are a shell's background job
    os.chdir(ROOT)
    if environment is not None:
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:0] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    for file, number in ((out, 1), (err, 2)):
        if file:
            os.dup2(os.open(file, os.O_WRONLY | os.O_APPEND), number)
    module = arguments[1] if arguments[0] == "-m" else ""
    sys.argv = list(arguments[1:] if module else arguments)
    try:
        if module:
            sys.modules.pop(module, None)
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(arguments[0], run_name="__main__")
    finally:
        atexit._run_exitfuncs()  # multiprocessing ends a process without them


class Command:
    """A running command, with the part of subprocess.Popen that our tests use."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        self.args = [sys.executable, *arguments]
        self._said = [tempfile.NamedTemporaryFile("r", encoding="utf-8") for _ in ("out", "err")]  # noqa: SIM115
        files = [file.name for file in self._said]
        self._process = FORKS.Process(target=become, args=(arguments, dict(environment), *files))
        self._process.start()
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        """The exit status, minus the number of the signal that ended it, or None while it runs."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self.returncode is None:
            self.kill()
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What it said, when it has ended."""
        self.wait(timeout)
        out, err = (file.read() for file in self._said)
        return out, err

    def kill(self) -> None:
        self._process.kill()


def start(*arguments: str, environment: Mapping[str, str] = os.environ) -> Command:
    """`python ARGUMENTS` in the background."""
    return Command(arguments, environment)


def finish(*arguments: str, environment: Mapping[str, str] = os.environ) -> subprocess.CompletedProcess:
    """`python ARGUMENTS` to its end."""
    command = start(*arguments, environment=environment)
    out, err = command.communicate(timeout=300)
    return subprocess.CompletedProcess(command.args, command.returncode, out, err)
