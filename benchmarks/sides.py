"""The same work twice, ours and a peer's, in turns: the ratios of benchmarks/fair.py."""

import resource
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from multiprocessing import get_context
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


class CpuSeconds(NamedTuple):
    """Processor seconds of all threads."""

    total: float
    system: float  # of these: mostly to clear new memory


def cpu_seconds(work: Work, context: Callable[[], AbstractContextManager[None]]) -> CpuSeconds:
    """Processor time of the work in a context."""
    with context():
        before = resource.getrusage(resource.RUSAGE_SELF)
        work()
        after = resource.getrusage(resource.RUSAGE_SELF)
    system = after.ru_stime - before.ru_stime
    return CpuSeconds(after.ru_utime - before.ru_utime + system, system)


@contextmanager
def peer_process(prepare: Callable[[], Sides]) -> Iterator[Callable[[], CpuSeconds]]:
    """Measures the peer as it comes: in a process of its own, without our settings of memory."""
    with ProcessPoolExecutor(1, get_context("spawn"), _prepare_peer, (prepare,)) as pool:
        pool.submit(int)  # prepares now
        yield lambda: pool.submit(_measure_peer).result()


_peer: Work  # of the process that measures the peer


def _prepare_peer(prepare: Callable[[], Sides]) -> None:
    global _peer
    use_one_thread()
    _peer = prepare().theirs


def _measure_peer() -> CpuSeconds:
    return cpu_seconds(_peer, nullcontext)


def use_one_thread() -> None:
    """And the same data on both sides."""
    torch.set_num_threads(1)
    torch.manual_seed(1)


def compare(prepare: Callable[[], Sides], rounds: int) -> dict[str, Any]:
    """All ways in turns; each round begins with the next one."""
    with peer_process(prepare) as theirs:
        return measure_in_turns(prepare(), theirs, rounds)


def measure_in_turns(sides: Sides, theirs: Callable[[], CpuSeconds], rounds: int) -> dict[str, Any]:
    """`theirs`: the processor time of the peer as it comes."""
    ways = {
        "our": lambda: cpu_seconds(sides.ours, fast_exact_matmul),
        "their": theirs,
        "their_equal": lambda: cpu_seconds(sides.theirs_as_ours or sides.theirs, fast_exact_matmul),
    }
    times: dict[str, list[CpuSeconds]] = {name: [] for name in ways}
    order = list(ways)
    for _ in range(rounds):
        for name in order:
            times[name].append(ways[name]())
        order = [*order[1:], order[0]]
    record: dict[str, Any] = {"name": sides.name}
    for name, samples in times.items():
        record[f"{name}_seconds"] = median(seconds.total for seconds in samples)
        record[f"{name}_system_seconds"] = median(seconds.system for seconds in samples)
    for key, name in (("ratios", "their"), ("ratios_on_equal_terms", "their_equal")):
        pairs = zip(times["our"], times[name], strict=True)
        record[key] = sorted(sides.share * peer.total / ours.total for ours, peer in pairs)
    return {**record, **sides.more}
