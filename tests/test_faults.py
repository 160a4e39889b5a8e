"""Killed at fifty moments of all its phases, short of disk, or on a read-only one: a run loses nothing."""

import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from common.csv_files import read_csv
from probes.results import read_rows
from tests.conftest import ROOT, TINY, Lab
from tests.phases import PHASES, START, Death, Watch, read_watch
from tests.test_resume import behind, recorded
from tests.test_train import assert_same_weights, weights

KILLS, EACH = 50, 6  # of one test, and at least so many in each phase
SMALLER = ["corpus.size=150", "probes.tasks=[SentLen,BShift]", "probes.classifier.widths=[0]"]
SETTINGS = [*TINY, *SMALLER, "checkpoint_every_n_steps=3"]
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["train"])  # an attempt begins at once, not with seconds of imports


def attempt(arguments: list[str], watched: Path, death: Death | None) -> None:
    """`python train.py`, in a process that has its imports already."""
    os.chdir(ROOT)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    sys.argv = ["train.py", *arguments]
    from train import command

    Watch(watched, death).begin()
    command(arguments)


def killed_after(seconds: float | None, arguments: list[str], watched: Path, death: Death | None) -> str | None:
    """The phase in which an attempt was killed, by us or at its `death`; None if it came to its end before."""
    watched.unlink(missing_ok=True)
    process = FORKS.Process(target=attempt, args=(arguments, watched, death))
    process.start()
    process.join(seconds)
    if process.exitcode is None:
        process.kill()
        process.join()
    assert process.exitcode in (0, -signal.SIGKILL), f"{death or seconds}: ended with {process.exitcode}"
    return read_watch(watched)[0] if process.exitcode else None


def kill_until_done(folder: Path, chance: random.Random, longest: float, moments: Counter, kills: Counter) -> None:
    """Start a run, kill it, resume it, and so on to its end; adds to `kills` the phases in which it was killed.

    Half of the kills come after a random time, half at a random moment of the phase that had the fewest. What the
    last checkpoint has behind it is never done again.
    """
    run, phase = folder / "run", ""
    first = [*SETTINGS, f"cache={folder / 'cache'}", f"hydra.run.dir={run}"]
    folder.mkdir()
    while phase is not None:
        settings = [f"resume={run}"] if (run / "config.yaml").exists() else first
        rarest = min(PHASES, key=lambda name: kills[name])
        death = Death(rarest, chance.randint(1, moments[rarest])) if chance.random() < 0.5 else None
        done_before = behind(run)
        phase = killed_after(None if death else chance.uniform(0, longest), settings, folder / "watched", death)
        assert done_before <= recorded(run)
        if phase:
            kills[phase] += 1


def test_a_death_before_the_first_word_of_a_watch_was_at_the_start(tmp_path: Path) -> None:
    watched = tmp_path / "watched"
    assert read_watch(watched) == (START, Counter())
    Watch(watched, None)  # opened, and killed before it wrote
    assert read_watch(watched) == (START, Counter())


def without_seconds(run: Path) -> list:
    metrics = [{k: v for k, v in row.items() if k != "seconds"} for row in read_csv(run / "metrics.csv")]
    return [metrics, [replace(row, seconds=0.0) for row in read_rows(run / "probes.csv")]]


def unfinished(run: Path) -> list[Path]:
    """What a run hides while it writes."""
    return [path for path in run.rglob("*") if path.name.startswith(".") or path.suffix in (".new", ".tmp")]


def test_fifty_kills_in_all_phases_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    whole, watched = tmp_path / "whole", tmp_path / "watched"
    for settings in (["--help"], [*SETTINGS, f"cache={tmp_path / 'cache'}", f"hydra.run.dir={whole}"]):
        started = time.monotonic()
        assert killed_after(None, settings, watched, None) is None
        longest = time.monotonic() - started
    moments = read_watch(watched)[1]
    chance, kills, runs = random.Random(1), Counter[str](), 0
    while kills.total() < KILLS or min(kills[phase] for phase in PHASES) < EACH:
        folder, runs = tmp_path / str(runs), runs + 1
        kill_until_done(folder, chance, longest, moments, kills)
        assert_same_weights(folder / "run", whole)
        assert without_seconds(folder / "run") == without_seconds(whole)
        assert unfinished(folder / "run") == []
        shutil.rmtree(folder)
    print(f"{runs} runs, killed in: {dict(kills)}")


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
cp -r {disk}/run {failed}
rm {disk}/fill
python train.py resume={disk}/run; echo "status $?"
"""
READ_ONLY = """
kill -9 $!; wait $! 2> /dev/null
mount -o remount,ro {disk}
python train.py resume={disk}/run; echo "status $?"
cp -r {disk}/run {failed}
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
    failed = tmp_path / "failed"  # the run as it was before the disk was mended
    names = {"disk": disk, "failed": failed, "said": said, "python": sys.executable, "settings": settings}
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
    assert "damaged" not in errors
    assert weights(failed)
    assert behind(failed) <= recorded(tmp_path / "run")
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
