"""Which process holds something on a disk that many share, and whether that process is gone."""

import os
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

BEAT = 20.0  # seconds between signs of life
STALE = 300.0  # seconds without one: whoever held the thing is gone


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
