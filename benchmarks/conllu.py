"""Time and memory of reading CoNLL-U and of building the tasks of a treebank, by number of sentences.

python benchmarks/conllu.py                                  10,000 and 100,000 sentences
python benchmarks/conllu.py sizes=[10000,100000,1000000] json=benchmarks/results/conllu.json

The trees are the Finnish ones of the demo corpus: 10,000 sentences, repeated with a number in each so that all differ.
Each size is measured in a separate process: reading on one core, reading and analysing on all cores, and the whole
command `python -m probes.probing.build ud=` at the published sizes. Two memory figures as in benchmarks/building.py.
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
    "python benchmarks/conllu.py",
    str(__doc__).strip(),
    [Setting("sizes", "how many sentences", COUNTS, [10_000, 100_000]), json_setting("conllu")],
    most=0,
)

if __name__ == "__main__":
    read_or_end(COMMAND, sys.argv[1:])  # help and mistakes, before slow imports

from benchmarks.machine import alone, grown_memory, hardware, write_json
from datamodules.demo import Demo
from datamodules.trees.conllu import DependencyTree, read_conllu, rows_of
from probes.probing.build.__main__ import COMMAND as BUILD
from probes.probing.build.__main__ import build
from probes.probing.build.dependencies import analyse_treebank, portions_of

DISTINCT = 10_000


def numbered(tree: DependencyTree, number: int) -> DependencyTree:
    """The sentence with the number as a part of its last word before the full stop."""
    at = len(tree.words) - 2
    form = f"{tree.words[at].form}{number or ''}"
    words = [*tree.words[:at], tree.words[at]._replace(form=form), tree.words[-1]]
    return DependencyTree([*tree.tokens[:at], form, tree.tokens[-1]], words)


def generate(path: Path, sentences: int) -> None:
    """Write a treebank of `sentences` different sentences."""
    trees = list(islice(Demo(source_language="fi").dependencies("probe"), min(sentences, DISTINCT)))
    with path.open("w", encoding="utf-8") as file:
        for number in range(sentences):
            file.write(rows_of(numbered(trees[number % len(trees)], number // len(trees))))


def reading(path: Path, out: Path) -> dict[str, Any]:  # noqa: ARG001
    """Seconds to parse all sentences on one core."""
    return timed(lambda: sum(1 for _ in read_conllu(path)))


def analysing(path: Path, out: Path) -> dict[str, Any]:  # noqa: ARG001
    """Seconds to parse and analyse all sentences on all cores."""
    return timed(lambda: sum(1 for _ in analyse_treebank(portions_of([path]))))


def building(path: Path, out: Path) -> dict[str, Any]:
    """Seconds of the whole command: trees to task files and report."""
    settings = BUILD.read([f"ud={path}", f"out={out}"])
    return timed(lambda: len(build(settings)))


def timed(work: Any) -> dict[str, Any]:
    started = time.perf_counter()
    with grown_memory() as memory:
        work()
    return {"seconds": time.perf_counter() - started, "memory": memory}


STEPS = {"read on one core": reading, "read and analyse": analysing, "build": building}


def work(given: SimpleNamespace) -> None:
    found = hardware()
    print(f"{found['machine']}, {found['cores']} cores")
    print(f"  {'sentences':>12}  {'step':<18}{'seconds':>9}{'s per million':>15}{'MB':>8}{'own MB':>8}")
    cases = []
    for size in given.sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trees.conllu"
            generate(path, size)
            for name, step in STEPS.items():
                case = alone(step, path, Path(folder) / "tasks")
                memory, seconds = case["memory"], case["seconds"]
                rate = f"{seconds:9.1f}{1e6 * seconds / size:15,.0f}"
                print(f"  {size:12,}  {name:<18}{rate}{memory['memory_mb']:8,.0f}{memory['own_mb']:8,.0f}", flush=True)
                cases.append({"sentences": size, "step": name, **case})
    write_json(given.json, {**found, "cases": cases})


if __name__ == "__main__":
    sys.exit(run(COMMAND, sys.argv[1:], work, lambda given: given.json))
