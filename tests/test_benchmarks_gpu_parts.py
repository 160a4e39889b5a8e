"""How `make gpu` runs its parts and shows what they found."""

import json
import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.gpu import __main__ as command
from benchmarks.gpu import runs
from benchmarks.gpu.page import as_page, count_failures, table
from benchmarks.gpu.parts import MAX_SECONDS, PARTS, Outcome, Part, run_all
from benchmarks.gpu.rows import Difference, Time
from benchmarks.gpu.sizes import TINY
from tests import commands

HARDWARE = {"machine": "a GPU", "matrix_gflop_per_second": 100, "memory_gb_per_second": 10}
TIMES = {"what": "a step", "seconds": 2.0, "others": {"plain": 3.0}}


TIMES |= {"gflop": 50, "gigabytes": 2, "precision": "32-true"}


def test_a_part_that_fails_dies_or_hangs_keeps_its_rows_and_does_not_stop_the_others() -> None:
    seconds = {"fails": 100.0, "dies": 100.0, "hangs": 4.0, "ends": 100.0}
    printed: list[Outcome] = []
    outcomes = run_all([Part("tests.small_parts", *part) for part in seconds.items()], 3, printed.append)
    assert printed == outcomes
    assert [outcome.rows for outcome in outcomes] == [[3], [], [3], [3]]
    errors = ["ValueError: no such kernel", "its process ended with 7", "stopped after its 4 seconds", ""]
    assert [outcome.error for outcome in outcomes] == errors


def test_nothing_begins_when_the_time_is_over() -> None:
    [outcome] = run_all([Part("tests.small_parts", "ends", 100.0)], 3, lambda _: None, most=0.0)
    assert outcome.error == "stopped after its 0 seconds"
    assert MAX_SECONDS < 9 * 60


def record(*rows: dict[str, Any], error: str = "") -> dict[str, Any]:
    parts = [{"name": "speed", "error": error, "rows": list(rows), "seconds": 1}]
    return {"command": "make gpu", "device": "cuda", "hardware": HARDWARE, "parts": parts, "seconds": 1.0}


def test_a_time_stands_next_to_others_and_its_share_of_what_the_machine_can_do() -> None:
    [row] = table(record(TIMES)).rows
    assert list(row.values()) == ["speed", "a step", "2 s", "1.50 plain", "25%", "10%"]


@pytest.mark.parametrize(("largest", "failed"), [(0.1, 0), (0.3, 1), (float("nan"), 1)])
def test_a_difference_above_its_tolerance_fails(largest, failed) -> None:
    whole = record({"what": "vectors", "largest": largest, "tolerance": 0.2, "passes": largest <= 0.2})
    assert count_failures(whole) == failed
    assert as_page(whole).count("FAILED") == failed


def test_the_page_that_is_in_the_project_is_that_of_the_last_run() -> None:
    written = Path("benchmarks/results/gpu.json")
    whole = json.loads(written.read_text()) if written.exists() else {}
    assert Path("docs/results/gpu.md").read_text() == as_page(whole)


def test_the_command_writes_all_that_was_found_with_the_name_of_the_hardware(monkeypatch, tmp_path, capsys) -> None:
    outcomes = [Outcome("limits", [HARDWARE], 1.0, ""), Outcome("encoders", [], 1.0, "ValueError: no such kernel")]

    def run(_: Any, __: Any, show: Any) -> None:
        for outcome in outcomes:
            show(outcome)

    monkeypatch.setattr(command, "run_all", run)
    arguments = [f"json={tmp_path}/g.json", f"page={tmp_path}/g.md", "device=cpu", "sizes=tiny"]
    assert command.COMMAND.run(arguments) == 1
    assert json.loads((tmp_path / "g.json").read_text())["hardware"]["machine"] == "a GPU"
    assert "no such kernel" in (tmp_path / "g.md").read_text()
    assert "encoders  FAILED" in capsys.readouterr().out


@pytest.fixture(autouse=True)
def quick(lab, monkeypatch) -> None:
    """Runs are forked, with the cache of other tests, nothing is compiled, and there are few words."""

    def run(command: list[str], env: dict[str, str], **_: Any) -> subprocess.CompletedProcess:
        return commands.finish(*command[1:], f"cache={lab.cache}", environment=env)

    monkeypatch.setattr(runs.subprocess, "run", run)
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)
    for module in ("encoding", "fair", "steps"):
        monkeypatch.setattr(f"benchmarks.{module}.WORDS", 500)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.function)
def test_each_part_ends_with_rows_that_pass(part) -> None:
    work: Callable[[Any], Any] = getattr(import_module(part.module), part.function)
    rows = list(work(TINY))
    assert rows
    for row in rows:
        if isinstance(row, Difference):
            assert row.passes, row
        elif isinstance(row, Time):
            assert min(row.seconds, *row.others.values(), 1.0) > 0
        else:
            assert min(row["matrix_gflop_per_second"], row["memory_gb_per_second"]) > 0
