"""Measurements in processes of their own. Each starts a process that imports this file, and so little."""

import os
import time
from functools import partial
from multiprocessing import get_context

import numpy as np
import pytest

from benchmarks import sides
from benchmarks.machine import SAMPLES_PER_SECOND, in_new_process, measure_cost

MEGABYTES = 100


def hold(megabytes: int, seconds: float = 0.0) -> None:
    block = np.ones(megabytes << 17)  # float64
    time.sleep(seconds)
    del block


def memory_after(before: int) -> dict[str, float]:
    hold(before)
    with measure_cost() as memory:
        hold(MEGABYTES, seconds=10 / SAMPLES_PER_SECOND)
    return memory


def test_memory_is_that_of_the_work_alone() -> None:
    hold(300)  # ru_maxrss would hand it on to the child
    memory = in_new_process(memory_after, 200)
    assert memory["memory_mb"] == pytest.approx(MEGABYTES, rel=0.1)
    assert memory["own_mb"] == pytest.approx(MEGABYTES, rel=0.1)


def test_memory_of_workers_counts() -> None:
    with measure_cost() as memory:
        worker = get_context("fork").Process(target=hold, args=(MEGABYTES, 10 / SAMPLES_PER_SECOND))
        worker.start()
        worker.join()
    assert memory["memory_mb"] < MEGABYTES / 2
    assert memory["own_mb"] == pytest.approx(MEGABYTES, rel=0.2)


def a_peer_alone(us: int) -> sides.Sides:
    """Fails where the peer runs in our process."""

    def theirs() -> None:
        assert os.getpid() != us

    return sides.Sides("both", theirs, theirs)


def test_a_peer_as_it_comes_runs_in_a_process_of_its_own() -> None:
    with sides.peer_process(partial(a_peer_alone, os.getpid())) as theirs:
        for _ in range(2):
            seconds = theirs()
            assert seconds.total >= seconds.system >= 0
