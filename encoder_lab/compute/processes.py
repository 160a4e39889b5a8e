"""Applies one function to many items, on all cores."""

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

CHUNK_ITEMS = 1000  # sent to a process at a time
CHUNKS_PER_CORE = 2  # in flight, so that memory stays bounded


def parallel_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    chunk: int = CHUNK_ITEMS,
    cores: int | None = None,
    start: str = "fork",
) -> Iterator[Result]:
    """Yield `function(item)` for every item, in order. An error is raised in place of the result of its item.

    Starts processes only if there is more than one chunk; then the function, the items and the results are pickled.
    `cores`: how many; by default all, and one where the system has no semaphores. `start`: "spawn" where processes
    use a GPU, which a copy of this one cannot.
    """
    chunks = _chunks(items, chunk)
    head = list(islice(chunks, 2))
    cores = cores or len(os.sched_getaffinity(0))
    if len(head) < 2 or cores == 1 or current_process().daemon or not _have_semaphores():
        for batch, error in chain(head, chunks):
            yield from map(function, batch)
            if error:
                raise error
        return
    with ProcessPoolExecutor(cores, get_context(start), _set_up_worker, (os.getpid(),)) as pool:
        pending: deque[tuple[Future[list[Result]], Exception | None]] = deque()
        for batch, error in chain(head, chunks):
            pending.append((pool.submit(_map_chunk, function, batch), error))
            if len(pending) >= CHUNKS_PER_CORE * cores:
                yield from _results_of_chunk(*pending.popleft())
        while pending:
            yield from _results_of_chunk(*pending.popleft())


def _have_semaphores() -> bool:
    """Whether processes can wait for each other: on Linux, only where /dev/shm may be written."""
    try:
        get_context("fork").Lock()
    except OSError:
        return False
    return True


def _chunks(items: Iterable[Item], size: int) -> Iterator[tuple[list[Item], Exception | None]]:
    """Lists of items. An error of the input ends them; it comes with the items read before it."""
    chunk: list[Item] = []
    try:
        for item in items:
            chunk.append(item)
            if len(chunk) == size:
                yield chunk, None
                chunk = []
    except Exception as error:
        yield chunk, error
    else:
        if chunk:
            yield chunk, None


def _results_of_chunk(future: Future[list[Result]], error: Exception | None) -> Iterator[Result]:
    yield from future.result()
    if error:
        raise error


def _map_chunk(function: Callable[[Item], Result], items: list[Item]) -> list[Result]:
    return [function(item) for item in items]


def _set_up_worker(parent: int) -> None:
    """Set up a worker: it ignores Ctrl-C (the parent handles it) and exits if the parent was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
