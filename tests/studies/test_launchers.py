"""A study runs by each launcher, and loses nothing when a process of it is killed."""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from encoder_lab.storage.csv_files import read_csv
from encoder_lab.studies.cell import DONE_FILE, GPUS_VARIABLE, take_one_gpu, visible_gpus
from encoder_lab.studies.run import run_study
from encoder_lab.training.run_folder import RUN_LOCK
from tests.commands import Forked, address
from tests.conftest import ROOT
from tests.studies.test_run import TEXT, forked, tiny  # noqa: F401

FORKING = [str(ROOT / "tests" / "forking"), str(ROOT)]
CELLS = ["untrained/bilstm_last", "untrained/bov"]
NO_REPORTS = TEXT.partition("reports:")[0]
ONE_CELL = NO_REPORTS.replace("bilstm_last: encoder=bilstm_last, ", "")


@pytest.fixture(autouse=True)
def _forked_cells(monkeypatch) -> None:
    """The processes that launchers start fork their cells."""
    monkeypatch.setenv("FORK_SERVER", address())
    monkeypatch.setenv(GPUS_VARIABLE, "")  # to count them takes two seconds
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(FORKING))


def test_joblib_runs_a_study_to_its_end(lab, tmp_path) -> None:
    arguments = [*tiny(tmp_path, lab, NO_REPORTS), "hydra/launcher=joblib", "hydra.launcher.n_jobs=2"]
    assert run_study(tmp_path, "tiny", arguments) == 0
    assert done_cells(tmp_path) == CELLS


def test_submitit_runs_a_study_to_its_end(lab, tmp_path) -> None:
    assert run_study(tmp_path, "tiny", [*tiny(tmp_path, lab, ONE_CELL), "hydra/launcher=submitit_local"]) == 0
    assert done_cells(tmp_path) == CELLS[1:]
    (printed,) = (tmp_path / "results" / ".submitit").rglob("*.out")
    assert "untrained/bov: begun" in printed.read_text()


def done_cells(folder: Path) -> list[str]:
    results = folder / "results"
    return sorted(path.parent.relative_to(results).as_posix() for path in results.rglob(DONE_FILE))


def start(folder: Path, arguments: list[str]) -> Forked:
    """The study in a process of its own."""
    script = folder / "study.py"
    script.write_text(f"""
from pathlib import Path
from encoder_lab.studies.run import run_study
if __name__ == "__main__":
    raise SystemExit(run_study(Path({str(folder)!r}), "tiny", {arguments!r}))
""")
    with (folder / "log").open("a") as printed:
        return Forked([sys.executable, str(script)], None, printed.fileno(), printed.fileno(), server=address())


def wait_until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def workers_on(run: Path) -> list[int]:
    """The processes that train or resume a run: they have its lock open."""
    workers = []
    for path in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):  # it has ended
            if path.readlink() == run / RUN_LOCK:
                workers.append(int(path.parts[2]))
    return workers


def assert_each_row_once(run: Path) -> None:
    rows = [(row["epoch"], row["task"], row["classifier"]) for row in read_csv(run / "probes.csv")]
    assert len(rows) == len(set(rows)) == 3


def test_a_killed_cell_fails_alone_and_the_same_command_finishes_the_study(lab, tmp_path, capsys, request) -> None:
    arguments, run = tiny(tmp_path, lab, NO_REPORTS), tmp_path / "results" / "untrained" / "bov"
    study = start(tmp_path, arguments)
    wait_until(lambda: (run / "config.yaml").exists())
    os.kill(min(workers_on(run)), signal.SIGKILL)
    assert study.wait(300) == 1
    assert "failed: untrained/bov\n" in (tmp_path / "log").read_text()
    assert done_cells(tmp_path) == CELLS[:1]
    request.getfixturevalue("forked")
    assert run_study(tmp_path, "tiny", arguments) == 0
    printed = (tmp_path / "log").read_text() + capsys.readouterr().out
    begun = [line for line in printed.splitlines() if line.endswith((": begun", ": resumed"))]
    assert sorted(begun) == ["untrained/bilstm_last: begun", "untrained/bov: begun", "untrained/bov: resumed"]
    assert done_cells(tmp_path) == CELLS
    assert_each_row_once(run)


def test_the_same_command_finishes_a_study_that_was_killed_while_its_cell_lives_on(lab, tmp_path) -> None:
    arguments, run = tiny(tmp_path, lab, ONE_CELL), tmp_path / "results" / "untrained" / "bov"
    study = start(tmp_path, arguments)
    wait_until(lambda: (run / RUN_LOCK).exists() and workers_on(run))
    cell = min(workers_on(run))
    os.kill(cell, signal.SIGSTOP)
    study.kill()
    study.wait()
    restarted = start(tmp_path, arguments)
    wait_until(lambda: "untrained/bov: waits" in (tmp_path / "log").read_text())
    os.kill(cell, signal.SIGCONT)
    assert restarted.wait(300) == 0
    assert (tmp_path / "log").read_text().count("untrained/bov: begun") == 1
    assert done_cells(tmp_path) == CELLS[1:]
    assert_each_row_once(run)


def test_each_worker_takes_a_gpu_of_its_own(monkeypatch) -> None:
    monkeypatch.setenv(GPUS_VARIABLE, "4,7")
    gpus, taken = visible_gpus(), []
    for worker in ("LokyProcess-1", "LokyProcess-2", "LokyProcess-3", "LokyProcess-1"):
        take_one_gpu(worker, gpus)
        taken.append(os.environ[GPUS_VARIABLE])
    assert taken == ["7", "4", "7", "7"]
    monkeypatch.setenv(GPUS_VARIABLE, "4,7")
    take_one_gpu("MainProcess", gpus)
    assert os.environ[GPUS_VARIABLE] == "4,7"
    take_one_gpu("LokyProcess-2")  # of those that it sees
    take_one_gpu("LokyProcess-2")  # its next job
    assert os.environ[GPUS_VARIABLE] == "4"
