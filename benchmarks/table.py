"""Write docs/results/performance.md from benchmarks/results/*.json.

python -m benchmarks.table
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

from benchmarks.tables import SECTIONS, Record, machine_rates, markdown_rows, wrap_text
from encoder_lab.settings.command_line import Command
from encoder_lab.storage.files import atomic_write

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGE_PATH = ROOT / "docs" / "results" / "performance.md"
PAGE_INTRODUCTION = """\
[The conclusions](../performance.md) are on a page of their own. `make bench` and the longer commands that a section
names measure; `python -m benchmarks.table` writes this page from `benchmarks/results/*.json`.

A ratio says how many times faster than the reference in the same benchmark, on the same machine and data. Seconds
depend on the machine and on what else it does; `load` is the system's load average, the busy processes of the last
minute, when the benchmark wrote its results.

Memory is how far it rose in a process of its own: resident (VmHWM), mapped files included, which the system takes back
when it needs room; and the process's own, without these but with its workers."""
BENCH_RECORDS = ("training", "encoding", "probing", "downstream", "data")  # what `make bench` writes

COMPILE_NOTE = """\
`torch.compile` of the whole loss did not pay, so `train.py` has no switch for it. Tokens per second without and with it
(`python benchmarks/training.py compile=true steps=5 precision=[32-true] pairs=[gated_convnet:nli,bilstm_max:nli]
json=FILE`, at commit 57a82ba) on two cores of an AMD EPYC with a speed that varied by a third: gated_convnet, nli 1,199
and 1,717, but 1,918 without it a few minutes later; bilstm_max, nli 6,362 and 6,972; with `steps=3`, gated_convnet, nmt
734 and 221; bigru_mean, discourse 1,151 and 1,367. On one thread of a busy Xeon (`OMP_NUM_THREADS=1`, `steps=3`):
gated_convnet, nli 390 and 299; bilstm_max, nli 1,193 and 568. The first round took 6 seconds to 8 minutes. torch's
recurrent layers are fused already, and what is left are large matrix products."""


def write_page(_: SimpleNamespace) -> None:
    parts = [
        "# Performance: all measurements",
        *map(wrap_text, [*PAGE_INTRODUCTION.split("\n\n"), bench_duration_line()]),
    ]
    for name, (title, tables) in SECTIONS.items():
        for path in sorted(RESULTS.glob(f"{name}*.json")):
            record = json.loads(path.read_text(encoding="utf-8"))
            variant = path.stem.removeprefix(name).replace("_", " ")  # as " published size"
            parts += [f"## {':'.join(filter(None, [title, variant]))}", wrap_text(conditions_line(record))]
            for table in tables(record):
                parts += [wrap_text(table.text), markdown_rows(table)] if table.text else [markdown_rows(table)]
        if name == "training":
            parts.append(wrap_text(COMPILE_NOTE))
    with atomic_write(PAGE_PATH) as file:
        file.write("\n\n".join(parts) + "\n")
    print(PAGE_PATH)


def bench_duration_line() -> str:
    """How long `make bench` took."""
    records = {name: json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8")) for name in BENCH_RECORDS}
    seconds = {name: record["seconds"] for name, record in records.items() if "seconds" in record}
    each = ", ".join(f"{name} {number:,.0f}" for name, number in seconds.items())
    return f"`make bench` took {sum(seconds.values()) / 60:.1f} minutes here (seconds: {each})."


def conditions_line(record: Record) -> str:
    """The command and the machine."""
    seconds = f", {record['seconds']:,.0f} s" if "seconds" in record else ""
    return (
        f"`{record['command']}`, {record['date']}{seconds}: {record['machine']}, {record['threads']} threads, "
        f"{machine_rates(record)}, torch {record['torch']}, load {record['load']:.1f}."
    )


COMMAND = Command("python -m benchmarks.table", __doc__, work=write_page, writes=lambda _: PAGE_PATH)

if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
