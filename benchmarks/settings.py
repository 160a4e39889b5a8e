"""What several benchmarks have in their command lines; no slow imports here."""

import shlex
from os.path import relpath
from pathlib import Path

from encoder_lab.settings.command_line import FILE, Command, Kind, Setting

PRECISIONS = ("32-true", "bf16-mixed")  # with the names of Lightning; references use the first
WHICH_TASKS = Setting(
    "settings",
    "of evaluate.py: which tasks",
    Kind("'KEY=VALUE ...'", "settings with spaces between them, in quotes", shlex.split),
)
RESULTS = Path(relpath(Path(__file__).parent / "results"))  # short in help


def json_setting(name: str) -> Setting:
    """Where a benchmark writes its results."""
    return Setting("json", "the file for the results", FILE, RESULTS / f"{name}.json")


def command_on_a_run(name: str, doc: str | None, *settings: Setting) -> Command:
    """The command line of a benchmark that reads a run folder or a checkpoint."""
    return Command(
        f"python benchmarks/{name}.py RUN",
        str(doc).strip(),
        [*settings, WHICH_TASKS, json_setting(name)],
        "RUN",
        "a run folder or one of its .ckpt files",
        least=1,
        most=1,
        absent="no such run folder or checkpoint",
    )
