"""A process that is killed while it writes leaves nothing behind, or what the next one deletes."""

import os
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from encoder_lab.storage.files import atomic_write
from encoder_lab.storage.scratch import LOCK, scratch


def killed(work: Callable[[], object]) -> None:
    """Do `work` in a fork of this process, which is killed at its end."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def test_a_killed_write_leaves_the_old_file_alone(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("old")

    def write() -> None:
        with atomic_write(tmp_path / "report.html") as file:
            file.write("new")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)

    killed(write)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"report.html": "old"}


def test_where_the_disk_knows_no_nameless_files_a_write_has_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_TMPFILE")
    with atomic_write(tmp_path / "table.csv") as file:
        file.write("a\n")
        assert [path.suffix for path in tmp_path.iterdir()] == [".tmp"]
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_the_folder_of_a_killed_process_is_deleted_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def work() -> None:
        with scratch():
            os.kill(os.getpid(), signal.SIGKILL)

    killed(work)
    (left,) = tmp_path.iterdir()
    assert (left / LOCK).exists()
    with scratch() as first, scratch() as second:
        assert {path.name for path in tmp_path.iterdir()} == {first.name, second.name}
    assert list(tmp_path.iterdir()) == []
