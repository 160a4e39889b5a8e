"""Each part of `make gpu` in a process of its own, with seconds that it may take."""

import multiprocessing
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from encoder_lab.errors import in_one_line

MOST = 525.0  # seconds of all parts; with the page under nine minutes

Work = Callable[[Any], Iterable[Any]]  # from the sizes to rows


class Part(NamedTuple):
    """Some work, by the module and the name of its function, so that only its process imports it."""

    module: str
    function: str
    seconds: float  # at most

    @property
    def name(self) -> str:
        return self.function.replace("_", " ")


class Outcome(NamedTuple):
    """What a part found, also where it did not end."""

    name: str
    rows: list[Any]
    seconds: float
    error: str  # empty where it ended


PARTS = [
    Part("benchmarks.gpu.limits", "limits", 40),
    Part("benchmarks.gpu.checks", "encoders", 45),
    Part("benchmarks.gpu.checks", "objectives", 60),
    Part("benchmarks.gpu.checks", "classifiers", 60),
    Part("benchmarks.gpu.checks", "language_model", 40),
    Part("benchmarks.gpu.speed", "translation", 60),
    Part("benchmarks.gpu.speed", "entailment", 75),
    Part("benchmarks.gpu.speed", "encoding", 60),
    Part("benchmarks.gpu.speed", "probing", 90),
    Part("benchmarks.gpu.runs", "runs", 150),
    Part("benchmarks.gpu.speed", "compiled", 90),
]


def run_all(parts: Iterable[Part], sizes: Any, show: Callable[[Outcome], None], most: float = MOST) -> list[Outcome]:
    """Every part in turn; one that fails or takes too long does not stop the others. `show` is told each outcome."""
    ends, outcomes = time.monotonic() + most, []
    for part in parts:
        outcomes.append(run(part, sizes, min(part.seconds, ends - time.monotonic())))
        show(outcomes[-1])
    return outcomes


def run(part: Part, sizes: Any, seconds: float) -> Outcome:
    """A part in a process of its own, which is killed after some seconds. Rows that came before stay."""
    started, rows, error = time.monotonic(), list[Any](), f"stopped after its {max(0.0, seconds):.0f} seconds"
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(part, sizes, theirs))
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
    process.kill()
    process.join()
    return Outcome(part.name, rows, time.monotonic() - started, error)


def _work(part: Part, sizes: Any, link: Connection) -> None:
    try:
        __import__(part.module)
        for row in getattr(sys.modules[part.module], part.function)(sizes):
            link.send(row)
        link.send("")
    except Exception as error:
        traceback.print_exc()
        link.send(f"{type(error).__name__}: {in_one_line(error)}")
