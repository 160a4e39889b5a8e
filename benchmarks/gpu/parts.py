"""Each part of `make gpu` in a process of its own, with seconds that it may take. Parts without times run together."""

import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import groupby
from multiprocessing.connection import Connection
from typing import Any, NamedTuple
from unittest.mock import patch

from encoder_lab.errors import in_one_line

MAX_SECONDS = 525.0  # seconds of all parts; with the page under nine minutes

Work = Callable[[Any], Iterable[Any]]  # from the sizes to rows


class Part(NamedTuple):
    """Some work, by the module and the name of its function, so that only its process imports it."""

    module: str
    function: str
    seconds: float  # at most
    timed: bool = False  # alone on the machine

    @property
    def name(self) -> str:
        return self.function.replace("_", " ")


class Outcome(NamedTuple):
    """The rows of a part, also where it did not end."""

    name: str
    rows: list[Any]
    seconds: float
    error: str  # empty where it ended


PARTS = [
    Part("benchmarks.gpu.speed", "limits", 40, timed=True),
    Part("benchmarks.gpu.checks", "encoders", 120),
    Part("benchmarks.gpu.checks", "objectives", 120),
    Part("benchmarks.gpu.checks", "classifiers", 120),
    Part("benchmarks.gpu.checks", "language_model", 120),
    Part("benchmarks.gpu.runs", "resumed", 120),
    Part("benchmarks.gpu.runs", "distributed", 120),
    Part("benchmarks.gpu.speed", "translation", 60, timed=True),
    Part("benchmarks.gpu.speed", "entailment", 60, timed=True),
    Part("benchmarks.gpu.speed", "encoding", 60, timed=True),
    Part("benchmarks.gpu.speed", "probing", 110, timed=True),
    Part("benchmarks.gpu.runs", "demo", 150, timed=True),
    Part("benchmarks.gpu.speed", "compiled", 150, timed=True),
]


def run_all(
    parts: Iterable[Part], sizes: Any, show: Callable[[Outcome], None], most: float = MAX_SECONDS
) -> list[Outcome]:
    """Every part; one that fails or takes too long does not stop the others. `show` is told each outcome, in order."""
    ends, outcomes = time.monotonic() + most, []

    def outcome(part: Part) -> Outcome:
        return run_part(part, sizes, min(part.seconds, ends - time.monotonic()))

    for timed, alike in groupby(parts, lambda part: part.timed):
        group = list(alike)
        shared = {} if timed else {"OMP_NUM_THREADS": "1"}  # of the cores
        with patch.dict(os.environ, shared), ThreadPoolExecutor(1 if timed else len(group)) as pool:
            for ended in pool.map(outcome, group):
                outcomes.append(ended)
                show(ended)
    return outcomes


def run_part(part: Part, sizes: Any, seconds: float) -> Outcome:
    """A part in a process of its own, which is killed after some seconds. Rows that came before stay."""
    started, rows, error = time.monotonic(), list[Any](), f"stopped after its {max(0.0, seconds):.0f} seconds"
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run_in_process, args=(part, sizes, theirs))
    process.start()
    theirs.close()
    try:
        while ours.poll(max(0.0, started + seconds - time.monotonic())):
            row = ours.recv()
            if isinstance(row, str):
                error = row
                break
            rows.append(row)
    except EOFError:
        process.join()
        error = f"its process ended with {process.exitcode}"
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid or 0, signal.SIGKILL)  # also what it started
        process.kill()
        process.join()
    return Outcome(part.name, rows, time.monotonic() - started, error)


def _run_in_process(part: Part, sizes: Any, link: Connection) -> None:
    os.setpgrp()
    try:
        __import__(part.module)
        for row in getattr(sys.modules[part.module], part.function)(sizes):
            link.send(row)
        link.send("")
    except Exception as error:
        traceback.print_exc()
        link.send(f"{type(error).__name__}: {in_one_line(error)}")
