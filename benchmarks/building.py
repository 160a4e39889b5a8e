"""Time and memory of building the ten probing tasks, by size of the corpus of trees.

python benchmarks/building.py                                  10,000 and 100,000 sentences
python benchmarks/building.py sizes=[10000,100000,1000000] json=benchmarks/results/building.json

The trees are those of the demo corpus, one per line. Each size is built in a separate process, as by
`python -m probes.probing.build`: the published sizes are requested, and a smaller corpus gives smaller tasks.
Two memory figures: resident, and own memory including worker processes (benchmarks/machine.py).
"""

import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # so that the file can be run as a script

from benchmarks.settings import json_setting
from encoder_lab.settings.command_line import COUNTS, Command, Setting, read_or_end, run

COMMAND = Command(
    "python benchmarks/building.py",
    str(__doc__).strip(),
    [Setting("sizes", "how many sentences", COUNTS, [10_000, 100_000]), json_setting("building")],
    most=0,
)

if __name__ == "__main__":
    read_or_end(COMMAND, sys.argv[1:])  # help and mistakes, before slow imports

from benchmarks.machine import alone, grown_memory, hardware, write_json
from datamodules.demo import PROBE_FACTOR, Demo
from probes.probing.build.__main__ import COMMAND as BUILD
from probes.probing.build.__main__ import build
from probes.probing.published_files import FILES


def generate(path: Path, sentences: int) -> None:
    """Write trees of the demo corpus, one per line."""
    trees = Demo(size=1 + sentences // PROBE_FACTOR).trees("probe")
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{tree}\n" for tree in islice(trees, sentences))


def time_of(trees: Path, out: Path) -> dict[str, Any]:
    """Seconds and memory of the whole command: trees to task files and report."""
    settings = BUILD.read([f"trees={trees}", f"out={out}"])
    started = time.perf_counter()
    with grown_memory() as memory:
        lacking = build(settings)
    return {
        "seconds": time.perf_counter() - started,
        "memory": memory,
        "lacking": len(lacking),
        "training_sentences": {name: training_sentences(out / file) for name, file in FILES.items()},
    }


def training_sentences(path: Path) -> int:
    """The number of training lines of a task; 0 if it could not be built."""
    if not path.exists():
        return 0
    with path.open(encoding="utf-8") as file:
        return sum(line.startswith("tr\t") for line in file)


def measure(sentences: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        trees = Path(folder) / "trees.mrg"
        generate(trees, sentences)
        return {"sentences": sentences, **alone(time_of, trees, Path(folder) / "tasks")}


def work(given: SimpleNamespace) -> None:
    found = hardware()
    print(f"{found['machine']}, {found['cores']} cores")
    print(f"  {'sentences':>12}{'built in s':>12}{'sentences/s':>13}{'MB':>7}{'own MB':>8}{'training sentences':>24}")
    cases = []
    for size in given.sizes:
        case = measure(size)
        counts, memory = case["training_sentences"].values(), case["memory"]
        rate = f"{case['seconds']:12.1f}{size / case['seconds']:13,.0f}"
        held = f"{memory['memory_mb']:7,.0f}{memory['own_mb']:8,.0f}"
        print(f"  {size:12,}{rate}{held}{f'{min(counts):,} to {max(counts):,}':>24}", flush=True)
        cases.append(case)
    write_json(given.json, {**found, "cases": cases})


if __name__ == "__main__":
    sys.exit(run(COMMAND, sys.argv[1:], work, lambda given: given.json))
