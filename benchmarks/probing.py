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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # so that the file can be run as a script

from benchmarks.settings import RESULTS
from encoder_lab.settings.command_line import COUNTS, FILE, TRUTH, WHOLE, Command, Setting, read_or_end, run

PUBLISHED = "probing_published_size.json"
COMMAND = Command(
    "python benchmarks/probing.py",
    str(__doc__).strip(),
    [
        Setting("full", "the published sizes (hours, but for sequential_passes=)", TRUTH, False),
        Setting("train", "sentences; dev and test are a fifth of it each, and at most 10,000", COUNTS, [2000]),
        Setting("dims", "vector widths (default: 512, with full=true 512,2048)", COUNTS),
        Setting("classes", "how many (default: 2, with full=true 2,20,1000)", COUNTS),
        Setting("sequential_passes", "0 is to the end", WHOLE, 0),
        Setting("fused_passes", "0 is to the end", WHOLE, 0),
        Setting("json", f"the file for the results (default: probing.json or {PUBLISHED} in {RESULTS})", FILE),
    ],
    most=0,
)

if __name__ == "__main__":
    read_or_end(COMMAND, sys.argv[1:])  # help and mistakes, before slow imports

import numpy as np
import torch

from benchmarks.machine import DEVICE, alone, grown_memory, hardware, now, write_json
from benchmarks.sequential import search, train_alone
from probes.classifiers import optimum, senteval
from probes.classifiers.cells import Cell, Cells, predict
from probes.classifiers.classifier import Grid, Labelled, as_tensors, probe

Seen = dict[Cell, int]  # sentences

FEWEST_PASSES = 28  # of a cell: one evaluation and six without improvement, four passes each
MANY = 100  # from this many classes on the classifier is logistic regression, as for WordContent
MOST = 10_000  # sentences of dev and of test, as in the published tasks
SEED = 1111  # as in the toolkit


class Shape(NamedTuple):
    """One probing task."""

    train: int  # sentences
    dev: int
    test: int
    dim: int  # D
    classes: int  # C


@cache
def vectors(shape: Shape) -> list[Labelled]:
    """Vectors from some hundred latent features; classes depend on these, partly linearly, and on noise."""
    random = np.random.default_rng(shape.dim + shape.classes)
    latent, hidden = min(shape.dim, 256), 64

    def matrix(rows: int, columns: int) -> np.ndarray:
        return (random.normal(size=(rows, columns)) / np.sqrt(rows)).astype(np.float32)

    mix, direct, bent = matrix(latent, shape.dim), matrix(latent, shape.classes), matrix(latent, hidden)
    out = matrix(hidden, shape.classes)
    sharp = 3 + np.log(shape.classes)
    splits = []
    for size in (shape.train, shape.dev, shape.test):
        z = random.standard_normal((size, latent), dtype=np.float32)
        scores = sharp * (0.5 * z @ direct + np.tanh(2 * z @ bent) @ out)
        labels = (scores + random.gumbel(size=scores.shape)).argmax(1)
        noise = random.standard_normal((size, shape.dim), dtype=np.float32)
        splits.append(Labelled(0.2 * (z @ mix + 0.5 * noise), labels))
    return splits


def grid_for(shape: Shape, protocol: str) -> Grid:
    grid = Grid(protocol=protocol)
    return grid.logistic() if shape.classes >= MANY else grid


def operations(shape: Shape, width: int, sentences: int) -> float:
    """Operations of a pass: two products for the first layer (its input needs no gradient), three for the second."""
    if width == 0:
        return 4.0 * sentences * shape.dim * shape.classes
    return sentences * width * (4.0 * shape.dim + 6.0 * shape.classes)


@contextmanager
def counted(steps: Seen) -> Iterator[None]:
    """Count the sentences that each cell trains on. A cell is in one block, so only one thread counts it.

    Evaluations of the convex optimisation are counted under a cell of their own.
    """
    step, cross_entropy, evaluated = Cells.step, optimum.cross_entropy, []

    def counting(cells: Cells, x: torch.Tensor, *rest: Any, **options: Any) -> None:
        for cell in cells.cells:
            steps[cell] = steps.get(cell, 0) + len(x)
        step(cells, x, *rest, **options)

    def evaluating(train: Any, *rest: Any) -> Any:
        evaluated.append(len(train.y))
        return cross_entropy(train, *rest)

    Cells.step, optimum.cross_entropy = counting, evaluating
    try:
        yield
    finally:
        Cells.step, optimum.cross_entropy = step, cross_entropy
        if evaluated:
            steps[Cell(0, 0.0, 0.0)] = sum(evaluated)


def modern(shape: Shape) -> dict[str, Any]:
    data, seen = vectors(shape), Seen()
    with counted(seen), grown_memory() as memory:
        started = now()
        score = probe(*data, shape.classes, grid_for(shape, "modern"), SEED, DEVICE)
        seconds = now() - started
    return {
        "seconds": seconds,
        "dev": score.dev_accuracy,
        "test": score.test_accuracy,
        "gflop": sum(operations(shape, width, count) for (width, _, _), count in seen.items()) / 1e9,
        **memory,
    }


def fused(shape: Shape, sample: int) -> dict[str, Any]:
    data, seen, grid = vectors(shape), Seen(), grid_for(shape, "senteval")
    if sample:
        grid = replace(grid, block=sample, max_passes=0)
    train, dev, test = (as_tensors(part, DEVICE) for part in data)
    with counted(seen), grown_memory() as memory:
        started = now()
        trained = senteval.train_all(train, dev, shape.classes, grid, SEED, DEVICE)
        seconds = now() - started
    best, cells = trained.winner, trained.known.values()
    right = (predict(best.parameters, test.x) == test.y).double().mean()
    passes = []  # of the toolkit: every cell, and for each width and dropout the best one again
    for width, dropout in grid.settings():
        tried = [cell for cell in cells if (cell.width, cell.dropout) == (width, dropout)]
        again = max(tried, key=lambda cell: round(cell.dev_accuracy, 2))
        sentences = sum(seen[Cell(cell.width, cell.dropout, cell.l2)] for cell in [*tried, again])
        passes.append((width, dropout, sentences // shape.train))
    scores = {"for_passes": sample} if sample else {"dev": best.dev_accuracy, "test": 100 * float(right)}
    return {
        "seconds": seconds,
        **scores,
        "gflop": sum(operations(shape, width, count) for (width, _, _), count in seen.items()) / 1e9,
        "toolkit_passes": passes,
        **memory,
    }


def sequential(shape: Shape, passes: list[tuple[int, float, int]], sample: int) -> dict[str, Any]:
    """Train to the end, or `sample` passes of each width and dropout and calculate the rest."""
    data, grid = [as_tensors(part, DEVICE) for part in vectors(shape)], grid_for(shape, "senteval")
    gflop = sum(operations(shape, width, count * shape.train) for width, _, count in passes) / 1e9
    train_alone(tuple(t[:64] for t in data[0]), data[1], shape.classes, (1, 0.0, 1e-5), replace(grid, max_passes=0), 1)
    found: dict[str, Any] = {}
    with grown_memory() as memory:
        started = now()
        if sample == 0:
            found["dev"], found["test"], _ = search(*data, shape.classes, grid, SEED)
            seconds = now() - started
        else:
            found["calculated_from_passes"] = sample
            short, seconds = replace(grid, block=sample, max_passes=0), 0.0
            for width, dropout, count in passes:
                started = now()
                train_alone(data[0], data[1], shape.classes, (width, dropout, 1e-4), short, SEED)
                seconds += (now() - started) * count / sample
    return {"seconds": seconds, "gflop": gflop, **found, **memory}


def measure(shape: Shape, sample: int, fused_sample: int, peak: float) -> dict[str, Any]:
    """Measure and print all three sides on one shape."""
    print(f"\n{shape}   {'logistic regression' if shape.classes >= MANY else 'MLP, 36 cells'}")
    print(f"  {'':<20}{'s':>9}{'ratio':>8}{'dev':>8}{'test':>8}{'MB':>7}{'GFLOP/s':>9}{'of peak':>9}")
    ours = {"modern": alone(modern, shape), "senteval, fused": alone(fused, shape, fused_sample)}
    passes = ours["senteval, fused"].pop("toolkit_passes")
    theirs = alone(sequential, shape, passes, sample)
    result = {"sequential": theirs, **ours}
    for name, side in result.items():
        side["ratio"] = theirs["seconds"] / side["seconds"]
        if fused_sample and name == "modern":
            side["ratio"] *= FEWEST_PASSES / fused_sample
        side["gflop_per_second"] = rate = side.pop("gflop") / side["seconds"]
        scores = "".join(f"{side[part]:8.2f}" if part in side else f"{'-':>8}" for part in ("dev", "test"))
        print(
            f"  {name:<20}{side['seconds']:9.1f}{side['ratio']:8.1f}{scores}{side['memory_mb']:7.0f}"
            + f"{rate:9.0f}{rate / peak:9.0%}"
            + (f"   calculated from {sample} passes" if "calculated_from_passes" in side else "")
            + (f"   for {fused_sample} passes" if "for_passes" in side else ""),
            flush=True,
        )
    return {"shape": shape._asdict(), **result}


def work(given: SimpleNamespace) -> None:
    out = given.json or RESULTS / (PUBLISHED if given.full else "probing.json")
    sizes = [100_000] if given.full else given.train
    dims = given.dims or ([512, 2048] if given.full else [512])
    classes = given.classes or ([2, 20, 1000] if given.full else [2])
    found = hardware()
    peak = found["matrix_gflop_per_second"]
    print(f"{found['machine']}, {found['threads']} threads, matrix product {peak:.0f} GFLOP/s")
    samples = given.sequential_passes, given.fused_passes
    shapes = [
        Shape(size, min(size // 5, MOST), min(size // 5, MOST), dim, count)
        for size in sizes
        for dim in dims
        for count in classes
    ]
    cases: list[dict[str, Any]] = []
    for shape in shapes:
        cases.append(measure(shape, *samples, peak))
        write_json(out, {**found, "cases": cases})  # write after each case, so that an interruption loses nothing


if __name__ == "__main__":
    sys.exit(run(COMMAND, sys.argv[1:], work, lambda given: given.json or RESULTS))
