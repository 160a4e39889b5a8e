"""A process that is killed while it writes leaves nothing behind, or what the next one deletes."""

import os
import signal
import tempfile
from collections.abc import Callable

import pytest

from encoder_lab.storage.files import delete_leftovers, scratch_folder, temporary_path


def killed(work: Callable[[], object]) -> None:
    """Do `work` in a fork of this process, which is killed at its end."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


@pytest.mark.parametrize("folder", [False, True])
def test_the_next_write_to_a_folder_deletes_what_killed_ones_left_and_nothing_else(tmp_path, folder) -> None:
    (tmp_path / "report.html").write_text("old")
    (tmp_path / ".thesis.making").write_text("mine")

    def write() -> None:
        with temporary_path(tmp_path / "report.html", folder) as work:
            (work / "part" if folder else work).write_text("new")
            os.kill(os.getpid(), signal.SIGKILL)

    killed(write)
    assert len(list(tmp_path.iterdir())) == 3
    with temporary_path(tmp_path / "lives", folder) as lives:
        delete_leftovers(tmp_path)
        killed(lambda: delete_leftovers(tmp_path))
        assert {path.name for path in tmp_path.iterdir()} == {"report.html", ".thesis.making", lives.name}
    texts = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert texts == {"report.html": "old", ".thesis.making": "mine"}


def test_two_writes_of_a_folder_at_once_do_not_disturb_each_other(tmp_path) -> None:
    with temporary_path(tmp_path / "a", folder=True) as first, temporary_path(tmp_path / "a", folder=True) as second:
        (second / "x").write_text("second")
        assert list(first.iterdir()) == []
        second.rename(tmp_path / "a")
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "x"]


def test_the_folder_of_a_killed_process_is_deleted_by_the_next(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def work() -> None:
        with scratch_folder():
            os.kill(os.getpid(), signal.SIGKILL)

    killed(work)
    assert len(list(tmp_path.iterdir())) == 1
    with scratch_folder() as first, scratch_folder() as second:
        assert {path.name for path in tmp_path.iterdir()} == {first.name, second.name}
    assert list(tmp_path.iterdir()) == []
