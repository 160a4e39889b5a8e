"""Which share of the words in the test sentences of tasks does the training text of a run have?

python benchmarks/vocabulary_coverage.py runs/studies/languages/small/en/bilstm_max=pud/en

Each argument is a run and a folder of tasks. Words as the encoder reads them; the others get vectors from their
character n-grams.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from hydra.utils import instantiate

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # so that the file can be run as a script

from encoders.load import read_config  # noqa: E402
from probes.probing.published_files import name_of, read_task  # noqa: E402


def coverage(training: Iterable[str], sentences: Iterable[str]) -> tuple[float, float]:
    """The share of running words, and of distinct words, that the training text has."""
    known = {word for sentence in training for word in sentence.split()}
    words = Counter(word for sentence in sentences for word in sentence.split())
    running = sum(count for word, count in words.items() if word in known)
    return running / words.total(), len(words.keys() & known) / len(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+", metavar="RUN=TASKS")
    print("| tasks | training sentences | running words | distinct words |\n| --- | ---: | ---: | ---: |")
    for pair in parser.parse_args().pairs:
        run, _, folder = pair.partition("=")
        training = list(instantiate(read_config(Path(run)).corpus).sentences("train"))
        tasks = [read_task(name_of(path), path) for path in sorted(Path(folder).glob("*.txt"))]
        words, forms = coverage(training, {s for task in tasks for s in task.test.sentences})
        print(f"| {folder} | {len(training):,} | {words:.1%} | {forms:.1%} |", flush=True)


if __name__ == "__main__":
    main()
