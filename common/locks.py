"""A folder that one process has to itself, among all that share the disk."""

import errno
import fcntl
import os
import signal
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from common.errors import InputError

BEAT = 20.0  # seconds between signs of life
STALE = 300.0  # seconds without one: whoever held the thing is gone
LOST = signal.SIGURG  # to ourselves when our claim is another's; where nobody listens nothing comes of it


@contextmanager
def claimed(folder: Path, name: str, beat: float = BEAT, stale: float = STALE) -> Iterator[bool]:
    """Whether the folder is ours while the block runs; False if a living process has it.

    The claim is the file `name`, which only one process can create; its holder touches it, and one that was not
    touched for long is taken over. Raises InputError, in the block too, when that happened to ours, as it may to a
    machine that was suspended: the folder is no longer ours to write in.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path, ours = folder / name, f"{ourselves()}\n"
    if not (_create(path, ours) or _take_over(path, ours, stale)):
        yield False
        return
    try:
        with _ended_when_lost(path), regularly(partial(_touch, path, ours), beat):
            yield True
    finally:
        if not _give_back(path, ours):
            raise _lost(path) from None


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


def _create(path: Path, ours: str) -> bool:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(ours)
    except FileExistsError:
        return False
    except OSError:  # a claim without a name would be believed for a while
        path.unlink(missing_ok=True)
        raise
    return True


def _take_over(path: Path, ours: str, stale: float) -> bool:
    """Put our name in an abandoned claim; it stays where it is, and its lock lets one at a time look and write."""
    try:
        with path.open("r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found = os.fstat(file.fileno())
            holder = file.read().strip()
            if not abandoned(holder, path.parent, found.st_mtime + stale) or path.stat().st_ino != found.st_ino:
                return False
            file.seek(0)
            file.write(ours)
            file.truncate()  # last, so that a full disk has room for it
    except OSError as error:  # just given back, or another is at it
        if error.errno in (errno.EROFS, errno.ENOSPC):
            raise
        return False
    return True


def _touch(path: Path, ours: str) -> None:
    """A sign of life on our claim, and to our main thread a word when it is another's."""
    if path.read_text(encoding="utf-8") == ours:
        os.utime(path)
    else:
        os.kill(os.getpid(), LOST)


@contextmanager
def _ended_when_lost(path: Path) -> Iterator[None]:
    """Raise in the block, wherever it is, when the claim is lost. Python lets the main thread alone listen."""

    def end(*_: object) -> None:
        raise _lost(path)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(LOST, end)
    try:
        yield
    finally:
        signal.signal(LOST, before)


def _lost(path: Path) -> InputError:
    what = "another process took this folder over while this one gave no sign of life"
    return InputError(f"{path.parent}: {what}; the other goes on with it")


def _give_back(path: Path, ours: str) -> bool:
    """Remove our claim; False if it is another's by now, whose it remains."""
    with suppress(OSError), path.open("r+", encoding="utf-8") as file:
        with suppress(OSError):  # no locks here, so nobody takes over either
            fcntl.flock(file, fcntl.LOCK_EX)
        if file.read() != ours:
            return False
        path.unlink()
    return True


def ourselves() -> str:
    """This process, as no other is called: machine, number, and when it began. Fit for the name of a file."""
    return f"{machine()}+{os.getpid()}+{_birth(os.getpid())}"


def machine() -> str:
    """Where a number means one process: containers count their own, and machines may share a host name.

    The host name, which start of the machine, and which namespace of processes; without /proc the host name alone.
    """
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
        return f"{socket.gethostname()}-{boot}-{Path('/proc/self/ns/pid').stat().st_ino}"
    return socket.gethostname()


def abandoned(holder: str, folder: Path, until: float) -> bool:
    """Whether the holder is a dead process of this machine, or one that gave no sign of life until then.

    The latter is asked of a process elsewhere, or of one here whose number another has by now. `until` is a time of
    the file system of `folder`, so the clocks of the machines need not agree.
    """
    where, process, birth, *_ = [*holder.rsplit("+", 2), "", ""]
    if where == machine() and process.isdecimal():
        if not alive(int(process)):
            return True
        if birth in ("", _birth(int(process))):
            return False
    return _now(folder) > until


def alive(process: int) -> bool:
    """Whether a process of this machine still runs."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _birth(process: int) -> str:
    """When a process of this machine began, in ticks since the machine's start; empty where nothing tells."""
    with suppress(OSError):
        stat = Path(f"/proc/{process}/stat").read_text(errors="replace")
        return stat.rpartition(")")[2].split()[19]  # field 22 of proc(5); the first here is its third
    return ""


def _now(folder: Path) -> float:
    """The file system's time."""
    probe = folder / f".{uuid.uuid4().hex}"
    probe.touch()
    try:
        return probe.stat().st_mtime
    finally:
        probe.unlink(missing_ok=True)


@contextmanager
def regularly(sign: Callable[[], object], beat: float = BEAT) -> Iterator[None]:
    """Give a sign of life every `beat` seconds while the block runs; one that the disk does not take is left out."""
    done = threading.Event()

    def keep_on() -> None:
        while not done.wait(beat):
            with suppress(OSError):
                sign()

    keeper = threading.Thread(target=keep_on, daemon=True)
    keeper.start()
    try:
        yield
    finally:
        done.set()
        keeper.join()
