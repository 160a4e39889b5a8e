"""Several processes need the same folder at once: one builds it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from encoder_lab.storage.files import make_once
from tests.conftest import ROOT

MAKES = """
import os, sys, time
from pathlib import Path
from encoder_lab.storage.files import make_once
made = Path(sys.argv[1])

def make():
    with open(made.with_name("makers"), "a") as file:
        file.write(f"{os.getpid()}\\n")
    time.sleep(float(sys.argv[2]))
    made.write_text("all of it")

make_once(made, made.exists, make)
assert made.read_text() == "all of it"
"""


def maker(made: Path, seconds: float) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", MAKES, str(made), str(seconds)], cwd=ROOT)


def test_one_of_several_processes_builds_and_the_others_wait(tmp_path) -> None:
    processes = [maker(tmp_path / "made", 0.5) for _ in range(6)]
    assert [process.wait(60) for process in processes] == [0] * 6
    assert len((tmp_path / "makers").read_text().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [".made.lock", "made", "makers"]


def test_the_next_process_builds_if_the_builder_dies(tmp_path) -> None:
    dead = maker(tmp_path / "made", 60)
    while not (tmp_path / "makers").exists():
        time.sleep(0.01)
    dead.kill()
    dead.wait()
    assert maker(tmp_path / "made", 0).wait(60) == 0


def test_an_existing_folder_needs_no_lock(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(os, "open", None)  # as on a read-only disk
    make_once(tmp_path / "made", lambda: True, lambda: pytest.fail("made again"))
