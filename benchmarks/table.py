"""Write docs/results/performance.md from benchmarks/results/*.json.

python -m benchmarks.table
"""

import json
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks.grids import encoding, fair, memory, training
from benchmarks.grids_of_data import building, conllu, data
from benchmarks.grids_of_tasks import coherence, discoeval, downstream, probing
from encoder_lab.settings.command_line import Command, run
from encoder_lab.storage.files import atomic_write

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
OUT = ROOT / "docs" / "results" / "performance.md"
HEAD = """\
# Performance: all measurements

[The conclusions](../performance.md) are on a page of their own. `make bench` and the longer commands that a section
names measure; `python -m benchmarks.table` writes this page from `benchmarks/results/*.json`.

A ratio says how many times faster than the reference in the same benchmark, on the same machine and data. Seconds
depend on the machine and on what else it does; `load` is the system's load average, the busy processes of the last
minute, when the benchmark wrote its results.

Memory is how far it rose in a process of its own: resident (VmHWM), mapped files included, which the system takes back
when it needs room; and the process's own, without these but with its workers."""
COMMAND = Command("python -m benchmarks.table", str(__doc__).strip(), most=0)
BENCH = ("training", "encoding", "probing", "downstream", "data")  # what `make bench` writes

COMPILE = """\
`torch.compile` of the whole loss did not pay, so `train.py` has no switch for it. Tokens per second without and with it
(`python benchmarks/training.py compile=true steps=5 precision=[32-true] pairs=[gated_convnet:nli,bilstm_max:nli]
json=FILE`, at commit 57a82ba) on two cores of an AMD EPYC with a speed that varied by a third: gated_convnet, nli 1,199
and 1,717, but 1,918 without it a few minutes later; bilstm_max, nli 6,362 and 6,972; with `steps=3`, gated_convnet, nmt
734 and 221; bigru_mean, discourse 1,151 and 1,367. On one thread of a busy Xeon (`OMP_NUM_THREADS=1`, `steps=3`):
gated_convnet, nli 390 and 299; bilstm_max, nli 1,193 and 568. The first round took 6 seconds to 8 minutes. torch's
recurrent layers are fused already, and what is left are large matrix products."""


def work(_: SimpleNamespace) -> None:
    parts = [HEAD, together()]
    for name, title, table in (
        ("fair", "Against what people would run", fair),
        ("training", "A training step at paper size", training),
        ("memory", "Memory of a run, epoch by epoch", memory),
        ("encoding", "A frozen encoder", encoding),
        ("probing", "One probing task", probing),
        ("downstream", "One downstream task with folds inside folds", downstream),
        ("discoeval", "The twelve tasks of DiscoEval at their published sizes", discoeval),
        ("data", "The input pipeline", data),
        ("building", "Building the ten probing tasks", building),
        ("conllu", "Reading CoNLL-U and building the tasks of a treebank", conllu),
        ("coherence", "Surprisals of coherence pairs", coherence),
    ):
        for path in sorted(RESULTS.glob(f"{name}*.json")):
            record = json.loads(path.read_text(encoding="utf-8"))
            which = path.stem.removeprefix(name).replace("_", " ")  # one file of several, as " published size"
            parts += [f"## {':'.join(filter(None, [title, which]))}", where(record), *table(record)]
        parts += [COMPILE] if name == "training" else []
    with atomic_write(OUT) as file:
        file.write("\n\n".join(map(wrapped, "\n\n".join(parts).split("\n\n"))) + "\n")
    print(OUT)


def wrapped(part: str) -> str:
    """A paragraph in lines of at most 100 columns; headings and tables as they are."""
    prose = not part.startswith(("#", "|"))
    return textwrap.fill(part, 100, break_long_words=False, break_on_hyphens=False) if prose else part


def together() -> str:
    """How long `make bench` took."""
    records = {name: json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8")) for name in BENCH}
    spent = {name: record["seconds"] for name, record in records.items() if "seconds" in record}
    parts = ", ".join(f"{name} {seconds:,.0f}" for name, seconds in spent.items())
    return f"`make bench` took {sum(spent.values()) / 60:.1f} minutes here (seconds: {parts})."


def where(record: dict[str, Any]) -> str:
    rate = record["matrix_gflop_per_second"]
    took = f", {record['seconds']:,.0f} s" if "seconds" in record else ""
    narrow = record.get("bf16_matrix_gflop_per_second")
    default = record.get("default_matrix_gflop_per_second")
    others = [f"{default:,.0f} as PyTorch has it by default"] if default else []
    others += [f"{narrow:,.0f} in bfloat16"] if narrow else []
    rates = f"matrix product {rate:,.0f} GFLOP/s" + (f" ({', '.join(others)})" if others else "")
    rates += f", memory {record['memory_gb_per_second']:,.0f} GB/s" if "memory_gb_per_second" in record else ""
    return (
        f"`{record['command']}`, {record['date']}{took}: {record['machine']}, {record['threads']} threads, "
        f"{rates}, torch {record['torch']}, load {record['load']:.1f}."
    )


if __name__ == "__main__":
    sys.exit(run(COMMAND, sys.argv[1:], work, lambda _: OUT))
