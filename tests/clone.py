"""A copy of the project, in which a test runs what its pages tell a reader to run."""

import os
import re
import runpy
import shlex
import shutil
import sys
from multiprocessing import get_context
from pathlib import Path

from tests.packages import PACKAGES, ROOT
from tests.pages import Command

CODE = ["configs", *PACKAGES]
PUBLISHED = [str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "results").glob("*.csv")]  # scores of runs
COPIED = [*CODE, "benchmarks", "train.py", "evaluate.py", "report.py", "README.md"]
OTHER_SEED = re.compile("[^,]*[/_][23],")  # of a run
FORKS = get_context("forkserver")  # tests/conftest.py gives it our imports; each fork imports this file, so it is light


class Clone:
    """A copy of the project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.helps: dict[str, str] = {}  # by program
        (folder / "docs" / "results").mkdir(parents=True)
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, folder / name)
        for name in PUBLISHED:  # the first of three seeds is enough
            lines = (ROOT / name).read_text(encoding="utf-8").splitlines(keepends=True)
            (folder / name).write_text("".join(line for line in lines if not OTHER_SEED.match(line)), encoding="utf-8")

    def help(self, command: Command) -> str:
        """What the program of a command says of its settings."""
        program = [*command.program, *(command.arguments[:1] if command.name == "report.py" else [])]
        key = " ".join(program)
        if key not in self.helps:
            self.helps[key] = self.finish(Command(command.program, [*program[len(command.program) :], "--help"]))
        return self.helps[key]

    def finish(self, command: Command) -> str:
        """Run a command to its end; what it said. Fails unless it succeeds."""
        return finish(self.folder, command)


def finish(folder: Path, command: Command) -> str:
    """Run a command in a folder to its end; what it said. Fails unless it succeeds."""
    log = folder / "log"
    process = FORKS.Process(target=become, args=(command, folder, log))
    process.start()
    process.join(300)
    process.kill()
    text = log.read_text(encoding="utf-8", errors="replace")
    assert process.exitcode == 0, f"{shlex.join([*command.program, *command.arguments])}\n{text}"
    return text


def become(command: Command, folder: Path, log: Path) -> None:
    """Do what a shell in `folder` does with a command; this process is a fresh fork."""
    os.environ["OMP_NUM_THREADS"] = "1"
    os.chdir(folder)
    for number, file, how in (
        (0, command.stdin or os.devnull, os.O_RDONLY),
        (2, log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND),
        (1, command.stdout or log, os.O_WRONLY | os.O_CREAT | os.O_APPEND),
    ):
        os.dup2(os.open(file, how, 0o600), number)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  # a fork has none
    for module in [module for name, module in sys.modules.items() if name.split(".")[0] in CODE]:
        if hasattr(module, "__path__"):  # a page may have added a part to this package
            module.__path__ = [str(folder / module.__name__.replace(".", "/")), *module.__path__]
        if hasattr(module, "CONFIGS"):
            module.CONFIGS = folder / "configs"
    sys.path.insert(0, str(folder))
    sys.argv = [command.name, *command.arguments]
    if command.program == ["-c"]:
        exec(command.arguments[0], {"__name__": "__main__"})
    elif command.program[0] == "-m":
        sys.modules.pop(command.name, None)
        runpy.run_module(command.name, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(command.name, run_name="__main__")
