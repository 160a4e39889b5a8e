"""What probing an epoch costs next to encoding its sentences, as the callback does it: all cores, nothing cached.

python benchmarks/cost_of_probing.py runs/nmt_enfr/bilstm_max/2026-01-01_12-00-00
python benchmarks/cost_of_probing.py RUN sizes=[1200,8000] rounds=5

`RUN` is a run folder or a checkpoint. Each distinct sentence of the ten tasks is encoded once, then the tasks are
scored. Columns: training items of a task, distinct sentences, seconds to encode and to score the tasks, the share of
logistic regression (WC) in the sum of the tasks' seconds, and how many times the encoding all takes together. Medians
of the rounds. Dev and test have the sizes of a run (300 and 500), from 4,000 on those of scale=medium of a study (1,000
and 2,000).
"""

import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # so that the file can be run as a script

from benchmarks.settings import command_on_a_run
from encoder_lab.settings.command_line import COUNT, COUNTS, Setting, read_or_end, run

COMMAND = command_on_a_run(
    "cost_of_probing",
    __doc__,
    Setting("sizes", "training items", COUNTS, [1200, 8000]),
    Setting("rounds", "of each measurement", COUNT, 3),
)

if __name__ == "__main__":
    read_or_end(COMMAND, sys.argv[1:])  # help and mistakes, before slow imports

import torch

from benchmarks.machine import DEVICE, hardware, write_json
from encoder_lab.compute.matmul import multiplies_in_bfloat16
from encoder_lab.model import Model
from encoders import load_encoder
from encoders.frozen import FrozenEncoder
from probes.classification import Classification
from probes.evaluation import Evaluation
from probes.watch import tasks_for


def once(encoder: FrozenEncoder, tasks: Sequence[Classification]) -> dict[str, float]:
    """Seconds of each part of one evaluation, and the share of logistic regression (WC) in those of the tasks."""
    encode = partial(encoder.encode, tokenized=True)
    model = Model("benchmark", "", encode, "known", device=DEVICE, bfloat16=encoder.bfloat16)
    evaluation, started = Evaluation(model, tasks), time.monotonic()
    vectors = evaluation.vectors
    encoded = time.monotonic()
    seconds = [found.row.seconds for found in evaluation.scores(tasks)]
    ended = time.monotonic()
    logistic = sum(spent for spent, task in zip(seconds, tasks, strict=True) if task.grid.is_logistic)
    parts = {"encoding": encoded - started, "scoring": ended - encoded, "logistic_share": logistic / sum(seconds)}
    return {"sentences": len(vectors.matrix), "times_encoding": (ended - started) / (encoded - started), **parts}


def measure(encoder: FrozenEncoder, size: int, settings: Sequence[str], rounds: int) -> dict[str, Any]:
    """Medians of the rounds; prints one row."""
    dev, test = (300, 500) if size < 4000 else (1000, 2000)
    sizes = [f"probes.train_size={size}", f"probes.dev_size={dev}", f"probes.test_size={test}"]
    tasks = [task for task in tasks_for(*sizes, *settings) if isinstance(task, Classification)]
    found = [once(encoder, tasks) for _ in range(rounds)]
    row = {part: median(one[part] for one in found) for part in found[0]}
    shown = "{sentences:11,.0f}{encoding:11.1f}{scoring:11.1f}{logistic_share:11.0%}{times_encoding:15.2f}"
    print(f"{size:8,}{shown.format(**row)}", flush=True)
    return {"train": size, **row}


def work(given: SimpleNamespace) -> None:
    record: dict[str, Any] = {**hardware(), "rounds": given.rounds, "cases": []}
    ways = [False, True] if multiplies_in_bfloat16(torch.device(DEVICE)) else [False]
    for bfloat16 in ways:
        encoder = load_encoder(Path(given.given[0]), DEVICE, bfloat16=bfloat16)
        encoder.encode(["a sentence"], tokenized=True)  # the first call is slow
        print(f"encoding in {'bfloat16' if bfloat16 else '32 bits'}")
        print(f"{'train':>8}{'sentences':>11}{'encoding':>11}{'tasks':>11}{'logistic':>11}{'all / encoding':>15}")
        for size in given.sizes:
            case = measure(encoder, size, given.settings or (), given.rounds)
            record["cases"].append({"bfloat16": bfloat16, **case})
            write_json(given.json, record)


if __name__ == "__main__":
    sys.exit(run(COMMAND, sys.argv[1:], work, lambda given: given.json))
