"""How a benchmark runs as a script. Nothing slow is imported before its command line was read."""

import sys
from collections.abc import Callable, Iterable, Sequence
from os.path import relpath
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from encoder_lab.settings.command_line import FILE, Command, Setting

ROOT = Path(__file__).parents[1]
PRECISIONS = ("32-true", "bf16-mixed")  # with the names of Lightning; references use the first
RESULTS = Path(relpath(Path(__file__).parent / "results"))  # short in help


def benchmark(module: str, file: str, purpose: str | None, settings: Sequence[Setting]) -> Command:
    """The command line of a benchmark, by its `__name__`, `__file__` and `__doc__`.

    Where the file runs as a script, help and mistakes are answered now: slow imports follow.
    """
    name = Path(file).stem
    settings = [*settings, Setting("json", f"a file for the results, as {RESULTS}/{name}.json (default: none)", FILE)]
    command = Command(f"python benchmarks/{name}.py", purpose, settings)
    if module == "__main__":
        command.read_or_end(sys.argv[1:])
    return command


def measure(command: Command, run_benchmark: Callable[[SimpleNamespace], Iterable[dict[str, Any]]]) -> int:
    """Runs a benchmark and returns the exit status.

    `run_benchmark` yields parts of the record as they are measured. After each the terminal has its new rows, and the
    file all that is known, so that a run that is stopped loses nothing.
    """

    def write(settings: SimpleNamespace) -> None:
        from benchmarks.machine import hardware, write_json
        from benchmarks.tables import SECTIONS, machine_rates, print_new_rows

        _, tables = SECTIONS[Path(command.usage).stem]
        record, printed = hardware(), set[str]()
        limits = f"{record['threads']} threads, {machine_rates(record)}"
        print(f"{record['machine']}, {record['cores']} cores, {limits}", flush=True)
        for part in run_benchmark(settings):
            record |= part
            if settings.json:
                write_json(settings.json, record)
            print_new_rows(tables(record), printed)

    return command._replace(work=write, writes=lambda settings: settings.json or "standard output").run(sys.argv[1:])
