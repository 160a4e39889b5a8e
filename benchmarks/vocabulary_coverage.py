"""Which share of the words in the test sentences of tasks does the training text of a run have?

python benchmarks/vocabulary_coverage.py runs/studies/languages/small/en/bilstm_max=pud/en

Each argument is a run and a folder of tasks. Words as the encoder reads them; the others get vectors from their
character n-grams.
"""

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # so that the file can be run as a script

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import Command, read_or_end, run

COMMAND = Command(
    "python benchmarks/vocabulary_coverage.py RUN=TASKS...",
    str(__doc__).strip(),
    place="RUN=TASKS...",
    meaning="a run folder and a folder of tasks; a run in this folder is ./RUN",
    least=1,
)

if __name__ == "__main__":
    read_or_end(COMMAND, sys.argv[1:])  # help and mistakes, before slow imports

from hydra.utils import instantiate

from encoders.load import read_config
from probes.probing.published_files import name_of, read_task


def coverage(training: Iterable[str], sentences: Iterable[str]) -> tuple[float, float]:
    """The share of running words, and of distinct words, that the training text has."""
    known = {word for sentence in training for word in sentence.split()}
    words = Counter(word for sentence in sentences for word in sentence.split())
    running = sum(count for word, count in words.items() if word in known)
    return running / words.total(), len(words.keys() & known) / len(words)


def work(given: SimpleNamespace) -> None:
    pairs = [text.rpartition("=") for text in given.given]
    if alone := [text for text, (name, _, folder) in zip(given.given, pairs, strict=True) if not (name and folder)]:
        raise InputError(f"{alone[0]}: give RUN=TASKS, a run folder and a folder of tasks")
    print("| tasks | training sentences | running words | distinct words |\n| --- | ---: | ---: | ---: |")
    for name, _, folder in pairs:
        training = list(instantiate(read_config(Path(name)).corpus).sentences("train"))
        tasks = [read_task(name_of(path), path) for path in sorted(Path(folder).glob("*.txt"))]
        words, forms = coverage(training, {s for task in tasks for s in task.test.sentences})
        print(f"| {folder} | {len(training):,} | {words:.1%} | {forms:.1%} |", flush=True)


if __name__ == "__main__":
    sys.exit(run(COMMAND, sys.argv[1:], work, lambda _: "standard output"))
