"""One function over many items, on all cores."""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain, islice
from multiprocessing import current_process, get_context
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

CHUNK = 1000  # items that a process gets at a time
AHEAD = 2  # chunks under way for each core, so that memory stays bounded


def parallel_map(
    function: Callable[[Item], Result], items: Iterable[Item], chunk: int = CHUNK, cores: int | None = None
) -> Iterator[Result]:
    """`function(item)` of every item in order; what it raises is raised here.

    Processes are started for more than one chunk only; then the function, the items and the results are pickled
    between them. `cores` is all by default.
    """
    left = iter(items)
    chunks = iter(lambda: list(islice(left, chunk)), [])
    head = list(islice(chunks, 2))
    cores = cores or len(os.sched_getaffinity(0))
    if len(head) < 2 or cores == 1 or current_process().daemon:
        yield from map(function, chain(*head, left))
        return
    with ProcessPoolExecutor(cores, get_context("fork"), _as_worker, (os.getpid(),)) as pool:
        waiting: deque[Future[list[Result]]] = deque()
        for some in chain(head, chunks):
            waiting.append(pool.submit(_map, function, some))
            if len(waiting) >= AHEAD * cores:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()


def _map(function: Callable[[Item], Result], items: list[Item]) -> list[Result]:
    return [function(item) for item in items]


def _as_worker(parent: int) -> None:
    """Ctrl-C is the parent's to answer; a worker whose parent was killed ends by itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
