"""A folder that one process has to itself, among all that share the disk."""

import errno
import fcntl
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from datamodules.errors import InputError

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
    if not (_create(path) or _take_over(path, stale)):
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


def wait_for(made: Path, claim: Path, stale: float = STALE) -> None:
    """Wait for what the holder of a claim makes. Raises InputError when `claim` shows no life for long."""
    sign, since = _touched(claim), time.monotonic()
    while not made.exists():
        if _touched(claim) != sign:
            sign, since = _touched(claim), time.monotonic()
        if time.monotonic() - since > stale:
            raise InputError(f"{made}: missing, and the process that was to make it gives no sign of life; start anew")
        time.sleep(0.1)


def _touched(path: Path) -> float | None:
    with suppress(FileNotFoundError):
        return path.stat().st_mtime
    return None


def _create(path: Path) -> bool:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(_ourselves())
    except FileExistsError:
        return False
    except OSError:  # a claim without a name would be believed for a while
        path.unlink(missing_ok=True)
        raise
    return True


def _take_over(path: Path, stale: float) -> bool:
    """Put our name in an abandoned claim; it stays where it is, and its lock lets one at a time look and write."""
    try:
        with path.open("r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found = os.fstat(file.fileno())
            if not _abandoned(file.read(), path.parent, found.st_mtime + stale) or path.stat().st_ino != found.st_ino:
                return False
            file.seek(0)
            file.write(_ourselves())
            file.truncate()  # last, so that a full disk has room for it
    except OSError as error:  # just given back, or another is at it
        if error.errno in (errno.EROFS, errno.ENOSPC):
            raise
        return False
    return True


def _ourselves() -> str:
    return f"{socket.gethostname()} {os.getpid()} {_birth(os.getpid())}\n"


def _abandoned(holder: str, folder: Path, until: float) -> bool:
    """Whether the holder is a dead process of this machine, or one elsewhere that gave no sign of life until then.

    Elsewhere may be another container with our host name, or one before ours: its process has the number of one that
    began at another time. Earlier claims do not say when, nor do machines without /proc.
    """
    host, process, birth, *_ = [*holder.split(), "", "", ""]
    if host == socket.gethostname() and process.isdigit():
        if not alive(int(process)):
            return True
        if birth in ("", _birth(int(process))):
            return False
    return _now(folder) > until


def _birth(process: int) -> str:
    """When a process of this machine began, in ticks since which start of the machine; empty where nothing tells."""
    with suppress(OSError):
        stat = Path(f"/proc/{process}/stat").read_text(errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
        began = stat.rpartition(")")[2].split()[19]  # field 22 of proc(5); the first here is its third
        return f"{began}-{boot}"
    return ""


def alive(process: int) -> bool:
    """Whether a process of this machine still runs."""
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


def _keep_alive(path: Path, done: threading.Event, beat: float) -> None:
    while not done.wait(beat):
        with suppress(OSError):
            os.utime(path)
