"""A folder that one process has to itself, among all that share the disk."""

import os
import socket
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

BEAT = 20.0  # seconds between signs of life
STALE = 300.0  # seconds without one: whoever held the folder is gone


@contextmanager
def claimed(folder: Path, name: str, beat: float = BEAT, stale: float = STALE) -> Iterator[bool]:
    """Whether the folder is ours while the block runs; False if a living process has it.

    The claim is the file `name`, which only one process can create; its holder touches it, and one that was not
    touched for long is taken over. Times are the file system's own, so the clocks of the machines need not agree.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if not _create(path) and not ((old := _abandoned(path, stale)) and _take_over(path, old)):
        yield False
        return
    done = threading.Event()
    keeper = threading.Thread(target=_keep_alive, args=(path, done, beat), daemon=True)
    keeper.start()
    try:
        yield True
    finally:
        done.set()
        keeper.join()
        path.unlink(missing_ok=True)


def _create(path: Path) -> bool:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(f"{socket.gethostname()} {os.getpid()}\n")
    except FileExistsError:
        return False
    return True


def _abandoned(path: Path, stale: float) -> os.stat_result | None:
    """The claim's file, if its holder is a dead process of this machine or was silent for long."""
    try:
        found = path.stat()
        host, _, process = path.read_text(encoding="utf-8").strip().rpartition(" ")
    except FileNotFoundError:  # just given back
        return None
    if host == socket.gethostname() and process.isdigit():
        return None if _alive(int(process)) else found
    return found if _now(path.parent) - found.st_mtime > stale else None


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _now(folder: Path) -> float:
    """The file system's time."""
    probe = folder / f".{uuid.uuid4().hex}"
    probe.touch()
    try:
        return probe.stat().st_mtime
    finally:
        probe.unlink(missing_ok=True)


def _take_over(path: Path, old: os.stat_result) -> bool:
    """Of several that try, one can move the old claim away; any may then create the new one, but only one does."""
    aside = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        path.rename(aside)
    except FileNotFoundError:
        return False
    moved = aside.stat()
    if (moved.st_ino, moved.st_mtime_ns) != (old.st_ino, old.st_mtime_ns):  # another was faster: its claim goes back
        with suppress(FileExistsError):
            os.link(aside, path)
        aside.unlink()
        return False
    aside.unlink()
    return _create(path)


def _keep_alive(path: Path, done: threading.Event, beat: float) -> None:
    while not done.wait(beat):
        with suppress(OSError):
            os.utime(path)
