"""Speed of a downstream task without official splits, and of relatedness, compared with the published toolkit's way.

python benchmarks/downstream.py                      3,775 sentences (CR), 5 folds: 105 fits
python benchmarks/downstream.py --sentences 10662 --folds 10 --outer 1      MR: 410 fits; those of one fold are timed

The published side may be timed on some of the outer folds only; its seconds are then scaled to all folds.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # so that the file can be run as a script

import torch  # noqa: E402

from benchmarks import sequential  # noqa: E402
from benchmarks.machine import alone, grown_memory, hardware, write_json  # noqa: E402
from benchmarks.probing import Shape, vectors  # noqa: E402
from benchmarks.sequential import nested_folds  # noqa: E402
from probes.classifiers.classifier import Grid, as_tensors  # noqa: E402
from probes.classifiers.grid import Tensors  # noqa: E402
from probes.downstream.folds import nested  # noqa: E402
from probes.downstream.relatedness import correlation, regression  # noqa: E402

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=3775)
    parser.add_argument("--dim", type=int, default=512)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--outer", type=int, help="outer folds of the published side that are timed; default: all")
    parser.add_argument("--pairs", type=int, nargs=3, default=[4500, 500, 4927], help="of relatedness; default: SICK")
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results" / "downstream.json")
    options = parser.parse_args()
    shape = Shape(options.sentences, 2, 2, options.dim, 2)
    sides = {
        "modern": alone(ours, shape, options.folds, "modern"),
        "senteval, fused": alone(ours, shape, options.folds, "senteval"),
        "one after another": alone(published, shape, options.folds, options.outer or options.folds),
    }
    found = hardware()
    print(f"{found['machine']}, {found['threads']} threads; {options.sentences:,} sentences, {options.folds} folds")
    show(sides)
    pairs = tuple(options.pairs)
    related = {}
    for dim in PAIR_DIMS:
        related[str(dim)] = {name: alone(regressed, name, pairs, dim) for name in sides}
        print(f"relatedness, D = {dim}: {'/'.join(map(str, pairs))} pairs")
        show(related[str(dim)])
    more = {
        "shape": shape._asdict(),
        "folds": options.folds,
        **sides,
        "pairs": pairs,
        "relatedness": related,
    }
    write_json(options.json, {**found, **more})


if __name__ == "__main__":
    main()
