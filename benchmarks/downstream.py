"""Speed of a downstream task without official splits, and of relatedness, compared with the published toolkit's way.

python benchmarks/downstream.py                      3,775 sentences (CR), 5 folds: 105 fits
python benchmarks/downstream.py sentences=10662 folds=10 outer=1      MR: 410 fits; those of one fold are timed

The published side may be timed on some of the outer folds only; its seconds are then scaled to all folds.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the file can be run as a script

from benchmarks.command import benchmark, measure
from encoder_lab.settings.command_line import COUNT, COUNTS, Setting, ValueType


def _parse_three_counts(text: str) -> list[int]:
    if len(sizes := COUNTS.parse(text)) != 3:
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
        ValueType("N,N,N", "three whole numbers from 1 with commas between them", _parse_three_counts),
        [4500, 500, 4927],
    ),
]
COMMAND = benchmark(__name__, __file__, __doc__, SETTINGS)

import torch

from benchmarks import sequential
from benchmarks.machine import add_ratios, in_new_process, measure_cost
from benchmarks.probing import Shape, make_vectors
from probes.classifiers.classifier import Grid, as_tensors
from probes.classifiers.examples import Tensors
from probes.downstream.folds import score_nested
from probes.downstream.relatedness import fit_regression, pearson

SEED = 1111  # as in the toolkit
SEQUENTIAL = "one after another"  # the published side
PAIR_DIMS = (300, 512, 4096)  # of the vectors of relatedness: a bag of pretrained vectors, and encoders


def measure_folds(side: str, shape: Shape, folds: int, outer: int) -> dict[str, Any]:
    """Cost and scores of one side with folds inside folds; the published side stops after `outer` folds."""
    items: Any = as_tensors(make_vectors(shape)[0], "cpu")
    with measure_cost() as cost:
        if side == SEQUENTIAL:
            dev, test = sequential.nested_folds(items, shape.classes, folds, grid_of(side), SEED, outer)
        else:
            dev, test, *_ = score_nested(items, shape.classes, folds, grid_of(side), SEED)
    if side == SEQUENTIAL and outer < folds:
        cost["seconds"] *= folds / outer
        return {"timed_outer_folds": outer, **cost}
    return {"dev": dev, "test": test, **cost}


def grid_of(side: str) -> Grid:
    return Grid(protocol="modern" if side == "modern" else "senteval").logistic()


def rated_pairs(pairs: tuple[int, int, int], dim: int) -> list[Tensors]:
    """Train, dev and test pairs with D features of each of the two kinds and ratings from 1 to 5.

    The vectors are equally long for each D: Adam's steps on longer ones magnify the last bits of a sum.
    """
    random = torch.Generator().manual_seed(SEED)
    scale = (300 / dim) ** 0.5
    weight = torch.randn(2 * dim, generator=random) / dim**0.5 / scale
    parts = [torch.randn(size, 2 * dim, generator=random) * scale for size in pairs]
    return [Tensors(x, (3 + x @ weight + torch.randn(len(x), generator=random)).clamp(1, 5).double()) for x in parts]


def measure_regression(side: str, pairs: tuple[int, int, int], dim: int) -> dict[str, Any]:
    """Cost, and Pearson's r on dev and test times 100, of one side on relatedness."""
    train, dev, test = rated_pairs(pairs, dim)
    with measure_cost() as cost:
        if side == SEQUENTIAL:
            r, predicted = sequential.relatedness(train, dev, test, SEED)
        else:
            r, predicted, _ = fit_regression(train, dev, test, (1, 5), grid_of(side), SEED)
    return {"dev": 100 * r, "test": 100 * pearson(predicted, test.y.numpy()), **cost}


def compare(side_of: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, dict[str, Any]]:
    sides = {side: in_new_process(side_of, side, *arguments) for side in ("modern", "senteval, fused", SEQUENTIAL)}
    add_ratios(sides, SEQUENTIAL)
    return sides


def run_benchmark(settings: SimpleNamespace) -> Iterator[dict[str, Any]]:
    shape, folds, pairs = Shape(settings.sentences, 2, 2, settings.dim, 2), settings.folds, tuple(settings.pairs)
    sides = compare(measure_folds, shape, folds, settings.outer or folds)
    yield {"shape": shape._asdict(), "folds": folds, "pairs": pairs, **sides}
    related: dict[str, Any] = {}
    for dim in PAIR_DIMS:
        related[str(dim)] = compare(measure_regression, pairs, dim)
        yield {"relatedness": related}


if __name__ == "__main__":
    sys.exit(measure(COMMAND, run_benchmark))
