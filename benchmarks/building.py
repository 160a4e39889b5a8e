"""Time and memory of building the ten probing tasks, by size of the corpus of trees.

python benchmarks/building.py                                  10,000 and 100,000 sentences
python benchmarks/building.py sizes=[10000,100000,1000000] json=benchmarks/results/building.json

The trees are those of the demo corpus, one per line. Each size is built in a separate process, as by
`python -m probes.probing.build`: the published sizes are requested, and a smaller corpus gives smaller tasks.
Two memory figures: resident, and own memory including worker processes (benchmarks/machine.py).
"""

import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the file can be run as a script

from benchmarks.command import benchmark, measure
from encoder_lab.settings.command_line import COUNTS, Setting

SETTINGS = [Setting("sizes", "how many sentences", COUNTS, [10_000, 100_000])]
COMMAND = benchmark(__name__, __file__, __doc__, SETTINGS)

from benchmarks.machine import cost_of, in_new_process
from datamodules.demo import PROBE_FACTOR, Demo
from probes.probing import FILES
from probes.probing.build.__main__ import COMMAND as BUILD
from probes.probing.build.__main__ import build


def generate(path: Path, sentences: int) -> None:
    """Write trees of the demo corpus, one per line."""
    trees = Demo(size=1 + sentences // PROBE_FACTOR).trees("probe")
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{tree}\n" for tree in islice(trees, sentences))


def build_tasks(trees: Path, out: Path) -> dict[str, Any]:
    """Seconds and memory of the whole command: trees to task files and report."""
    settings, lacking = BUILD.read([f"trees={trees}", f"out={out}"]), list[Any]()
    cost = cost_of(lambda: lacking.extend(build(settings)))
    sizes = {name: training_sentences(out / file) for name, file in FILES.items()}
    return {**cost, "lacking": len(lacking), "training_sentences": sizes}


def training_sentences(path: Path) -> int:
    """The number of training lines of a task; 0 if it could not be built."""
    if not path.exists():
        return 0
    with path.open(encoding="utf-8") as file:
        return sum(line.startswith("tr\t") for line in file)


def run_benchmark(settings: SimpleNamespace) -> Iterator[dict[str, Any]]:
    cases = []
    for size in settings.sizes:
        with tempfile.TemporaryDirectory() as folder:
            trees = Path(folder) / "trees.mrg"
            generate(trees, size)
            cases.append({"sentences": size, **in_new_process(build_tasks, trees, Path(folder) / "tasks")})
        yield {"cases": cases}


if __name__ == "__main__":
    sys.exit(measure(COMMAND, run_benchmark))
