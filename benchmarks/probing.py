"""Speed of one probing task, compared with the published protocol as published: one classifier after another.

python benchmarks/probing.py                      a small shape, both sides to the end
python benchmarks/probing.py full=true            100k/10k/10k, D = 512 and 2048; 2, 20 and 1000 classes
python benchmarks/probing.py full=true sequential_passes=1
python benchmarks/probing.py full=true sequential_passes=1 fused_passes=4
python benchmarks/probing.py train=[10000,100000,1000000] sequential_passes=1 fused_passes=4 json=FILE

With sequential_passes=N each width and dropout of the sequential side trains for N passes only. Its seconds are then
seconds per pass times the passes until its cells stop; these are known from the fused run, which has equal cells
(tests/probes/classifiers/test_senteval.py). With fused_passes=N the fused run also stops after N passes of each cell.
Then the seconds of both sides are for N passes, their ratio holds for any number, and there is no accuracy. `modern`
runs to the end and is compared with the minimum number of passes of the protocol, so its ratio is a lower bound.
Each side runs in a separate process, on the GPU if there is one.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the file can be run as a script

from benchmarks.command import benchmark, measure
from encoder_lab.settings.command_line import BOOLEAN, COUNTS, INTEGER, Setting

SETTINGS = [
    Setting("full", "the published sizes (hours, but for sequential_passes=)", BOOLEAN, False),
    Setting("train", "sentences; dev and test are a fifth of it each, and at most 10,000", COUNTS, [2000]),
    Setting("dims", "vector widths (default: 512, with full=true 512,2048)", COUNTS),
    Setting("classes", "how many (default: 2, with full=true 2,20,1000)", COUNTS),
    Setting("sequential_passes", "0 is to the end", INTEGER, 0),
    Setting("fused_passes", "0 is to the end", INTEGER, 0),
]
COMMAND = benchmark(__name__, __file__, __doc__, SETTINGS)

import numpy as np
import torch

from benchmarks.machine import DEVICE, add_ratios, in_new_process, measure_cost, synchronised_time
from benchmarks.sequential import train_alone, train_grid_alone
from probes.classifiers import optimum, senteval
from probes.classifiers.cells import Cell, Cells, predict_classes
from probes.classifiers.classifier import Grid, Labelled, as_tensors, probe
from probes.classifiers.examples import best_on_dev

MIN_PASSES = 28  # of a cell: one evaluation and six without improvement, four passes each
MANY_CLASSES = 100  # from this many classes on the classifier is logistic regression, as for WordContent
MAX_SCORED_SENTENCES = 10_000  # sentences of dev and of test, as in the published tasks
SEED = 1111  # as in the toolkit


class Shape(NamedTuple):
    """One probing task."""

    train: int  # sentences
    dev: int
    test: int
    dim: int  # D
    classes: int  # C


@cache
def make_vectors(shape: Shape) -> tuple[Labelled, Labelled, Labelled]:
    """Vectors from some hundred latent features; classes depend on these, partly linearly, and on noise."""
    random = np.random.default_rng(shape.dim + shape.classes)
    latent, hidden = min(shape.dim, 256), 64

    def matrix(rows: int, columns: int) -> np.ndarray:
        return (random.normal(size=(rows, columns)) / np.sqrt(rows)).astype(np.float32)

    mix, direct, bent = matrix(latent, shape.dim), matrix(latent, shape.classes), matrix(latent, hidden)
    out = matrix(hidden, shape.classes)
    sharp = 3 + np.log(shape.classes)

    def split(size: int) -> Labelled:
        z = random.standard_normal((size, latent), dtype=np.float32)
        scores = sharp * (0.5 * z @ direct + np.tanh(2 * z @ bent) @ out)
        labels = (scores + random.gumbel(size=scores.shape)).argmax(1)
        noise = random.standard_normal((size, shape.dim), dtype=np.float32)
        return Labelled(0.2 * (z @ mix + 0.5 * noise), labels)

    return split(shape.train), split(shape.dev), split(shape.test)


def grid_for(shape: Shape, protocol: Literal["modern", "senteval"]) -> Grid:
    grid = Grid(protocol=protocol)
    return grid.logistic() if shape.classes >= MANY_CLASSES else grid


def operations_per_pass(shape: Shape, width: int, sentences: int) -> float:
    """Operations of a pass: two products for the first layer (its input needs no gradient), three for the second."""
    if width == 0:
        return 4.0 * sentences * shape.dim * shape.classes
    return sentences * width * (4.0 * shape.dim + 6.0 * shape.classes)


@contextmanager
def count_sentences() -> Iterator[dict[Cell, int]]:
    """Count the sentences that each cell trains on. A cell is in one block, so only one thread counts it.

    Evaluations of the convex optimisation are counted under a cell of their own.
    """
    counts: dict[Cell, int] = {}
    evaluated: list[int] = []
    step, cross_entropy = Cells.step, optimum.cross_entropy

    def counting(cells: Cells, x: torch.Tensor, *rest: Any, **options: Any) -> None:
        for cell in cells.cells:
            counts[cell] = counts.get(cell, 0) + len(x)
        step(cells, x, *rest, **options)

    def evaluating(train: Any, *rest: Any) -> Any:
        evaluated.append(len(train.y))
        return cross_entropy(train, *rest)

    with patch.object(Cells, "step", counting), patch.object(optimum, "cross_entropy", evaluating):
        yield counts
    if evaluated:
        counts[Cell(0, 0.0, 0.0)] = sum(evaluated)


def gflop(shape: Shape, counts: Iterable[tuple[int, int]]) -> float:
    """Of the products, by the width and the sentences of each cell."""
    return sum(operations_per_pass(shape, width, sentences) for width, sentences in counts) / 1e9


def measure_modern(shape: Shape) -> dict[str, Any]:
    data = make_vectors(shape)
    with count_sentences() as counts, measure_cost() as cost:
        score = probe(*data, shape.classes, grid_for(shape, "modern"), SEED, DEVICE)
    work = gflop(shape, ((cell.width, count) for cell, count in counts.items()))
    return {"dev": score.dev_accuracy, "test": score.test_accuracy, "gflop": work, **cost}


def measure_fused(shape: Shape, max_passes: int) -> dict[str, Any]:
    """All cells as one model, to the end or for some passes, and the passes of the toolkit that they replace."""
    grid = grid_for(shape, "senteval")
    if max_passes:
        grid = replace(grid, block=max_passes, max_passes=0)
    train, dev, test = (as_tensors(part, DEVICE) for part in make_vectors(shape))
    with count_sentences() as counts, measure_cost() as cost:
        trained = senteval.train_grid(train, dev, shape.classes, grid, SEED, DEVICE)
    passes = []  # of the toolkit: every cell, and for each width and dropout the best one again
    for width, dropout in grid.settings():
        cells = [cell for cell in trained if (cell.width, cell.dropout) == (width, dropout)]
        again = best_on_dev(cells, senteval.ACCURACY_DIGITS)
        sentences = sum(counts[Cell(cell.width, cell.dropout, cell.l2)] for cell in [*cells, again])
        passes.append((width, dropout, sentences // shape.train))
    best = best_on_dev(trained, senteval.ACCURACY_DIGITS)
    right = (predict_classes(best.parameters, test.x) == test.y).double().mean()
    scores = {"dev": best.dev_accuracy, "test": 100 * float(right)}
    return {
        **({"for_passes": max_passes} if max_passes else scores),
        "gflop": gflop(shape, ((cell.width, count) for cell, count in counts.items())),
        "toolkit_passes": passes,
        **cost,
    }


def measure_sequential(shape: Shape, passes: list[tuple[int, float, int]], max_passes: int) -> dict[str, Any]:
    """Train to the end, or some passes of each width and dropout, and calculate the rest."""
    train, dev, test = (as_tensors(part, DEVICE) for part in make_vectors(shape))
    grid = grid_for(shape, "senteval")
    work = gflop(shape, ((width, count * shape.train) for width, _, count in passes))
    train_alone((train.x[:64], train.y[:64]), dev, shape.classes, (1, 0.0, 1e-5), replace(grid, max_passes=0), 1)
    if not max_passes:
        with measure_cost() as cost:
            dev_accuracy, test_accuracy, _ = train_grid_alone(train, dev, test, shape.classes, grid, SEED)
        return {"gflop": work, "dev": dev_accuracy, "test": test_accuracy, **cost}
    short, seconds = replace(grid, block=max_passes, max_passes=0), 0.0
    with measure_cost() as cost:
        for width, dropout, count in passes:
            started = synchronised_time()
            train_alone(train, dev, shape.classes, (width, dropout, 1e-4), short, SEED)
            seconds += (synchronised_time() - started) * count / max_passes
    return {"gflop": work, "calculated_from_passes": max_passes, **cost, "seconds": seconds}


def compare(shape: Shape, sequential_passes: int, fused_passes: int) -> dict[str, Any]:
    """All three sides on one shape."""
    ours = {
        "modern": in_new_process(measure_modern, shape),
        "senteval, fused": in_new_process(measure_fused, shape, fused_passes),
    }
    passes = ours["senteval, fused"].pop("toolkit_passes")
    sides = {"sequential": in_new_process(measure_sequential, shape, passes, sequential_passes), **ours}
    add_ratios(sides, "sequential")
    for side in sides.values():
        side["gflop_per_second"] = side.pop("gflop") / side["seconds"]
    if fused_passes:
        sides["modern"]["ratio"] *= MIN_PASSES / fused_passes
    return {"shape": shape._asdict(), **sides}


def run_benchmark(settings: SimpleNamespace) -> Iterator[dict[str, Any]]:
    sizes = [100_000] if settings.full else settings.train
    dims = settings.dims or ([512, 2048] if settings.full else [512])
    classes = settings.classes or ([2, 20, 1000] if settings.full else [2])
    cases = []
    for train, dim, count in product(sizes, dims, classes):
        test = min(train // 5, MAX_SCORED_SENTENCES)
        shape = Shape(train, test, test, dim, count)
        print(f"{shape}: {'logistic regression' if count >= MANY_CLASSES else 'MLP, 36 cells'}", flush=True)
        cases.append(compare(shape, settings.sequential_passes, settings.fused_passes))
        yield {"cases": cases}


if __name__ == "__main__":
    sys.exit(measure(COMMAND, run_benchmark))
