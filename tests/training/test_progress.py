"""Progress in a terminal and in a file, within an epoch and elsewhere; epochs are counted as everywhere."""

import os
import pty
import subprocess
import sys
import warnings
from types import SimpleNamespace

import pytest
import pytorch_lightning as pl
import torch
from pytorch_lightning.demos.boring_classes import BoringModel

from encoder_lab import progress
from encoder_lab.progress import Progress, duration, print_progress_lines
from encoder_lab.training.progress import EpochsFrom1, StepProgress, epoch_of, epochs_left
from tests.commands import ROOT
from tests.silent import QUIET


@pytest.mark.parametrize(("end", "text"), [(2, "epoch 2/2"), (-1, "epoch 2"), (None, "epoch 2")])
def test_the_second_epoch_of_two_is_epoch_2_of_2(end, text) -> None:
    assert epoch_of(SimpleNamespace(current_epoch=1, max_epochs=end)) == text


def test_the_bar_shows_it() -> None:
    bar = EpochsFrom1()
    bar._trainer = SimpleNamespace(current_epoch=1, max_epochs=2, num_training_batches=1)
    bar.train_progress_bar = bar.init_train_tqdm()
    bar.on_train_epoch_start(bar._trainer)
    assert bar.train_progress_bar.desc.strip(": ") == "Epoch 2/2"


def test_a_file_has_lines_of_the_steps_and_of_dev_with_the_name_of_the_run(monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "_run_names", ["runs/a"])
    monkeypatch.setattr(progress, "SECONDS_PER_LINE", 0.0)
    limits = {"max_epochs": 2, "max_steps": 5, "limit_train_batches": 3, "limit_val_batches": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pl.Trainer(**QUIET | limits, accelerator="cpu", callbacks=[StepProgress()]).fit(BoringModel())
    lines = capsys.readouterr().err.splitlines()
    counted = []
    for epoch, steps in ((1, 3), (2, 2)):
        counted += [f"epoch {epoch}/2: {step} of {steps} steps" for step in range(steps + 1)]
        counted += [f"epoch {epoch}/2, dev: {n} of 1 batches" for n in (0, 1)] * (steps == 3)
    assert [line.split(", 0 s")[0] for line in lines] == [f"runs/a: {line}" for line in counted]


@pytest.mark.parametrize(("epochs", "steps", "left"), [
    (5, -1, 3), (5, 35, 1.5), (5, 1000, 3), (-1, 40, 2), (-1, -1, 0), (None, -1, 0), (5, 20, 0),
])  # fmt: skip
def test_what_is_left_ends_with_the_epochs_or_the_steps(epochs, steps, left) -> None:
    """Two epochs of ten steps are done."""
    ends = {"max_epochs": epochs, "max_steps": steps}
    assert epochs_left(SimpleNamespace(current_epoch=1, global_step=20, num_training_batches=10, **ends)) == left


def test_a_resumed_epoch_counts_on(monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "_run_names", [""])
    monkeypatch.setattr(progress, "SECONDS_PER_LINE", 0.0)
    ends = {"max_epochs": -1, "max_steps": -1, "num_training_batches": float("inf")}
    trainer = SimpleNamespace(current_epoch=0, is_global_zero=True, **ends)
    counts = StepProgress()
    counts.on_train_batch_start(trainer, None, torch.ones(1), 7)  # type: ignore[arg-type]
    counts.on_train_batch_end()
    assert capsys.readouterr().err.splitlines()[-1].startswith("epoch 1: 8 steps")


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


def test_a_terminal_shows_a_line_before_slow_libraries_are_imported(monkeypatch) -> None:
    monkeypatch.delenv("LOCAL_RANK", raising=False)  # Lightning leaves it where a test has trained in two processes
    ours, theirs = pty.openpty()
    slow = "import sys; sys.modules.update(hydra=None, torch=None); import train; train.main(['encoder=bov'])"
    subprocess.Popen([sys.executable, "-c", slow], cwd=ROOT, stdout=theirs, stderr=subprocess.PIPE).communicate()
    assert os.read(ours, 1000).decode().strip() == "loads PyTorch and Lightning: a few seconds"
    os.close(ours)
    os.close(theirs)


KILLED_WITH_THE_LOCK = """
import os, signal
from tqdm import tqdm
from encoder_lab.progress import Progress
Progress(total=1, disable=False).close()
if not (child := os.fork()):
    tqdm.get_lock().acquire()
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(child, 0)
Progress(total=1, disable=False).close()
"""


def test_a_process_that_is_killed_within_its_bar_does_not_stop_the_others() -> None:
    subprocess.run([sys.executable, "-c", KILLED_WITH_THE_LOCK], cwd=ROOT, check=True, timeout=60, capture_output=True)
