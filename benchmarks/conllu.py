"""Time and memory of reading CoNLL-U and of building the tasks of a treebank, by number of sentences.

python benchmarks/conllu.py                                  10,000 and 100,000 sentences
python benchmarks/conllu.py sizes=[10000,100000,1000000] json=benchmarks/results/conllu.json

The trees are the Finnish ones of the demo corpus: 10,000 sentences, repeated with a number in each so that all differ.
Each size is measured in a separate process: reading on one core, reading and analysing on all cores, and the whole
command `python -m probes.probing.build ud=` at the published sizes. Two memory figures as in benchmarks/building.py.
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
from datamodules.demo import Demo
from datamodules.trees.conllu import DependencyTree, conllu_text, read_conllu
from probes.probing.build.__main__ import COMMAND as BUILD
from probes.probing.build.__main__ import build
from probes.probing.build.dependencies import analyse_treebank, treebank_portions

DISTINCT_SENTENCES = 10_000


def number_sentence(tree: DependencyTree, number: int) -> DependencyTree:
    """The sentence with the number as a part of its last word before the full stop."""
    at = len(tree.words) - 2
    form = f"{tree.words[at].form}{number or ''}"
    words = [*tree.words[:at], tree.words[at]._replace(form=form), tree.words[-1]]
    return DependencyTree([*tree.tokens[:at], form, tree.tokens[-1]], words)


def generate(path: Path, sentences: int) -> None:
    """Write a treebank of `sentences` different sentences."""
    trees = list(islice(Demo(source_language="fi").dependencies("probe"), min(sentences, DISTINCT_SENTENCES)))
    with path.open("w", encoding="utf-8") as file:
        for number in range(sentences):
            file.write(conllu_text(number_sentence(trees[number % len(trees)], number // len(trees))))


def read_treebank(path: Path, _: Path) -> dict[str, Any]:
    """Parse all sentences on one core."""
    return cost_of(lambda: sum(1 for _ in read_conllu(path)))


def analyse_sentences(path: Path, _: Path) -> dict[str, Any]:
    """Parse and analyse all sentences on all cores."""
    return cost_of(lambda: sum(1 for _ in analyse_treebank(treebank_portions([path]))))


def build_tasks(path: Path, out: Path) -> dict[str, Any]:
    """The whole command: trees to task files and report."""
    settings = BUILD.read([f"ud={path}", f"out={out}"])
    return cost_of(lambda: build(settings))


STEPS = {"read on one core": read_treebank, "read and analyse": analyse_sentences, "build": build_tasks}


def run_benchmark(settings: SimpleNamespace) -> Iterator[dict[str, Any]]:
    cases = []
    for size in settings.sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trees.conllu"
            generate(path, size)
            for name, step in STEPS.items():
                cases.append({"sentences": size, "step": name, **in_new_process(step, path, Path(folder) / "tasks")})
                yield {"cases": cases}


if __name__ == "__main__":
    sys.exit(measure(COMMAND, run_benchmark))
