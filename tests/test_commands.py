"""A command in a process that has its imports already is the command that a user starts."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests import commands
from tests.conftest import ROOT

COMMANDS = {
    "train": ["train.py", "encoder=nonsense"],
    "evaluate": ["evaluate.py", "model=bov", "suite=nonsense"],
    "report": ["report.py", "nonsense"],
    "encode": ["-m", "encoders.encode", "no/such/run"],
    "build": ["-m", "probes.probing.build"],
    "download": ["-m", "datamodules.download"],
    "demo": ["-m", "datamodules.demo", "--help"],
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_command_with_its_imports_done_ends_and_says_as_from_the_start(arguments) -> None:
    cold = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    done = commands.finish(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (cold.returncode, cold.stdout, cold.stderr)


def test_a_command_has_its_own_environment(tmp_path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import os, sys\nprint(sorted(os.environ), sys.argv, __name__, os.getpgid(0) == os.getpid())\n")
    done = commands.finish(str(script), "a b", environment={"B": "2", "A": "1"})
    assert done.stdout == f"['A', 'B'] ['{script}', 'a b'] __main__ True\n"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_a_command_ends_by_a_signal(lab, tmp_path, number, status) -> None:
    run = tmp_path / "run"
    command = lab.start(*lab.settings(run))
    while command.poll() is None and not (run / "config.yaml").exists():
        time.sleep(0.01)
    os.killpg(command.pid, number)
    assert command.wait(60) == status
