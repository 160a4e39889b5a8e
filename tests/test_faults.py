"""Killed at fifty random moments, short of disk, or on a read-only one: a run loses nothing."""

import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from datamodules.files import read_csv
from probes.results import read_rows
from tests.conftest import ROOT, TINY, Lab
from tests.test_train import assert_same_weights

KILLS = 50
SMALLER = ["corpus.size=150", "probes.tasks=[SentLen,BShift]", "probes.classifier.widths=[0]"]
SETTINGS = [*TINY, *SMALLER, "checkpoint_every_n_steps=3"]
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["train"])  # an attempt begins at once, not with seconds of imports


def attempt(arguments: list[str]) -> None:
    """`python train.py`, in a process that has its imports already."""
    os.chdir(ROOT)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    sys.argv = ["train.py", *arguments]
    from train import command

    command(arguments)


def killed_until_done(folder: Path, chance: random.Random, longest: float) -> int:
    """Start a run, kill it after a random time, resume it, and so on to its end; how often it was killed."""
    run, kills = folder / "run", 0
    first = [*SETTINGS, f"cache={folder / 'cache'}", f"hydra.run.dir={run}"]
    while True:
        begun = (run / "config.yaml").exists()
        process = FORKS.Process(target=attempt, args=([f"resume={run}"] if begun else first,))
        process.start()
        process.join(chance.uniform(0, longest / 2 if begun else longest))  # the second time all is prepared
        if process.exitcode is None:
            process.kill()
            process.join()
            kills += 1
        else:
            assert process.exitcode == 0, f"attempt after {kills} kills ended with {process.exitcode}"
            return kills


def without_seconds(run: Path) -> list:
    metrics = [{k: v for k, v in row.items() if k != "seconds"} for row in read_csv(run / "metrics.csv")]
    return [metrics, [replace(row, seconds=0.0) for row in read_rows(run / "probes.csv")]]


def test_fifty_kills_at_random_moments_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    whole = tmp_path / "whole"
    for settings in (["--help"], [*SETTINGS, f"cache={tmp_path / 'cache'}", f"hydra.run.dir={whole}"]):
        started = time.monotonic()
        process = FORKS.Process(target=attempt, args=(settings,))
        process.start()
        process.join()
        longest = time.monotonic() - started
    chance, kills, runs = random.Random(1), 0, 0
    while kills < KILLS:
        folder = tmp_path / str(runs)
        kills, runs = kills + killed_until_done(folder, chance, longest), runs + 1
        assert_same_weights(folder / "run", whole)
        assert without_seconds(folder / "run") == without_seconds(whole)
        shutil.rmtree(folder)


SMALL_DISK = """
set -u
mount -t tmpfs -o size=64m tmpfs {disk} || exit 77
python() {{ {python} "$@" 2>> {said}; }}
{python} train.py {settings} 2> {said} &
while [ ! -e {disk}/run/checkpoints/last.ckpt ]; do sleep 0.01; done
{fault}
"""
FULL = """
dd if=/dev/zero of={disk}/fill bs=64k 2> /dev/null
wait $!; echo "status $?"
rm {disk}/fill
python train.py resume={disk}/run; echo "status $?"
"""
READ_ONLY = """
kill -9 $!; wait $! 2> /dev/null
mount -o remount,ro {disk}
python train.py resume={disk}/run; echo "status $?"
mount -o remount,rw {disk}
python train.py resume={disk}/run; echo "status $?"
"""


@pytest.mark.parametrize(
    ("fault", "reason"), [(FULL, "No space left on device"), (READ_ONLY, "Read-only file system")], ids=["full", "ro"]
)
def test_a_disk_that_takes_nothing_more_ends_in_one_line_and_the_run_goes_on_later(
    lab: Lab, finished_run: Path, tmp_path: Path, fault: str, reason: str
) -> None:
    disk, said = tmp_path / "disk", tmp_path / "said"
    disk.mkdir()
    settings = " ".join(f"'{text}'" for text in lab.settings(disk / "run", "checkpoint_every_n_steps=2"))
    names = {"disk": disk, "said": said, "python": sys.executable, "settings": settings}
    script = SMALL_DISK.format(fault=fault.format(**names), **names)
    script += f"cp -r {disk}/run {tmp_path}/run\n"
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = ["unshare", "-rm", "bash", "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=one_thread, check=False, timeout=300)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("no disk of its own can be mounted here")
    assert [line for line in done.stdout.splitlines() if line.startswith("status")] == ["status 2", "status 0"]
    errors = said.read_text()
    assert reason in errors
    assert f"python train.py resume={disk}/run" in errors
    assert "Traceback" not in errors
    assert_same_weights(tmp_path / "run", finished_run)


NO_DISK = """
mount -t tmpfs -o size=1m tmpfs {disk} || exit 77
dd if=/dev/zero of={disk}/fill bs=64k count={blocks} 2> /dev/null
{python} {command}; echo "status $?"
ls -A {disk} | grep -v -x -e fill -e run
mount -o remount,ro {disk}
{python} {command}; echo "status $?"
"""
ENCODE = """-c "
from encoders import load_encoder
try: load_encoder('tests/golden_run').encode([str(i) for i in range(50_000)], out='{disk}/vectors.npy')
except OSError as error: raise SystemExit(print('error:', error, file=__import__('sys').stderr) or 2)
" """
COMMANDS = {
    "train": ("train.py {settings}", 16),
    "evaluate": ("evaluate.py model=majority probes.tasks=[SentLen] cache={cache} out={disk}/run", 16),
    "report": ("report.py table {run} --out {disk}/table.md", 16),
    "encode": (ENCODE, 14),  # room for the beginning of what it writes
}


@pytest.mark.parametrize(("command", "blocks"), COMMANDS.values(), ids=COMMANDS.keys())
def test_a_disk_that_takes_nothing_from_the_start_is_one_line(
    lab: Lab, finished_run: Path, tmp_path: Path, command: str, blocks: int
) -> None:
    (disk := tmp_path / "disk").mkdir()
    settings = " ".join(f"'{text}'" for text in lab.settings(disk / "run"))
    names = {"disk": disk, "cache": lab.cache, "run": finished_run, "settings": settings}
    script = NO_DISK.format(command=command.format(**names), python=sys.executable, disk=disk, blocks=blocks)
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    started = ["unshare", "-rm", "bash", "-c", script]
    done = subprocess.run(started, cwd=ROOT, capture_output=True, text=True, env=one_thread, check=False, timeout=300)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("no disk of its own can be mounted here")
    assert done.stdout.splitlines() == ["status 2", "status 2"]
    full, read_only = done.stderr.splitlines()
    assert full.startswith("error: ")
    assert "No space left on device" in full
    assert read_only.startswith("error: ")
    assert "Read-only file system" in read_only
    assert str(disk) in full
    assert str(disk) in read_only
