"""The parts of `make gpu`, small and on the CPU: every check passes and every time is one."""

import subprocess
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
import torch

from benchmarks.gpu import runs
from benchmarks.gpu.parts import PARTS
from benchmarks.gpu.rows import Difference, Time
from benchmarks.gpu.sizes import TINY
from tests import commands


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
