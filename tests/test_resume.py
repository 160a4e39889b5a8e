"""A run that is interrupted and resumed ends like an uninterrupted one; test_faults.py kills in each phase."""

import math
import os
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from encoder_lab.storage.csv_files import read_csv
from encoder_lab.storage.locks import locked
from encoders.load import open_run
from probes.results import ProbeRow, read_rows
from tests.conftest import Lab
from tests.test_train import assert_same_weights


def scores(run: Path) -> list[ProbeRow]:
    """probes.csv without the seconds that each score took."""
    return [replace(row, seconds=0.0) for row in read_rows(run / "probes.csv")]


def assert_same_run(run: Path, other: Path) -> None:
    """Weights and scores, without the seconds that an epoch took."""
    assert_same_weights(run, other)
    assert scores(run) == scores(other)
    ours, theirs = ([row | {"seconds": ""} for row in read_csv(path / "metrics.csv")] for path in (run, other))
    assert ours == theirs


def recorded(run: Path, until: float = math.inf) -> set[str]:
    """Lines of probes.csv and metrics.csv up to a step, with the seconds of each: made again, it would differ."""
    files = [run / name for name in ("probes.csv", "metrics.csv") if (run / name).exists()]
    lines = [line for file in files for line in file.read_text().splitlines()[1:]]
    return {line for line in lines if int(line.split(",")[1]) <= until}


def behind(run: Path, checkpoint: str = "last") -> set[str]:
    """The lines that were there when a checkpoint was written; none without it."""
    path = run / "checkpoints" / f"{checkpoint}.ckpt"
    return recorded(run, torch.load(path, weights_only=True)["global_step"]) if path.exists() else set()


def go_on(lab: Lab, run: Path, *more: str, after: str = "last") -> str:
    """Resume a run to its end; returns its output. Steps before the checkpoint must not be repeated."""
    done_before = behind(run, after)
    done = lab.finish(f"resume={run}", *more)
    assert done.returncode == 0, done.stderr
    assert done_before <= recorded(run)
    return done.stderr


def test_control_c_leaves_a_resumable_run_and_says_how_to_resume(lab, tmp_path) -> None:
    run = tmp_path / "run"
    process = lab.start(*lab.settings(run))
    while not (run / "probes.csv").exists():
        assert process.poll() is None, "the run ended before it was probed"
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGINT)
    errors = process.communicate(timeout=120)[1]
    assert process.returncode == 130
    assert f"python train.py resume={run}" in errors
    assert "Traceback" not in errors


def test_a_run_that_ends_within_an_epoch_is_scored_there_and_resumes_exactly(lab, finished_run, tmp_path) -> None:
    run = tmp_path / "run"
    steps = int(read_csv(finished_run / "metrics.csv")[0]["step"])
    assert lab.finish(*lab.settings(run, f"+trainer.max_steps={steps + 1}")).returncode == 0
    first, second = read_csv(run / "metrics.csv")
    assert (first["epoch"], second["epoch"], second["step"]) == ("1", "2", str(steps + 1))
    assert first["val/loss"] != second["val/loss"]
    assert open_run(run / "checkpoints" / "last.ckpt").epoch == pytest.approx(1 + 1 / steps)
    assert lab.finish(f"resume={run}", "trainer.max_steps=-1").returncode == 0
    assert_same_run(run, finished_run)


def test_a_run_that_was_moved_goes_on_to_more_epochs_and_steps_as_it_would_have(lab, finished_run, tmp_path) -> None:
    steps = int(read_csv(finished_run / "metrics.csv")[-1]["step"])
    assert lab.finish(*lab.settings(tmp_path / "here", "trainer.max_epochs=1")).returncode == 0
    run = (tmp_path / "here").rename(tmp_path / "there")
    go_on(lab, run, "trainer.max_epochs=2", f"+trainer.max_steps={steps}")
    assert_same_run(run, finished_run)


def test_two_processes_never_share_a_run(lab, finished_run, tmp_path) -> None:
    run, finished = tmp_path / "run", shutil.copytree(finished_run, tmp_path / "finished")
    with locked(run / ".running"), locked(finished / ".running"):
        assert "another process works on this run" in lab.refusal(f"resume={finished}")
        assert "another process works on this run" in lab.refusal(*lab.settings(run))
        assert [path.name for path in run.iterdir()] == [".running"]


def test_resuming_a_finished_run_changes_nothing(lab, finished_run, tmp_path) -> None:
    run = shutil.copytree(finished_run, tmp_path / "run")
    go_on(lab, run)
    assert_same_weights(run, finished_run)
    assert recorded(run) == recorded(finished_run)


def test_a_run_that_has_lost_its_checkpoints_keeps_its_scores(lab, finished_run, tmp_path) -> None:
    run = shutil.copytree(finished_run, tmp_path / "run")
    shutil.rmtree(run / "checkpoints")
    ended = lab.finish(f"resume={run}")
    assert (ended.returncode, recorded(run)) == (2, recorded(finished_run))
    assert "has scores until epoch 2 and no checkpoint to resume from; bring its" in ended.stderr


def test_a_run_with_a_truncated_last_checkpoint_resumes_from_the_previous_one(lab, finished_run, tmp_path) -> None:
    run = shutil.copytree(finished_run, tmp_path / "run")
    last = run / "checkpoints" / "last.ckpt"
    last.write_bytes(last.read_bytes()[:-1000])
    assert "last.ckpt: damaged" in go_on(lab, run, after="previous")
    assert_same_weights(run, finished_run)
    assert scores(run) == scores(finished_run)


def test_two_runs_that_fill_a_cache_together_equal_one_alone(finished_run, tmp_path) -> None:
    lab = Lab(tmp_path / "cache")
    runs = [tmp_path / "a", tmp_path / "b"]
    for process in [lab.start(*lab.settings(run)) for run in runs]:
        assert process.wait(300) == 0, process.communicate()
    for run in runs:
        assert_same_weights(run, finished_run)
        assert scores(run) == scores(finished_run)
    hidden = [path for path in lab.cache.iterdir() if path.name.startswith(".")]
    assert {path.suffix for path in hidden} == {".lock"}
