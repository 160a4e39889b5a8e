"""Progress where no terminal shows a bar, and the first line where one does."""

import os
import pty
import subprocess
import sys

import pytest

from encoder_lab import progress
from encoder_lab.progress import Progress, duration, print_progress_lines
from tests.commands import ROOT


@pytest.mark.parametrize("seconds", [0.0, 30.0])
def test_a_library_prints_nothing_and_a_program_a_line_with_the_name_of_its_run(monkeypatch, capsys, seconds) -> None:
    monkeypatch.setattr(progress, "_run_names", [])
    monkeypatch.setattr(progress, "SECONDS_PER_LINE", seconds)
    assert list(Progress(range(3), "reading", unit=" lines")) == [0, 1, 2]
    assert capsys.readouterr().err == ""
    print_progress_lines("runs/a")
    with Progress(total=1000, desc="scores of BoV", unit=" tasks") as bar:
        bar.update(250)
        bar.clear()
    bar.close()
    printed = capsys.readouterr().err
    assert printed.endswith("runs/a: scores of BoV: 250 of 1,000 tasks, 0 s, 0 s left\n" if seconds == 0 else "")
    assert bool(printed) == (seconds == 0)  # work of less than half a minute prints none
    assert "\r" not in printed


@pytest.mark.parametrize(("seconds", "text"), [(8.4, "8 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")])
def test_a_time_is_written_for_a_person(seconds, text) -> None:
    assert duration(seconds) == text


def test_a_terminal_shows_a_line_before_slow_libraries_are_imported() -> None:
    ours, theirs = pty.openpty()
    slow = "import sys; sys.modules.update(hydra=None, torch=None); import train; train.main(['encoder=bov'])"
    subprocess.Popen([sys.executable, "-c", slow], cwd=ROOT, stdout=theirs, stderr=subprocess.PIPE).communicate()
    assert os.read(ours, 1000).decode().strip() == "loads PyTorch and Lightning: a few seconds"
    os.close(ours)
    os.close(theirs)
