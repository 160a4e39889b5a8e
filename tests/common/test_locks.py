"""A folder belongs to one process at a time, and never to a dead one."""

import fcntl
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event

import pytest

from common.errors import InputError
from common.locks import claimed, machine, wait_for
from tests.conftest import ROOT

NAME = ".claim"


def test_a_claimed_folder_is_refused_until_it_is_given_back(tmp_path: Path) -> None:
    with claimed(tmp_path, NAME) as first, claimed(tmp_path, NAME) as second:
        assert (first, second) == (True, False)
    with claimed(tmp_path, NAME) as again:
        assert again
    assert list(tmp_path.iterdir()) == []


def test_a_claim_is_given_back_when_its_work_fails(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="work"), claimed(tmp_path, NAME):
        raise ValueError("work")
    with claimed(tmp_path, NAME) as again:
        assert again


def test_the_claim_of_a_dead_process_is_taken_over_at_once(tmp_path: Path) -> None:
    code = f"""
import os
from pathlib import Path
from common.locks import claimed, wait_for
from common.errors import InputError
with claimed(Path({str(tmp_path)!r}), {NAME!r}):
    os._exit(9)
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert (tmp_path / NAME).exists()
    with claimed(tmp_path, NAME) as mine:
        assert mine


@pytest.mark.parametrize(("age", "mine"), [(20, False), (900, True)])
def test_the_claim_of_another_machine_is_taken_over_only_after_long_silence(
    tmp_path: Path, age: float, mine: bool
) -> None:
    (tmp_path / NAME).write_text("elsewhere+1+1\n")
    os.utime(tmp_path / NAME, (time.time() - age,) * 2)
    with claimed(tmp_path, NAME) as got:
        assert got == mine


@pytest.mark.parametrize(("birth", "age", "mine"), [("1", 900, True), ("1", 20, False), ("", 900, False)])
def test_a_process_with_the_number_of_the_holder_is_not_the_holder_if_it_began_at_another_time(
    tmp_path: Path, birth: str, age: float, mine: bool
) -> None:
    (tmp_path / NAME).write_text(f"{machine()}+{os.getpid()}+{birth}\n")
    os.utime(tmp_path / NAME, (time.time() - age,) * 2)
    with claimed(tmp_path, NAME) as got:
        assert got == mine


def test_a_process_that_is_not_here_may_live_in_another_container_of_this_machine(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from common.locks import claimed
with claimed(Path({str(tmp_path)!r}), {NAME!r}) as mine:
    print(mine)
"""
    with claimed(tmp_path, NAME):
        command = ["unshare", "-rpf", sys.executable, "-c", code]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr:
        pytest.skip("this machine lets us make no namespace of processes (unshare -rp)")
    assert done.stdout == "False\n"


def test_a_living_holder_keeps_its_folder_however_long_it_is_silent(tmp_path: Path) -> None:
    with claimed(tmp_path, NAME) as first:
        assert first
        os.utime(tmp_path / NAME, (1, 1))
        with claimed(tmp_path, NAME) as second:
            assert not second


def test_a_holder_gives_signs_of_life(tmp_path: Path) -> None:
    with claimed(tmp_path, NAME, beat=0.01):
        os.utime(tmp_path / NAME, (1, 1))
        end = time.monotonic() + 10
        while (tmp_path / NAME).stat().st_mtime < 2 and time.monotonic() < end:
            time.sleep(0.01)
        assert (tmp_path / NAME).stat().st_mtime > 2


def test_a_holder_whose_folder_was_taken_over_ends_and_leaves_it_to_the_other(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("elsewhere+1+1\n")
    worked_on = False

    def work() -> None:
        nonlocal worked_on
        (tmp_path / "theirs").replace(tmp_path / NAME)
        Event().wait(10)
        worked_on = True

    with pytest.raises(InputError, match="took this folder over"), claimed(tmp_path, NAME, beat=0.01):
        work()
    assert not worked_on
    assert (tmp_path / NAME).read_text() == "elsewhere+1+1\n"


def test_a_holder_that_ends_before_it_sees_that_it_was_taken_over_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="took this folder over"), claimed(tmp_path, NAME):
        (tmp_path / NAME).write_text("elsewhere+1+1\n")
    assert (tmp_path / NAME).exists()


def test_one_who_comes_while_another_takes_over_is_refused(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("elsewhere+1+1\n")
    os.utime(tmp_path / NAME, (1, 1))
    with (tmp_path / NAME).open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with claimed(tmp_path, NAME) as mine:
            assert not mine
    assert (tmp_path / NAME).read_text() == "elsewhere+1+1\n"


@pytest.mark.parametrize("_", range(20))
def test_of_many_that_come_at_once_one_gets_an_abandoned_folder(tmp_path: Path, _: int) -> None:
    (tmp_path / NAME).write_text("elsewhere+1+1\n")
    os.utime(tmp_path / NAME, (1, 1))
    together = Barrier(8)

    def try_it(_: int) -> bool:
        together.wait(60)
        with claimed(tmp_path, NAME) as mine:
            together.wait(60)  # nobody gives back before all have asked
            return mine

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(try_it, range(8))) == 1


def test_whoever_waits_goes_on_when_it_is_made(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as pool, claimed(tmp_path, NAME, beat=0.05):
        waiting = pool.submit(wait_for, tmp_path / "made", tmp_path / NAME, stale=0.5)
        time.sleep(0.8)  # longer than one waits for the dead
        assert not waiting.done()
        (tmp_path / "made").touch()
        waiting.result(timeout=5)


def test_nobody_waits_for_the_dead(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no sign of life"):
        wait_for(tmp_path / "made", tmp_path / NAME, stale=0.1)
