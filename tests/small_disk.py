"""A small disk that one process and its children see, and what commands of ours do on it when it takes no more.

Each function that a test calls is the work of a fresh fork; it fails with an AssertionError.
"""

import ctypes
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.context import ForkProcess
from pathlib import Path

from tests.commands import become

NEW_MOUNTS, NEW_USER = 0x00020000, 0x10000000  # of unshare(2)
CANNOT = 77  # exit status where the system gives us no disk


def mount(disk: Path, megabytes: int) -> None:
    """A disk in memory at `disk`, which only this process sees."""
    user, group = os.getuid(), os.getgid()
    if ctypes.CDLL(None).unshare(NEW_MOUNTS | NEW_USER):
        sys.exit(CANNOT)
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", disk], check=True)
    except (OSError, subprocess.CalledProcessError):
        sys.exit(CANNOT)


def remount(disk: Path, how: str) -> None:
    """`how` is ro, read-only, or rw."""
    subprocess.run(["mount", "-o", f"remount,{how}", disk], check=True)


def fill(disk: Path, blocks: int = 10**6) -> None:
    """Write that many blocks of 64 KiB, or as many as the disk takes."""
    with (disk / "fill").open("wb", buffering=0) as file, suppress(OSError):
        for _ in range(blocks):
            file.write(bytes(1 << 16))


def starts(arguments: list[str], log: Path) -> ForkProcess:
    """`python ARGUMENTS` on this process's disk; what it says on standard error is added to `log`."""
    with log.open("a") as file, Path(os.devnull).open("w") as nothing:
        environment = arguments, dict(os.environ), nothing.fileno(), file.fileno()
        process = get_context("fork").Process(target=become, args=environment)
        process.start()
    return process


def status(arguments: list[str], log: Path) -> int | None:
    process = starts(arguments, log)
    process.join()
    return process.exitcode


def trained_until_full(disk: Path, settings: list[str], log: Path, failed: Path) -> None:
    """Train; fill the disk after the first checkpoint; copy the run as it then is to `failed`; make room, resume."""
    mount(disk, 64)
    process = _train_to_a_checkpoint(disk, settings, log)
    fill(disk)
    process.join()
    assert process.exitcode == 2
    shutil.copytree(disk / "run", failed)
    (disk / "fill").unlink()
    assert status(["train.py", f"resume={disk / 'run'}"], log) == 0
    shutil.copytree(disk / "run", failed.with_name("run"))


def trained_until_read_only(disk: Path, settings: list[str], log: Path, failed: Path) -> None:
    """Train; kill after the first checkpoint; resume on the disk read-only; copy the run to `failed`; resume again."""
    mount(disk, 64)
    process = _train_to_a_checkpoint(disk, settings, log)
    process.kill()
    process.join()
    remount(disk, "ro")
    assert status(["train.py", f"resume={disk / 'run'}"], log) == 2
    shutil.copytree(disk / "run", failed)
    remount(disk, "rw")
    assert status(["train.py", f"resume={disk / 'run'}"], log) == 0
    shutil.copytree(disk / "run", failed.with_name("run"))


def _train_to_a_checkpoint(disk: Path, settings: list[str], log: Path) -> ForkProcess:
    process = starts(["train.py", *settings], log)
    while process.is_alive() and not (disk / "run" / "checkpoints" / "last.ckpt").exists():
        time.sleep(0.01)
    return process


def full_from_the_start(disk: Path, arguments: list[str], log: Path, blocks: int) -> None:
    """A command on a disk of 1 MB that holds so many blocks of 64 KiB, and on a read-only one; it leaves nothing."""
    mount(disk, 1)
    fill(disk, blocks)
    assert status(arguments, log) == 2
    assert {path.name for path in disk.iterdir()} <= {"fill", "run"}
    remount(disk, "ro")
    assert status(arguments, log) == 2
