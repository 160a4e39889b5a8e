"""Locks between processes: one of several that need the same folder at once builds it."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Barrier

import pytest

from encoder_lab.errors import InputError
from encoder_lab.storage.files import make_once
from encoder_lab.storage.locks import NO_TIMEOUT, is_locked, locked, wait_for_file
from tests.conftest import ROOT

HOLDS = """
import os, subprocess, sys, time
from pathlib import Path
from encoder_lab.storage.locks import locked, locked_with_children
"""


@contextmanager
def killed(code: str) -> Iterator[int]:
    """Python code in a process of its own, which was killed after it printed a number; the number, of a process."""
    command = [sys.executable, "-c", HOLDS + code]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        child = int(started.stdout.readline())
        started.kill()
    try:
        yield child
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def comes_free(lock: Path) -> bool:
    with locked(lock, wait=20) as ours:
        return ours


def test_a_lock_is_refused_until_it_is_released_also_by_work_that_fails(tmp_path) -> None:
    lock = tmp_path / "folder" / "lock"
    with suppress(ValueError), locked(lock) as first, locked(lock) as second:
        assert (first, second) == (True, False)
        assert is_locked(lock)
        raise ValueError("work")
    assert not is_locked(lock)


def test_a_forked_child_that_outlives_its_killed_parent_does_not_hold_the_lock(tmp_path) -> None:
    lock = tmp_path / "lock"
    code = f"""
with locked(Path({str(lock)!r})):
    if not os.fork(): print(os.getpid(), flush=True)
    time.sleep(60)
"""
    with killed(code) as child:
        os.kill(child, 0)  # it lives
        assert not is_locked(lock)


def test_a_command_that_inherits_the_lock_holds_it_after_its_parent_was_killed(tmp_path) -> None:
    lock = tmp_path / "lock"
    code = f"""
with locked_with_children(Path({str(lock)!r})) as descriptor:
    child = subprocess.Popen(["sleep", "60"], pass_fds=[descriptor])
    print(child.pid, flush=True)
    child.wait()
"""
    with killed(code):
        assert is_locked(lock)
    assert comes_free(lock)


def test_of_many_that_come_at_once_one_gets_the_lock_and_those_that_wait_get_it_in_turn(tmp_path) -> None:
    together = Barrier(8)

    def at_once(_: int) -> bool:
        together.wait(60)
        with locked(tmp_path / "lock") as ours:
            together.wait(60)  # nobody releases before all have asked
            return ours

    def in_turn(_: int) -> int:
        with locked(tmp_path / "turn", NO_TIMEOUT):
            count = int((tmp_path / "count").read_text())
            (tmp_path / "count").write_text(f"{count + 1}")
            return count

    (tmp_path / "count").write_text("0")
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(at_once, range(8))) == 1
        assert sorted(pool.map(in_turn, range(8))) == list(range(8))


@pytest.mark.parametrize("entry", ["link", "hard link", "folder"])
def test_a_link_or_a_folder_in_place_of_a_lock_is_refused_and_left_as_it_is(tmp_path, entry) -> None:
    (tmp_path / "precious").write_text("text")
    lock = tmp_path / "lock"
    if entry == "link":
        lock.symlink_to("precious")
    elif entry == "hard link":
        lock.hardlink_to(tmp_path / "precious")
    else:
        lock.mkdir()
    with pytest.raises(InputError, match=r"lock: a link or no plain file.*delete it"), locked(lock):
        pass
    assert (tmp_path / "precious").read_text() == "text"


def test_a_file_in_place_of_a_lock_keeps_its_text(tmp_path) -> None:
    (tmp_path / "lock").write_text("of an earlier version\n")
    with locked(tmp_path / "lock") as ours:
        assert ours
    assert (tmp_path / "lock").read_text() == "of an earlier version\n"


def refusing(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def flock(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)


@pytest.mark.filterwarnings("ignore:flock not supported")
def test_a_disk_without_flock_is_locked_by_the_existence_of_the_file(tmp_path, monkeypatch) -> None:
    refusing(monkeypatch, errno.ENOSYS)  # Lustre that was mounted without it
    with locked(tmp_path / "lock") as first, locked(tmp_path / "lock") as second:
        assert (first, second) == (True, False)
    assert not is_locked(tmp_path / "lock")


def test_a_disk_that_has_no_locks_now_is_named(tmp_path, monkeypatch) -> None:
    refusing(monkeypatch, errno.ENOLCK)
    with pytest.raises(InputError, match=r"no file locks .*choose a folder elsewhere"), locked(tmp_path / "lock"):
        pass


def test_a_process_that_waits_goes_on_when_the_file_is_written(tmp_path) -> None:
    with ThreadPoolExecutor() as pool, locked(tmp_path / "lock"):
        waiting = pool.submit(wait_for_file, tmp_path / "made", tmp_path / "lock", patience=0)
        time.sleep(0.5)  # the lock is held, so the file may come
        assert not waiting.done()
        (tmp_path / "made").touch()
        waiting.result(timeout=5)


MAKES = """
import os, sys, time
from pathlib import Path
from encoder_lab.storage.files import make_once
made = Path(sys.argv[1])

def make():
    with open(made.with_name("makers"), "a") as file:
        file.write(f"{os.getpid()}\\n")
    time.sleep(float(sys.argv[2]))
    made.write_text("all of it")

make_once(made, made.exists, make)
assert made.read_text() == "all of it"
"""


def maker(made: Path, seconds: float) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", MAKES, str(made), str(seconds)], cwd=ROOT)


def test_one_of_several_processes_builds_and_the_others_wait(tmp_path) -> None:
    processes = [maker(tmp_path / "made", 0.5) for _ in range(6)]
    assert [process.wait(60) for process in processes] == [0] * 6
    assert len((tmp_path / "makers").read_text().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [".made.lock", "made", "makers"]


def test_the_next_process_builds_if_the_builder_dies(tmp_path) -> None:
    dead = maker(tmp_path / "made", 60)
    while not (tmp_path / "makers").exists():
        time.sleep(0.01)
    dead.kill()
    dead.wait()
    assert maker(tmp_path / "made", 0).wait(60) == 0


def test_an_existing_folder_needs_no_lock(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(os, "open", None)  # as on a read-only disk
    make_once(tmp_path / "made", lambda: True, lambda: pytest.fail("made again"))
