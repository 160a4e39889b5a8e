"""Our commands without the seconds of their imports: a fork server imports all modules once and forks each command.

`start("train.py", "encoder=bov")` does what `python train.py encoder=bov` does, in a process and a process group of its
own, with its own arguments, environment and output. All commands of one server share the hashes of strings. With
`forking=True` a command forks the programs of ours that it starts itself.
"""

import atexit
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing import forkserver, get_context
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PROGRAMS = [str(ROOT / name) for name in ("train.py", "evaluate.py", "report.py")]
FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(["tests.preload"])
SERVER: Any = forkserver._forkserver  # type: ignore[attr-defined]  # Python has no public name for it


class OpenFile:
    """An open file that a forked process gets too, as its number there."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> tuple:
        return type(DupFd(self.number)).detach, (DupFd(self.number),)


def become(
    arguments: Sequence[str], environment: Mapping[str, str], out: Any, err: Any, open_files: Any = (), server: str = ""
) -> None:
    """Do what `python ARGUMENTS` does, a script or `-m` and a module, in this process, which must be a fresh fork.

    `open_files`: those that stay open in it. `server`: forks the programs of ours that it starts.
    """
    os.setpgrp()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # even if the tests are a shell's background job
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    os.dup2(out, 1)
    os.dup2(err, 2)
    assert all(os.fstat(number) for number in open_files)
    from pytorch_lightning.utilities import rank_zero_only  # slow elsewhere

    rank_zero_only.rank = int(os.environ.get("LOCAL_RANK", 0))  # Lightning reads it when it is imported
    if server:
        fork_programs(server)
    module = arguments[1] if arguments[0] == "-m" else ""
    sys.argv = list(arguments[1:] if module else arguments)
    try:
        if module:
            sys.modules.pop(module, None)
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(arguments[0], run_name="__main__")
    finally:
        atexit._run_exitfuncs()  # multiprocessing ends a process without them


class Forked:
    """A running command, with the part of subprocess.Popen that our tests and the libraries below us use."""

    def __init__(
        self,
        args: Sequence[str],
        env: Mapping[str, str] | None = None,
        stdout: int = 1,
        stderr: int = 2,
        pass_fds: Sequence[int] = (),
        server: str = "",
    ) -> None:
        """`args`: Python, then its arguments; `stdout` and `stderr`: open files."""
        self.args = list(args)
        files = OpenFile(stdout), OpenFile(stderr), [OpenFile(number) for number in pass_fds]
        arguments = args[1:], dict(os.environ if env is None else env), *files, server
        self._process: Any = FORKS.Process(target=become, args=arguments)
        self._process.start()
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        """The exit status, minus the number of the signal that ended it, or None while it runs."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self.returncode is None:
            if timeout is not None:
                self.kill()
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode

    def communicate(self, _: Any = None, timeout: float | None = None) -> tuple[Any, Any]:
        self.wait(timeout)
        return None, None

    def __enter__(self) -> "Forked":
        return self

    def __exit__(self, *_: Any) -> None:
        self.wait()

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)


class Command(Forked):
    """A command of a test, with what it says."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], forking: bool) -> None:
        self._said = [tempfile.TemporaryFile("w+", encoding="utf-8") for _ in ("out", "err")]  # noqa: SIM115
        out, err = (file.fileno() for file in self._said)
        super().__init__([sys.executable, *arguments], environment, out, err, server=address() if forking else "")

    def communicate(self, _: Any = None, timeout: float | None = None) -> tuple[str, str]:
        """What it said, when it has ended."""
        self.wait(timeout)
        for file in self._said:
            file.seek(0)
        out, err = (file.read() for file in self._said)
        return out, err

    def speaking(self) -> list[int]:
        """The processes that may still say something: its own, and those that it started."""
        ours = os.fstat(self._said[0].fileno()).st_ino
        paths = {int(path.parts[2]): path for path in Path("/proc").glob("[0-9]*/fd/1")}
        return [pid for pid, path in paths.items() if path.exists() and path.stat().st_ino == ours]


def start(*arguments: str, environment: Mapping[str, str] = os.environ, forking: bool = False) -> Command:
    """`python ARGUMENTS` in the background."""
    return Command(arguments, environment, forking)


def finish(
    *arguments: str, environment: Mapping[str, str] = os.environ, forking: bool = False
) -> subprocess.CompletedProcess:
    """`python ARGUMENTS` to its end."""
    command = start(*arguments, environment=environment, forking=forking)
    out, err = command.communicate(timeout=300)
    return subprocess.CompletedProcess(command.args, command.returncode, out, err)


def succeed(*arguments: str, environment: Mapping[str, str] = os.environ, forking: bool = False) -> str:
    """What `python ARGUMENTS` prints. Fails unless it ends well."""
    done = finish(*arguments, environment=environment, forking=forking)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refusal(*arguments: str) -> str:
    """The one line in which `python ARGUMENTS` ends. Fails if it prints more lines of errors, or ends otherwise."""
    done = finish(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("error: "), line
    return line


def address() -> str:
    """Where our server is found by other processes. The first call starts it."""
    SERVER.ensure_running()
    return SERVER._forkserver_address


def use(server: str) -> None:
    """From now on this process forks from a server that another process has started."""
    SERVER._forkserver_address, SERVER.ensure_running = server, lambda: None
    if SERVER._forkserver_alive_fd is None:
        SERVER._forkserver_alive_fd = os.open(os.devnull, os.O_RDONLY)


def fork_programs(server: str) -> None:
    """From now on this process, which other tests do not share, forks the programs of ours that it would start."""
    use(server)

    def start_or_fork(popen: type, args: Any, *_: Any, env: Any = None, pass_fds: Any = (), **__: Any) -> Any:
        words = [word for word in args if word != "-u"] if isinstance(args, list | tuple) else []
        ours = len(words) > 1 and words[0] == sys.executable and str(ROOT / words[1]) in PROGRAMS
        return Forked(words, env, pass_fds=pass_fds, server=server) if ours else object.__new__(popen)

    subprocess.Popen.__new__ = start_or_fork  # type: ignore[assignment]
