"""Speed of a downstream task without official splits, and of relatedness, compared with the published toolkit's way.

python benchmarks/downstream.py                      3,775 sentences (CR), 5 folds: 105 fits
python benchmarks/downstream.py sentences=10662 folds=10 outer=1      MR: 410 fits; those of one fold are timed

The published side may be timed on some of the outer folds only; its seconds are then scaled to all folds.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the file can be run as a script

from benchmarks.command import benchmark, measure
from encoder_lab.settings.command_line import COUNT, COUNTS, Setting, ValueType


def _three(text: str) -> list[int]:
    if len(sizes := COUNTS.read(text)) != 3:
        raise ValueError
    return sizes


SETTINGS = [
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
]
COMMAND = benchmark(__name__, __file__, __doc__, SETTINGS)

import torch

from benchmarks import sequential
from benchmarks.machine import add_ratios, alone, measured
from benchmarks.probing import Shape, vectors
from benchmarks.sequential import nested_folds
from probes.classifiers.classifier import Grid, as_tensors
from probes.classifiers.examples import Tensors
from probes.downstream.folds import nested
from probes.downstream.relatedness import correlation, regression

SEED = 1111  # as in the toolkit
PAIR_DIMS = (300, 512, 4096)  # of the vectors of relatedness: a bag of pretrained vectors, and encoders


def ours(shape: Shape, folds: int, protocol: str) -> dict[str, Any]:
    items = as_tensors(vectors(shape)[0], "cpu")
    with measured() as cost:
        scores = nested(items, shape.classes, folds, Grid(protocol=protocol).logistic(), SEED)  # type: ignore[arg-type]
    return {"dev": scores.dev_accuracy, "test": scores.test_accuracy, **cost}


def published(shape: Shape, folds: int, outer: int) -> dict[str, Any]:
    items = as_tensors(vectors(shape)[0], "cpu")
    with measured() as cost:
        dev, test = nested_folds(items, shape.classes, folds, Grid(protocol="senteval").logistic(), SEED, outer)
    cost["seconds"] *= folds / outer
    return {**({"dev": dev, "test": test} if outer == folds else {"timed_outer_folds": outer}), **cost}


def rated_pairs(pairs: tuple[int, int, int], dim: int) -> list[Tensors]:
    """Train, dev and test pairs with D features of each of the two kinds and ratings from 1 to 5.

    The vectors are equally long for each D: Adam's steps on longer ones magnify the last bits of a sum.
    """
    random = torch.Generator().manual_seed(SEED)
    scale = (300 / dim) ** 0.5
    weight = torch.randn(2 * dim, generator=random) / dim**0.5 / scale
    parts = [torch.randn(size, 2 * dim, generator=random) * scale for size in pairs]
    return [Tensors(x, (3 + x @ weight + torch.randn(len(x), generator=random)).clamp(1, 5).double()) for x in parts]


def regress(side: str, pairs: tuple[int, int, int], dim: int) -> dict[str, Any]:
    """Cost, and Pearson's r on dev and test times 100, of one side on relatedness."""
    train, dev, test = rated_pairs(pairs, dim)
    with measured() as cost:
        if side == "one after another":
            r, predicted = sequential.relatedness(train, dev, test, SEED)
        else:
            grid = Grid(protocol="senteval" if "senteval" in side else "modern").logistic()
            r, predicted, _ = regression(train, dev, test, (1, 5), grid, SEED)
    return {"dev": 100 * r, "test": 100 * correlation(predicted, test.y.numpy()), **cost}


def work(settings: SimpleNamespace) -> Iterator[dict[str, Any]]:
    shape, pairs = Shape(settings.sentences, 2, 2, settings.dim, 2), tuple(settings.pairs)
    sides = {
        "modern": alone(ours, shape, settings.folds, "modern"),
        "senteval, fused": alone(ours, shape, settings.folds, "senteval"),
        "one after another": alone(published, shape, settings.folds, settings.outer or settings.folds),
    }
    add_ratios(sides, "one after another")
    yield {"shape": shape._asdict(), "folds": settings.folds, "pairs": pairs, **sides}
    related: dict[str, Any] = {}
    for dim in PAIR_DIMS:
        related[str(dim)] = {side: alone(regress, side, pairs, dim) for side in sides}
        add_ratios(related[str(dim)], "one after another")
        yield {"relatedness": related}


if __name__ == "__main__":
    sys.exit(measure(COMMAND, work))
