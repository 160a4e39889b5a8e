"""A folder belongs to one process at a time, and never to a dead one."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from datamodules.claim import _take_over, claimed
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
from datamodules.claim import _take_over, claimed
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
    (tmp_path / NAME).write_text("elsewhere 1\n")
    os.utime(tmp_path / NAME, (time.time() - age,) * 2)
    with claimed(tmp_path, NAME) as got:
        assert got == mine


def test_a_holder_gives_signs_of_life(tmp_path: Path) -> None:
    with claimed(tmp_path, NAME, beat=0.01):
        os.utime(tmp_path / NAME, (1, 1))
        end = time.monotonic() + 10
        while (tmp_path / NAME).stat().st_mtime < 2 and time.monotonic() < end:
            time.sleep(0.01)
        assert (tmp_path / NAME).stat().st_mtime > 2


def test_a_claim_that_another_just_took_over_is_left_to_it(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("elsewhere 1\n")
    old = (tmp_path / NAME).stat()
    (tmp_path / NAME).unlink()
    (tmp_path / NAME).write_text("faster 2\n")
    assert not _take_over(tmp_path / NAME, old)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["faster 2\n"]


def test_of_many_that_come_at_once_one_gets_an_abandoned_folder(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("elsewhere 1\n")
    os.utime(tmp_path / NAME, (1, 1))

    def try_it(_: int) -> bool:
        with claimed(tmp_path, NAME) as mine:
            time.sleep(0.2)
            return mine

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(try_it, range(8))) == 1
