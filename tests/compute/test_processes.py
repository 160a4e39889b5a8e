"""A parallel map gives the results of `map`."""

import errno
import math
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from encoder_lab.compute import processes
from encoder_lab.compute.processes import CHUNKS_PER_CORE, parallel_map
from encoder_lab.errors import InputError
from tests.conftest import ROOT
from tests.test_stale import CORPORA, corpus_of, settings_of, views


def square(number: int) -> int:
    return number * number


class Pickling(ProcessPoolExecutor):
    """Sends all work to processes and back, but has none."""

    def submit(self, *call: Any, **_: Any) -> Future:  # type: ignore[override]
        function, *arguments = pickle.loads(pickle.dumps(call))
        done: Future = Future()
        try:
            done.set_result(pickle.loads(pickle.dumps(function(*arguments))))
        except InputError as error:
            done.set_exception(error)
        return done


@pytest.mark.parametrize("name", CORPORA)
def test_a_corpus_that_several_processes_read_has_the_same_text(name, tmp_path, monkeypatch) -> None:
    corpus = corpus_of(settings_of(name, tmp_path / "data"))
    alone = views(corpus)
    monkeypatch.setattr(processes, "ProcessPoolExecutor", Pickling)
    monkeypatch.setattr(parallel_map, "__defaults__", (2, 2, "fork"))
    assert views(corpus) == alone


def process(_: int) -> int:
    return os.getpid()


def refuse(number: int) -> int:
    if number == 7:
        raise InputError("seven")
    return number


@settings(max_examples=12)
@given(st.integers(0, 40), st.integers(1, 15), st.integers(1, 3))
def test_results_equal_those_of_map_in_order(items, chunk, cores) -> None:
    assert list(parallel_map(square, range(items), chunk, cores)) == [square(i) for i in range(items)]


def test_only_many_items_start_other_processes() -> None:
    assert os.getpid() not in set(parallel_map(process, range(20), chunk=5, cores=2))
    assert set(parallel_map(process, range(20), chunk=20, cores=2)) == {os.getpid()}


def test_processes_can_start_without_a_copy_of_this_one() -> None:
    assert list(parallel_map(math.sqrt, range(20), 5, 2, "spawn")) == [math.sqrt(i) for i in range(20)]


def test_an_error_in_a_worker_is_raised_in_the_parent() -> None:
    results = parallel_map(refuse, range(20), chunk=5, cores=2)
    assert list(islice(results, 5)) == [0, 1, 2, 3, 4]
    with pytest.raises(InputError, match="seven"):
        next(results)


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize("good", [0, 3, 12, 15])
def test_an_error_of_the_input_comes_after_all_earlier_results(good, cores) -> None:
    def items() -> Iterator[int]:
        yield from range(good)
        raise InputError("damaged")

    seen: list[int] = []
    with pytest.raises(InputError, match="damaged"):
        seen.extend(parallel_map(square, items(), chunk=5, cores=cores))
    assert seen == [square(i) for i in range(good)]


def test_an_endless_input_is_read_only_a_few_chunks_ahead() -> None:
    taken = count()

    def items() -> Iterator[int]:
        while True:
            yield next(taken)

    results = parallel_map(square, items(), chunk=10, cores=2)
    assert list(islice(results, 100)) == [square(i) for i in range(100)]
    assert next(taken) <= 100 + 10 * (2 * CHUNKS_PER_CORE + 2)
    results.close()  # type: ignore[attr-defined]


def test_workers_end_when_their_parent_is_killed(tmp_path) -> None:
    code = f"""
import os, time
from pathlib import Path
from encoder_lab.compute import processes
from encoder_lab.compute.processes import parallel_map
def tell(number):
    (Path({str(tmp_path)!r}) / str(os.getpid())).touch()
    time.sleep(0.01)
for result in parallel_map(tell, range(10**9), chunk=2, cores=2):
    pass
"""
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    workers = _wait(lambda: [int(path.name) for path in tmp_path.iterdir()], lambda pids: len(pids) == 2)
    parent.kill()
    parent.wait()
    assert not any(_wait(lambda: [_running(worker) for worker in workers], lambda alive: not any(alive)))


def _running(worker: int) -> bool:
    try:
        return Path(f"/proc/{worker}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _wait(look, done):  # type: ignore[no-untyped-def]
    end = time.monotonic() + 30
    while not done(seen := look()) and time.monotonic() < end:
        time.sleep(0.05)
    return seen


def test_without_semaphores_one_core_does_the_work(monkeypatch) -> None:
    def read_only(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("multiprocessing.synchronize._multiprocessing.SemLock", read_only)
    assert list(parallel_map(str, range(5), chunk=1, cores=2)) == list("01234")
