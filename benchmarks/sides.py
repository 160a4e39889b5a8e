"""The same work twice, ours and a peer's, in turns: the ratios of benchmarks/fair.py."""

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from multiprocessing.connection import Connection
from statistics import median
from typing import Any, NamedTuple

import torch

from common.matmul import fast_exact_matmul
from common.memory import LARGE_PAGES

Work = Callable[[], Any]


class Sides(NamedTuple):
    """Our way and a peer's of the same work. `share`: the words of our round over those of the peer's."""

    name: str
    ours: Work
    theirs: Work  # as it comes
    share: float = 1.0
    theirs_as_ours: Work | None = None  # in our precision, or as near to the optimum; None: it is so
    more: Mapping[str, Any] = {}  # what else to record


def seconds(work: Work, how: Callable[[], AbstractContextManager[None]]) -> float:
    """Processor time, of all threads."""
    with how():
        started = time.process_time()
        work()
        return time.process_time() - started


@contextmanager
def apart(prepare: Callable[[], Sides]) -> Iterator[Callable[[], float]]:
    """Measures the peer as it comes: in a process of its own, without our settings of memory."""
    ours, theirs = multiprocessing.Pipe()
    worker = multiprocessing.get_context("spawn").Process(target=_measure, args=(prepare, theirs))
    ours_are = os.environ.pop(LARGE_PAGES, None)
    worker.start()
    theirs.close()
    if ours_are is not None:
        os.environ[LARGE_PAGES] = ours_are

    def once() -> float:
        ours.send(None)
        return float(ours.recv())

    try:
        yield once
    finally:
        ours.close()
        worker.join()


def _measure(prepare: Callable[[], Sides], link: Connection) -> None:
    begin()
    theirs = prepare().theirs
    while True:
        try:
            link.recv()
        except EOFError:
            return
        link.send(seconds(theirs, nullcontext))


def begin() -> None:
    """One thread, and the same data on both sides."""
    torch.set_num_threads(1)
    torch.manual_seed(1)


def compare(prepare: Callable[[], Sides], rounds: int) -> dict[str, Any]:
    """All ways in turns; each round begins with the next one."""
    with apart(prepare) as theirs:
        sides = prepare()
        return in_turns(sides, theirs, rounds)


def in_turns(sides: Sides, theirs: Callable[[], float], rounds: int) -> dict[str, Any]:
    """`theirs`: the seconds of the peer as it comes."""
    ways = {
        "our": lambda: seconds(sides.ours, fast_exact_matmul),
        "their": theirs,
        "their_equal": lambda: seconds(sides.theirs_as_ours or sides.theirs, fast_exact_matmul),
    }
    found: dict[str, list[float]] = {name: [0.0] * rounds for name in ways}
    for number in range(rounds):
        turns = list(ways)
        for name in turns[number % len(ways) :] + turns[: number % len(ways)]:
            found[name][number] = ways[name]()
    record: dict[str, Any] = {"name": sides.name} | {f"{name}_seconds": median(took) for name, took in found.items()}
    for key, name in (("ratios", "their"), ("ratios_on_equal_terms", "their_equal")):
        pairs = zip(found["our"], found[name], strict=True)
        record[key] = sorted(sides.share * theirs / ours for ours, theirs in pairs)
    shown = " | ".join(three_of(record[key]) for key in record if key.startswith("ratios"))
    record |= sides.more
    print(f"  {sides.name:<62}{shown:>40}   {record['our_seconds']:.2f} s, {record['their_seconds']:.2f} s", flush=True)
    return record


def three_of(ratios: Sequence[float]) -> str:
    """Worst, median and best."""
    return ", ".join(f"{ratio:.2f}" for ratio in (ratios[0], median(ratios), ratios[-1]))
