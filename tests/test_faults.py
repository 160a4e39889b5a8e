"""Killed at any moment of all its phases, short of disk, or on a read-only one: a run loses nothing."""

import math
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings

from encoder_lab.storage.csv_files import read_csv
from probes.results import read_rows
from tests import small_disk
from tests.commands import FORKS
from tests.conftest import TINY
from tests.phases import PHASES, START, Death, Watch, attempt, read_watch
from tests.test_resume import behind, recorded
from tests.test_train import assert_same_weights, weights

NIGHTLY = settings.get_current_profile_name() == "nightly"
KILLS, EACH = (50, 6) if NIGHTLY else (6, 1)  # in all, and at least so many in each phase
AIMED, EARLY = (0.5, 1.0) if NIGHTLY else (0.8, 0.5)  # the share at a moment of a phase, in this part of its moments
SMALLER = ["corpus.size=100", "probes.tasks=[SentLen,BShift]"]
SMALLER += ["probes.classifier.widths=[0]", *(f"probes.{split}_size=40" for split in ("train", "dev", "test"))]
SETTINGS = [*TINY, *SMALLER, "embeddings.words=500", "checkpoints.every_n_steps=3"]


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


def more_wanted(kills: Counter) -> bool:
    return kills.total() < KILLS or min(kills[phase] for phase in PHASES) < EACH


def kill_until_done(folder: Path, chance: random.Random, longest: float, moments: Counter, kills: Counter) -> None:
    """Start a run, kill it, resume it, and so on to its end; adds to `kills` the phases in which it was killed.

    Some kills come after a random time, the others at a random moment of the phase that had the fewest: an early one
    where few are wanted, so that it comes also in a run that goes on. What the last checkpoint has behind it is never
    done again.
    """
    run, phase = folder / "run", ""
    first = [*SETTINGS, f"cache={folder / 'cache'}", f"hydra.run.dir={run}"]
    folder.mkdir()
    while phase is not None:
        arguments = [f"resume={run}"] if (run / "config.yaml").exists() else first
        rarest = min(PHASES, key=lambda name: kills[name])
        last = math.ceil(EARLY * moments[rarest])
        death = Death(rarest, chance.randint(1, last)) if chance.random() < AIMED else None
        seconds = None if death else chance.uniform(0, longest)
        if not more_wanted(kills):
            seconds = death = None
        done_before = behind(run)
        phase = killed_after(seconds, arguments, folder / "watched", death)
        assert done_before <= recorded(run)
        if phase:
            kills[phase] += 1


def test_a_death_before_the_first_word_of_a_watch_was_at_the_start(tmp_path) -> None:
    watched = tmp_path / "watched"
    assert read_watch(watched) == (START, Counter())
    Watch(watched, None)  # opened, and killed before it wrote
    assert read_watch(watched) == (START, Counter())


def without_seconds(run: Path) -> list:
    metrics = [{k: v for k, v in row.items() if k != "seconds"} for row in read_csv(run / "metrics.csv")]
    return [metrics, [replace(row, seconds=0.0) for row in read_rows(run / "probes.csv")]]


def unfinished(run: Path) -> list[Path]:
    """What a run hides while it writes; its lock file stays."""
    return [path for path in run.rglob(".*") if path.name != ".running"]


def test_kills_in_all_phases_change_nothing(tmp_path) -> None:
    whole, watched = tmp_path / "whole", tmp_path / "watched"
    for arguments in (["--help"], [*SETTINGS, f"cache={tmp_path / 'cache'}", f"hydra.run.dir={whole}"]):
        started = time.monotonic()
        assert killed_after(None, arguments, watched, None) is None
        longest = time.monotonic() - started
    moments = read_watch(watched)[1]
    chance, kills, runs = random.Random(1), Counter[str](), 0
    while more_wanted(kills):
        folder, runs = tmp_path / str(runs), runs + 1
        kill_until_done(folder, chance, longest, moments, kills)
        assert_same_weights(folder / "run", whole)
        assert without_seconds(folder / "run") == without_seconds(whole)
        assert (folder / "run" / "answers.csv").read_text() == (whole / "answers.csv").read_text()
        assert unfinished(folder / "run") == []
        shutil.rmtree(folder)
    print(f"{runs} runs, killed in: {dict(kills)}")


def on_a_disk(work: Callable[..., None], folder: Path, *arguments: object) -> str:
    """What commands said on standard error while `work` was done, on a disk of its own at `disk` in a folder."""
    (disk := folder / "disk").mkdir()
    process = FORKS.Process(target=work, args=(disk, *arguments))
    process.start()
    process.join(300)
    if process.exitcode == small_disk.CANNOT:
        pytest.skip("no disk of its own can be mounted here")
    printed = (folder / "log").read_text()
    assert process.exitcode == 0, printed
    return printed


@pytest.mark.parametrize(("fault", "reason"), [
    (small_disk.trained_until_full, "No space left on device"),
    (small_disk.trained_until_read_only, "Read-only file system"),
], ids=["full", "ro"])  # fmt: skip
def test_a_disk_that_takes_nothing_more_ends_in_one_line_and_the_run_goes_on_later(
    lab, finished_run, tmp_path, fault, reason
) -> None:
    run, failed = tmp_path / "disk" / "run", tmp_path / "failed"
    errors = on_a_disk(fault, tmp_path, lab.settings(run, "checkpoints.every_n_steps=2"), tmp_path / "log", failed)
    assert reason in errors
    assert f"python train.py resume={run}" in errors
    assert "Traceback" not in errors
    assert "damaged" not in errors
    assert weights(failed)
    assert behind(failed) <= recorded(tmp_path / "run")
    assert_same_weights(tmp_path / "run", finished_run)


ENCODE = """
from encoders import load_encoder
try: load_encoder("tests/golden_run").encode([str(i) for i in range(50_000)], out="{disk}/vectors.npy")
except OSError as error: raise SystemExit(print("error:", error, file=__import__("sys").stderr) or 2)
"""
COMMANDS = {
    "train": ("train.py {settings}", 16),
    "evaluate": ("evaluate.py model=majority {smaller} cache={cache} out={disk}/run", 16),
    "report": ("report.py table {run} out={disk}/table.md", 16),
    "encode": ("{encode}", 14),  # room for the beginning of what it writes
}


@pytest.mark.parametrize(("command", "blocks"), COMMANDS.values(), ids=COMMANDS.keys())
def test_a_disk_that_takes_nothing_from_the_start_is_one_line(lab, finished_run, tmp_path, command, blocks) -> None:
    disk, encode = tmp_path / "disk", tmp_path / "encode.py"
    encode.write_text(ENCODE.format(disk=disk))
    names = {"disk": disk, "cache": lab.cache, "run": finished_run, "encode": encode, "smaller": " ".join(SMALLER)}
    arguments = command.format(**names, settings=" ".join(lab.settings(disk / "run"))).split()
    printed = on_a_disk(small_disk.full_from_the_start, tmp_path, arguments, tmp_path / "log", blocks)
    for line, reason in zip(printed.splitlines(), ("No space left", "Read-only file system"), strict=True):
        assert line.startswith("error: ")
        assert reason in line
        assert str(disk) in line
