"""How far a score moves with the seed of its classifier, and with the precision of the vectors that it reads.

python benchmarks/score_noise.py runs/nmt_enfr/bilstm_max/2026-01-01_12-00-00
python benchmarks/score_noise.py RUN sizes=[1200,8000] seeds=3 settings="corpus.size=20000"

`RUN` is a run folder or a checkpoint; `settings=` are those of evaluate.py. Vectors in bfloat16, and classifiers that
multiply in bfloat16, are what a run with `trainer.precision=bf16-mixed` is probed with. Columns: the mean test score
over the seeds, its standard deviation, the mean score with vectors in bfloat16 minus this mean, and half of the 95%
interval of one score. Tasks, sentences and vectors are the same for all seeds. Seconds are of the processor.
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
from encoder_lab.settings.command_line import COUNT, COUNTS, Setting, read_or_end, run

COMMAND = command_on_a_run(
    "score_noise",
    __doc__,
    Setting("sizes", "training items", COUNTS, [1200, 8000]),
    Setting("seeds", "of the classifier, two or more", COUNT, 5),
)

if __name__ == "__main__":
    read_or_end(COMMAND, sys.argv[1:])  # help and mistakes, before slow imports

import numpy as np
import torch

from benchmarks.machine import DEVICE, hardware, write_json
from encoder_lab.compute.matmul import multiplies_in_bfloat16
from encoder_lab.errors import InputError
from encoders import load_encoder
from probes.classification import Classification
from probes.evaluation import distinct_sentences
from probes.vectors import Vectors
from probes.watch import tasks_for


def encoded(run: Path, sentences: list[str], bfloat16: bool) -> tuple[Vectors, float]:
    """The vectors and the processor seconds that they took."""
    encoder = load_encoder(run, DEVICE, bfloat16=bfloat16)
    encoder.encode(sentences[:100], tokenized=True)  # the first call is slow
    started = time.process_time()
    vectors = Vectors(encoder.encode(sentences, tokenized=True), sentences, encoder.bfloat16)
    return vectors, time.process_time() - started


def measure(task: Classification, sides: tuple[Vectors, Vectors], seeds: int) -> dict[str, Any]:
    """Score a task with each seed on the vectors of both precisions, and print one row."""
    found = [[replace(task, seed=seed).score(side, DEVICE) for seed in range(1, seeds + 1)] for side in sides]
    wide, narrow = (np.array([score.test for score in scores]) for scores in found)
    half = float(np.mean([score.high - score.low for score in found[0]])) / 2
    row = {"mean": wide.mean(), "deviation": wide.std(ddof=1), "bfloat16": narrow.mean() - wide.mean(), "half": half}
    shown = "{mean:10.1f}{deviation:10.2f}{bfloat16:+10.2f}{half:10.1f}".format(**row)
    print(f"{task.name:<12}{len(task.train.gold):8}{shown}", flush=True)
    return {"task": task.name, "train": len(task.train.gold), **{name: float(value) for name, value in row.items()}}


def work(given: SimpleNamespace) -> None:
    if given.seeds < 2:
        raise InputError(f"seeds={given.seeds}: a deviation needs two or more")
    if not multiplies_in_bfloat16(torch.device(DEVICE)):
        raise InputError("this machine has no products in bfloat16")
    run, record = Path(given.given[0]), {**hardware(), "seeds": given.seeds, "sizes": list[dict[str, Any]]()}
    for size in given.sizes:
        parts = [f"probes.train_size={size}", f"probes.dev_size={max(1, size // 8)}", "probes.test_size=2000"]
        tasks = [task for task in tasks_for(*parts, *(given.settings or ())) if isinstance(task, Classification)]
        sentences = distinct_sentences(tasks)
        (wide, slow), (narrow, fast) = (encoded(run, sentences, bfloat16) for bfloat16 in (False, True))
        print(f"{len(sentences):,} sentences encoded in {slow:.1f} s, in bfloat16 in {fast:.1f} s")
        print(f"{'':<12}{'train':>8}{'mean':>10}{'deviation':>10}{'bfloat16':>10}{'half':>10}")
        cases = [measure(task, (wide, narrow), given.seeds) for task in tasks]
        means = {name: float(np.mean([case[name] for case in cases])) for name in ("mean", "bfloat16")}
        means["deviation"] = float(np.sqrt(np.mean([case["deviation"] ** 2 for case in cases])))
        print("{:<20}{mean:10.2f}{deviation:10.2f}{bfloat16:+10.2f}".format("all", **means), flush=True)
        spent = {"sentences": len(sentences), "seconds": slow, "bfloat16_seconds": fast}
        record["sizes"].append({"train": size, **spent, **means, "cases": cases})
        write_json(given.json, record)


if __name__ == "__main__":
    sys.exit(run(COMMAND, sys.argv[1:], work, lambda given: given.json))
