"""What several benchmarks have in their command lines; no slow imports here."""

from os.path import relpath
from pathlib import Path

from encoder_lab.settings.command_line import FILE, Setting

PRECISIONS = ("32-true", "bf16-mixed")  # with the names of Lightning; references use the first
RESULTS = Path(relpath(Path(__file__).parent / "results"))  # short in help


def json_setting(name: str) -> Setting:
    """Where a benchmark writes its results."""
    return Setting("json", "the file for the results", FILE, RESULTS / f"{name}.json")
