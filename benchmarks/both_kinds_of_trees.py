"""The same sentences of GUM with brackets and with dependencies: where do the classes of the tasks agree?

python benchmarks/both_kinds_of_trees.py GUM_FOLDER

Brackets are a parser's, dependencies those of the annotators. Sentences with brackets in the text are left out: the
trees spell them in their own way. For each task: sentences with a class in both, share of the same class, and sentences
with a class in one alone.
"""

import sys
import tempfile
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # so that the file can be run as a script

from encoder_lab.settings.command_line import Command, read_or_end, run

COMMAND = Command(
    "python benchmarks/both_kinds_of_trees.py GUM_FOLDER",
    str(__doc__).strip(),
    place="GUM_FOLDER",
    meaning="a copy of GUM",
    least=1,
    most=1,
    absent="no such folder",
)

if __name__ == "__main__":
    read_or_end(COMMAND, sys.argv[1:])  # help and mistakes, before slow imports

import numpy as np

from datamodules.trees.conllu import read_conllu
from datamodules.trees.gum import sentences
from datamodules.trees.penn import read_texts
from probes.probing.build.analysis import Analysis, analyse_all
from probes.probing.build.dependencies import analyse_dependencies
from probes.probing.build.tags import ENGLISH

SAME = {"NN": "Sing", "NNS": "Plur", "PAST": "Past", "PRES": "Pres"}  # classes of Penn-style tasks in the terms of UD


def both(folder: Path) -> list[tuple[Analysis, Analysis]]:
    """Each sentence of 5 to 28 words that both kinds of trees spell alike: brackets, dependencies."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "gum.conllu"
        path.write_text("".join(sentences(folder)), encoding="utf-8")
        found = {s.sentence: s for s in analyse_dependencies(read_conllu(path))}
    constituents = {s.sentence: s for s in analyse_all(chain(read_texts(folder)), ENGLISH)}
    return [(constituents[text], found[text]) for text in sorted(constituents.keys() & found.keys())]


def work(given: SimpleNamespace) -> None:
    pairs = both(Path(given.given[0]))
    print(f"{len(pairs):,} sentences\n\n| task | in both | same class | brackets alone | dependencies alone |")
    print("| --- | --- | --- | --- | --- |")
    for task, target in (("Tense", "tense"), ("SubjNum", "subject"), ("ObjNum", "object")):
        classes = [(getattr(a, target), getattr(b, target)) for a, b in pairs]
        labels = [(a and SAME[a.label], b.label if b else None) for a, b in classes]
        shared = [(a, b) for a, b in labels if a and b]
        alone = [sum(bool(a) and not b for a, b in labels), sum(bool(b) and not a for a, b in labels)]
        same = sum(a == b for a, b in shared) / len(shared)
        print(f"| {task} | {len(shared):,} | {same:.1%} | {alone[0]:,} | {alone[1]:,} |")
    clauses = [(a.clauses, b.clauses) for a, b in pairs]
    shared_clauses = [(a, b) for a, b in clauses if a and b]
    ends = sum(a == b for a, b in shared_clauses) / len(shared_clauses)
    alone = [sum(bool(a) and not b for a, b in clauses), sum(bool(b) and not a for a, b in clauses)]
    print(f"| CoordInv (the same two clauses) | {len(shared_clauses):,} | {ends:.1%} | {alone[0]:,} | {alone[1]:,} |")
    depths = np.array([(a.depth, b.depth, a.length) for a, b in pairs]).T
    links = np.corrcoef(depths)
    print(f"\ndepth of one tree and of the other: correlation {links[0, 1]:.2f}")
    print(f"depth and length: {links[0, 2]:.2f} with brackets, {links[1, 2]:.2f} with dependencies")


if __name__ == "__main__":
    sys.exit(run(COMMAND, sys.argv[1:], work, lambda _: "standard output"))
