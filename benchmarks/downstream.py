"""Speed of a downstream task without official splits, and of relatedness, compared with the published toolkit's way.

python benchmarks/downstream.py                      3,775 sentences (CR), 5 folds: 105 fits
python benchmarks/downstream.py sentences=10662 folds=10 outer=1      MR: 410 fits; those of one fold are timed

The published side may be timed on some of the outer folds only; its seconds are then scaled to all folds.
"""

import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # so that the file can be run as a script

from benchmarks.settings import json_setting
from encoder_lab.settings.command_line import COUNT, COUNTS, Command, Setting, ValueType, read_or_end, run


def _three(text: str) -> list[int]:
    if len(sizes := COUNTS.read(text)) != 3:
        raise ValueError
    return sizes


COMMAND = Command(
    "python benchmarks/downstream.py",
    str(__doc__).strip(),
    [
        Setting("sentences", "of the task", COUNT, 3775),
        Setting("dim", "vector width of the task", COUNT, 512),
        Setting("folds", "of the task", COUNT, 5),
        Setting("outer", "outer folds of the published side that are timed (default: all)", COUNT),
        Setting(
            "pairs",
            "of relatedness: train, dev and test, as in SICK",
            ValueType("N,N,N", "three whole numbers from 1 with commas between them", _three),
            [4500, 500, 4927],
        ),
        json_setting("downstream"),
    ],
    most=0,
)

if __name__ == "__main__":
    read_or_end(COMMAND, sys.argv[1:])  # help and mistakes, before slow imports

import torch

from benchmarks import sequential
from benchmarks.machine import alone, grown_memory, hardware, write_json
from benchmarks.probing import Shape, vectors
from benchmarks.sequential import nested_folds
from probes.classifiers.classifier import Grid, as_tensors
from probes.classifiers.grid import Tensors
from probes.downstream.folds import nested
from probes.downstream.relatedness import correlation, regression

SEED = 1111  # as in the toolkit
PAIR_DIMS = (300, 512, 4096)  # of the vectors of relatedness: a bag of pretrained vectors, and encoders


def ours(shape: Shape, folds: int, protocol: str) -> dict[str, Any]:
    items = as_tensors(vectors(shape)[0], "cpu")
    started = time.perf_counter()
    with grown_memory() as memory:
        found = nested(items, shape.classes, folds, Grid(protocol=protocol).logistic(), SEED)  # type: ignore[arg-type]
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "dev": found.dev_accuracy, "test": found.test_accuracy, **memory}


def published(shape: Shape, folds: int, outer: int) -> dict[str, Any]:
    items = as_tensors(vectors(shape)[0], "cpu")
    started = time.perf_counter()
    with grown_memory() as memory:
        dev, test = nested_folds(items, shape.classes, folds, Grid(protocol="senteval").logistic(), SEED, outer)
    seconds = (time.perf_counter() - started) * folds / outer
    whole = {"dev": dev, "test": test} if outer == folds else {"timed_outer_folds": outer}
    return {"seconds": seconds, **whole, **memory}


def related(pairs: tuple[int, int, int], dim: int) -> list[Tensors]:
    """Train, dev and test pairs with D features of each of the two kinds and ratings from 1 to 5.

    The vectors are equally long for each D: Adam's steps on longer ones magnify the last bits of a sum.
    """
    random = torch.Generator().manual_seed(SEED)
    scale = (300 / dim) ** 0.5
    weight = torch.randn(2 * dim, generator=random) / dim**0.5 / scale
    parts = [torch.randn(size, 2 * dim, generator=random) * scale for size in pairs]
    return [Tensors(x, (3 + x @ weight + torch.randn(len(x), generator=random)).clamp(1, 5).double()) for x in parts]


def regressed(side: str, pairs: tuple[int, int, int], dim: int) -> dict[str, Any]:
    """Seconds, and Pearson's r on dev and test times 100, of one side on relatedness."""
    train, dev, test = related(pairs, dim)
    started = time.perf_counter()
    with grown_memory() as memory:
        if side == "one after another":
            r, found = sequential.relatedness(train, dev, test, SEED)
        else:
            grid = Grid(protocol="senteval" if "senteval" in side else "modern").logistic()
            r, found, _ = regression(train, dev, test, (1, 5), grid, SEED)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "dev": 100 * r, "test": 100 * correlation(found, test.y.numpy()), **memory}


def show(sides: dict[str, dict[str, Any]]) -> None:
    """Print one line for each side, with its ratio to the slowest."""
    print(f"  {'':<20}{'s':>9}{'ratio':>8}{'dev':>8}{'test':>8}{'MB':>7}")
    for name, side in sides.items():
        side["ratio"] = sides["one after another"]["seconds"] / side["seconds"]
        scores = "".join(f"{side[part]:8.2f}" if part in side else f"{'-':>8}" for part in ("dev", "test"))
        print(f"  {name:<20}{side['seconds']:9.1f}{side['ratio']:8.1f}{scores}{side['memory_mb']:7.0f}")


def work(given: SimpleNamespace) -> None:
    shape = Shape(given.sentences, 2, 2, given.dim, 2)
    sides = {
        "modern": alone(ours, shape, given.folds, "modern"),
        "senteval, fused": alone(ours, shape, given.folds, "senteval"),
        "one after another": alone(published, shape, given.folds, given.outer or given.folds),
    }
    found = hardware()
    print(f"{found['machine']}, {found['threads']} threads; {given.sentences:,} sentences, {given.folds} folds")
    show(sides)
    pairs = tuple(given.pairs)
    related = {}
    for dim in PAIR_DIMS:
        related[str(dim)] = {name: alone(regressed, name, pairs, dim) for name in sides}
        print(f"relatedness, D = {dim}: {'/'.join(map(str, pairs))} pairs")
        show(related[str(dim)])
    more = {"shape": shape._asdict(), "folds": given.folds, **sides, "pairs": pairs, "relatedness": related}
    write_json(given.json, {**found, **more})


if __name__ == "__main__":
    sys.exit(run(COMMAND, sys.argv[1:], work, lambda given: given.json))
