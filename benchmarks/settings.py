"""What several benchmarks have in their command lines; no slow imports here."""

import shlex
from os.path import relpath
from pathlib import Path

from common.command_line import FILE, Kind, Setting

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
