"""What a hidden layer adds to a probe: the default grid against logistic regression, on the same vectors.

python benchmarks/mlp_or_logistic.py runs/nmt_enfr/bilstm_max/2026-01-01_12-00-00
python benchmarks/mlp_or_logistic.py RUN sizes=[1000,2000] settings="probes=trees probes.paths=[DATA/treebank]"

`RUN` is a run folder; `settings=` are those of evaluate.py. The tasks are built once, at the largest size, and each
sentence is encoded once. A smaller size takes the first training items; test items are the same, so the difference of
two scores has a paired interval. Seconds are of the processor, because the two classifiers use cores differently.
"""

import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # so that the file can be run as a script

from benchmarks.settings import command_on_a_run
from encoder_lab.settings.command_line import COUNTS, Setting, read_or_end, run

COMMAND = command_on_a_run(
    "mlp_or_logistic",
    __doc__,
    Setting("sizes", "training items", COUNTS, [1200, 4000, 8000]),
)

if __name__ == "__main__":
    read_or_end(COMMAND, sys.argv[1:])  # help and mistakes, before slow imports

import numpy as np

from benchmarks.machine import DEVICE, hardware, write_json
from encoders import load_encoder
from probes.classification import Classification
from probes.evaluation import distinct_sentences
from probes.statistics import compare
from probes.task import Items
from probes.vectors import Vectors, vectors_of
from probes.watch import tasks_for


def first(items: Items, count: int) -> Items:
    return Items(tuple(column[:count] for column in items.texts), items.gold[:count])


def scored(task: Classification, vectors: Vectors) -> tuple[dict[str, Any], np.ndarray]:
    """The score, its processor seconds, and which test items are right."""
    started = time.process_time()
    found = task.score(vectors, DEVICE)
    return {"test": found.test, "seconds": time.process_time() - started}, found.correct


def measure(task: Classification, size: int, dev: int, vectors: Vectors) -> dict[str, Any]:
    """Measure and print one row."""
    small = replace(task, train=first(task.train, size), dev=first(task.dev, dev))
    (mlp, right), (logistic, also) = (
        scored(replace(small, grid=grid), vectors) for grid in (task.grid, task.grid.logistic())
    )
    more = compare(right, also)
    cells = f"{mlp['test']:8.1f}{logistic['test']:8.1f}{more.difference:+8.1f} [{more.low:+.1f}, {more.high:+.1f}]"
    print(f"{task.name:<12}{len(small.train.gold):8}{cells:<44}{mlp['seconds'] / logistic['seconds']:6.1f}", flush=True)
    added = {"difference": more.difference, "low": more.low, "high": more.high}
    return {"task": task.name, "train": size, "mlp": mlp, "logistic": logistic, **added}


def means(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The mean difference over the tasks at each size, and the ratio of all seconds."""
    found = []
    for size in sorted({case["train"] for case in cases}):
        some = [case for case in cases if case["train"] == size]
        spent = {side: sum(case[side]["seconds"] for case in some) for side in ("mlp", "logistic")}
        mean = float(np.mean([case["difference"] for case in some]))
        ratio = spent["mlp"] / spent["logistic"]
        print(f"{size:8} training items: {mean:+.2f} points on average, {ratio:.1f} times the time")
        found.append({"train": size, "difference": mean, **spent})
    return found


def work(given: SimpleNamespace) -> None:
    most = max(given.sizes)
    sizes = [f"probes.train_size={most}", f"probes.dev_size={most // 4}", "probes.test_size=2000"]
    found = tasks_for(*sizes, *(given.settings or ()))
    tasks = [task for task in found if isinstance(task, Classification) and not task.grid.is_logistic]
    sentences = distinct_sentences(tasks)
    encoder = load_encoder(Path(given.given[0]))
    started = time.process_time()
    vectors = Vectors(vectors_of(lambda some: encoder.encode(some, tokenized=True), sentences), sentences)
    encoding = time.process_time() - started
    print(f"{len(sentences)} sentences encoded in {encoding:.1f} s")
    print(f"{'':<12}{'train':>8}{'MLP':>8}{'logreg':>8}{'difference':>11}{'times the time':>35}")
    cases = [measure(task, size, size // 4, vectors) for size in sorted(given.sizes) for task in tasks]
    totals = {"sentences": len(sentences), "encoding_seconds": encoding, "means": means(cases), "cases": cases}
    write_json(given.json, {**hardware(), **totals})


if __name__ == "__main__":
    sys.exit(run(COMMAND, sys.argv[1:], work, lambda given: given.json))
