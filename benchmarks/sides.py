"""The same work twice, ours and a peer's, in turns: the ratios of benchmarks/fair.py."""

import multiprocessing
import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from multiprocessing.connection import Connection
from statistics import median
from typing import Any, NamedTuple

import torch

from encoder_lab.compute.matmul import fast_exact_matmul

Work = Callable[[], Any]


class Sides(NamedTuple):
    """Our way and a peer's of the same work. `share`: the words of our round over those of the peer's."""

    name: str
    ours: Work
    theirs: Work  # as it comes
    share: float = 1.0
    theirs_as_ours: Work | None = None  # in our precision, or as near to the optimum; None: it is so
    more: Mapping[str, Any] = {}  # what else to record


class Spent(NamedTuple):
    """Processor seconds of all threads."""

    all: float
    system: float  # of these: mostly to clear new memory


def spent(work: Work, how: Callable[[], AbstractContextManager[None]]) -> Spent:
    """What the work takes."""
    with how():
        before = resource.getrusage(resource.RUSAGE_SELF)
        work()
        after = resource.getrusage(resource.RUSAGE_SELF)
    system = after.ru_stime - before.ru_stime
    return Spent(after.ru_utime - before.ru_utime + system, system)


@contextmanager
def apart(prepare: Callable[[], Sides]) -> Iterator[Callable[[], Spent]]:
    """Measures the peer as it comes: in a process of its own, without our settings of memory."""
    ours, theirs = multiprocessing.Pipe()
    worker = multiprocessing.get_context("spawn").Process(target=_measure, args=(prepare, theirs))
    worker.start()
    theirs.close()

    def once() -> Spent:
        ours.send(None)
        return Spent(*ours.recv())

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
        link.send(tuple(spent(theirs, nullcontext)))


def begin() -> None:
    """One thread, and the same data on both sides."""
    torch.set_num_threads(1)
    torch.manual_seed(1)


def compare(prepare: Callable[[], Sides], rounds: int) -> dict[str, Any]:
    """All ways in turns; each round begins with the next one."""
    with apart(prepare) as theirs:
        sides = prepare()
        return in_turns(sides, theirs, rounds)


def in_turns(sides: Sides, theirs: Callable[[], Spent], rounds: int) -> dict[str, Any]:
    """`theirs`: what the peer takes as it comes."""
    ways = {
        "our": lambda: spent(sides.ours, fast_exact_matmul),
        "their": theirs,
        "their_equal": lambda: spent(sides.theirs_as_ours or sides.theirs, fast_exact_matmul),
    }
    took: dict[str, list[Spent]] = {name: [Spent(0, 0)] * rounds for name in ways}
    for number in range(rounds):
        turns = list(ways)
        for name in turns[number % len(ways) :] + turns[: number % len(ways)]:
            took[name][number] = ways[name]()
    found = {name: [one.all for one in some] for name, some in took.items()}
    record: dict[str, Any] = {"name": sides.name} | {f"{name}_seconds": median(some) for name, some in found.items()}
    record |= {f"{name}_system_seconds": median(one.system for one in some) for name, some in took.items()}
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
