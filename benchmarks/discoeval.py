"""Speed of the twelve tasks of DiscoEval at their published sizes, compared with the published toolkit.

python benchmarks/discoeval.py                     vectors of 768 and 4,096 dimensions, in some minutes
python benchmarks/discoeval.py dims=768 full=true  ours to the end of every task: hours with 4,096 dimensions

The toolkit trains one classifier after another (benchmarks/sequential.py). Each side trains on some batches of a task,
once and thrice, and evaluates as often as in the published passes; the difference is the time of two such rounds. It is
multiplied to whole passes, and by the fewest passes that the protocol can take: a cell stops after `tenacity` + 2
evaluations, the toolkit trains the best cell of a grid again. With full=true ours under `senteval` runs to its end, and
the toolkit's seconds are multiplied by the passes that its cells take there. `modern` always runs to its end (on a
fifth of the items where the features are too wide to be kept, and times five: an upper bound), and is compared with
the same passes of the toolkit. Domains of the same size are measured once and counted as often as there are.

Vectors are of random sentences, of which labels know something. Each side runs in a separate process.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the file can be run as a script

from benchmarks.command import benchmark, measure
from encoder_lab.settings.command_line import BOOLEAN, COUNTS, Setting, list_of, one_of

TEXTS_PER_ITEM = {"SP": 5, "BSO": 2, "DC": 6, "SSP": 1, "PDTB-E": 2, "PDTB-I": 2, "RST-DT": 2}
SETTINGS = [
    Setting("full", "ours to the end of every task", BOOLEAN, False),
    Setting("dims", "vector widths", COUNTS, [768, 4096]),
    Setting("groups", "of tasks", list_of(one_of(*TEXTS_PER_ITEM)), list(TEXTS_PER_ITEM)),
]
COMMAND = benchmark(__name__, __file__, __doc__, SETTINGS)

import numpy as np

from benchmarks.machine import DEVICE, in_new_process, measure_cost, synchronised_time
from benchmarks.probing import count_sentences
from benchmarks.sequential import train_alone
from probes.classification import Classification
from probes.classifiers import senteval
from probes.classifiers.classifier import Grid, Labelled, as_tensors
from probes.classifiers.examples import Data
from probes.discoeval.features import READINGS
from probes.task import Items
from probes.vectors import MAX_STORED_BYTES, StreamedFeatures, Vectors

POOL, LATENT = 20_000, 64  # distinct sentences, and the numbers behind their vectors
TREE_EDUS = 50  # EDUs of a tree
SEED = 1111  # as in the toolkit
ROUND_BATCHES = {0: 80, 2000: 10}  # timed in a round, by hidden units
MODERN_DIVISOR = 5  # `modern` reads a fifth of the items where features are not stored
UNLIMITED_TENACITY = 10**6  # tenacity: no cell stops


class TaskSize(NamedTuple):
    """Tasks of one group and size."""

    name: str
    group: str
    domains: int
    train: int  # items, BSO in both orders
    dev: int
    test: int
    classes: int


SHAPES = (
    TaskSize("SP, 3 domains", "SP", 3, 10_000, 4_000, 4_000, 5),
    TaskSize("BSO, 3 domains", "BSO", 3, 20_000, 8_000, 8_000, 2),
    TaskSize("DC chat", "DC", 1, 5_816, 1_834, 2_418, 2),
    TaskSize("DC wiki", "DC", 1, 10_000, 4_000, 4_000, 2),
    TaskSize("SSP", "SSP", 1, 10_000, 4_000, 4_000, 2),
    TaskSize("PDTB-E", "PDTB-E", 1, 9_383, 3_613, 3_758, 12),
    TaskSize("PDTB-I", "PDTB-I", 1, 8_693, 2_972, 3_024, 11),
    TaskSize("RST-DT", "RST-DT", 1, 17_051, 2_045, 2_308, 41),
)


def task_of(shape: TaskSize, dim: int, protocol: str) -> tuple[Classification, Vectors]:
    """A task with random items, and vectors of their sentences."""
    random = np.random.default_rng(dim)
    latent = random.standard_normal((POOL, LATENT), dtype=np.float32)
    noise = random.standard_normal((POOL, dim), dtype=np.float32)
    names = [str(row) for row in range(POOL)]
    vectors = Vectors(latent @ random.standard_normal((LATENT, dim), dtype=np.float32) / 8 + noise / 2, names)
    reading, latents = READINGS[shape.group], Vectors(latent, names)
    width = len(reading.features([latents.matrix[:1]] * TEXTS_PER_ITEM[shape.group])[0])
    direction = random.normal(size=(width, shape.classes)).astype(np.float32) / 4

    def items(size: int) -> Items:
        texts = (
            tuple(zip(*_random_trees(random, size), strict=True))
            if shape.group == "RST-DT"
            else tuple(
                [names[row] for row in random.integers(0, POOL, size)] for _ in range(TEXTS_PER_ITEM[shape.group])
            )
        )
        scores = latents.features(Items(texts, np.empty(size)), reading.features)[:].numpy() @ direction
        return Items(texts, (scores + random.gumbel(size=scores.shape)).argmax(1))

    parts = [items(size) for size in (shape.train, shape.dev, shape.test)]
    classes = [str(label) for label in range(shape.classes)]
    grid = reading.grid(Grid(protocol=protocol))  # type: ignore[arg-type]
    return Classification(shape.name, classes, *parts, grid=grid, seed=SEED, features=reading.features), vectors


def _random_trees(random: np.random.Generator, size: int) -> list[tuple[list[str], list[str]]]:
    """The EDUs on both sides of the nodes of random binary trees."""
    nodes: list[tuple[list[str], list[str]]] = []
    stack: list[list[str]] = []
    while len(nodes) < size:
        edus = stack.pop() if stack else [str(row) for row in random.integers(0, POOL, TREE_EDUS)]
        if len(edus) > 1:
            at = int(random.integers(1, len(edus)))
            nodes.append((edus[:at], edus[at:]))
            stack += [edus[at:], edus[:at]]
    return nodes


def first_items(items: Items, count: int) -> Items:
    return Items(tuple(column[:count] for column in items.texts), items.gold[:count])


def bytes_per_item(task: Classification) -> int:
    """Memory for the features of an item, as in Classification.score."""
    return (task.grid.memory_mb << 19) // sum(len(part.gold) for part in task.parts)


def timed_round(task: Classification) -> tuple[Items, Items, float]:
    """Items of a timed round, with as few of dev as there are for each pass; and how many rounds a pass has."""
    size = min(len(task.train.gold), task.grid.batch * ROUND_BATCHES[max(task.grid.widths)])
    share = size / len(task.train.gold)
    dev = max(1, round(share * len(task.dev.gold) / task.grid.block))
    return first_items(task.train, size), first_items(task.dev, dev), 1 / share


def seconds_per_pass(work: Callable[[Grid], object], grid: Grid, rounds: float) -> float:
    """From one round and from three, so that the start does not count; after one that warms up."""
    seconds = []
    for blocks in (1, 1, 3):
        started = synchronised_time()
        work(replace(grid, block=1, max_passes=blocks - 1, tenacity=UNLIMITED_TENACITY))
        seconds.append(synchronised_time() - started)
    return rounds * (seconds[2] - seconds[1]) / 2


def min_passes(grid: Grid) -> int:
    """Passes of a cell that is never better than at its first evaluation."""
    evaluations = -(-(grid.max_passes + 1) // grid.block)
    return grid.block * min(evaluations, grid.tenacity + 2)


def measure_published(shape: TaskSize, dim: int, full: bool) -> dict[str, Any]:
    """Ours under `senteval`."""
    task, vectors = task_of(shape, dim, "senteval")
    grid, classes = task.grid, shape.classes

    def tensors(items: Items, max_bytes: int) -> Data:
        return as_tensors(Labelled(vectors.features(items, task.features, DEVICE, max_bytes), items.gold), DEVICE)

    def train(short: Grid) -> None:
        senteval.train_grid(data[0], data[1], classes, short, SEED, DEVICE)

    if full:
        with measure_cost() as cost, count_sentences() as counts:
            outcome = task.score(vectors, DEVICE)
        passes = {cell: count // shape.train for cell, count in counts.items()}
        chosen = next(cell for cell in passes if cell.l2 == outcome.hyperparameters["l2"])
        again = sum(passes.values()) + passes[chosen]
        return {"dev": outcome.dev, "test": outcome.test, "toolkit_passes": again, **cost}
    few, dev, rounds = timed_round(task)
    with measure_cost() as cost:  # by itself, because it slows the work down
        features = vectors.features(task.train, task.features, DEVICE, bytes_per_item(task) * shape.train)
        max_bytes = 0 if isinstance(features, StreamedFeatures) else MAX_STORED_BYTES
        data = tensors(few, max_bytes), tensors(dev, max_bytes)
        train(replace(grid, block=1, max_passes=0))
    cost["seconds"] = seconds_per_pass(train, grid, rounds) * min_passes(grid)
    return cost


def measure_toolkit(shape: TaskSize, dim: int, passes: int) -> dict[str, Any]:
    """One classifier after another; `passes` of all of them together, 0: the fewest of each cell and of the last."""
    task, vectors = task_of(shape, dim, "senteval")
    few, dev, rounds = timed_round(task)
    data = [as_tensors(Labelled(vectors.features(part, task.features)[:], part.gold), DEVICE) for part in (few, dev)]
    cell = (task.grid.widths[0], 0.0, task.grid.l2[0])

    def train(short: Grid) -> None:
        train_alone(data[0], data[1], shape.classes, cell, short, SEED)

    seconds = seconds_per_pass(train, task.grid, rounds)
    return {"seconds": seconds * (passes or min_passes(task.grid) * (len(task.grid.l2) + 1))}


def measure_modern(shape: TaskSize, dim: int, full: bool) -> dict[str, Any]:
    task, vectors = task_of(shape, dim, "modern")
    in_memory = len(task.features([vectors.matrix[:1]] * TEXTS_PER_ITEM[shape.group])[0]) * 8 <= bytes_per_item(task)
    part = 1 if in_memory or full else MODERN_DIVISOR
    if part > 1:
        train, dev, test = (first_items(items, len(items.gold) // part) for items in task.parts)
        memory_mb = task.grid.memory_mb // part  # so that they are not kept either
        task = replace(task, train=train, dev=dev, test=test, grid=replace(task.grid, memory_mb=memory_mb))
    with measure_cost() as cost:
        outcome = task.score(vectors, DEVICE)
    cost["seconds"] *= part
    return {"test": outcome.test, **({"part": part} if part > 1 else {}), **cost}


def compare(shape: TaskSize, dim: int, full: bool) -> dict[str, Any]:
    """All three sides of a task."""
    senteval = in_new_process(measure_published, shape, dim, full)
    sides = {
        "toolkit": in_new_process(measure_toolkit, shape, dim, senteval.pop("toolkit_passes", 0)),
        "senteval": senteval,
        "modern": in_new_process(measure_modern, shape, dim, full),
    }
    for side in sides.values():
        side["seconds"] *= shape.domains
    for name in ("senteval", "modern"):
        sides[name]["ratio"] = sides["toolkit"]["seconds"] / sides[name]["seconds"]
    return {"task": shape.name, "group": shape.group, "dim": dim, **sides}


def total_ratios(cases: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Ratios over the tasks with a grid, those of DC, and all, of the same number of dimensions."""
    groups = {"tasks with a grid (SP, BSO)": ("SP", "BSO"), "DC": ("DC",), "all twelve tasks": tuple(TEXTS_PER_ITEM)}
    for name, members in groups.items():
        if tasks := [case for case in cases if case["group"] in members]:
            sides: dict[str, dict[str, float]] = {}
            for side in ("toolkit", "senteval", "modern"):
                sides[side] = {"seconds": sum(case[side]["seconds"] for case in tasks)}
            for side in ("senteval", "modern"):
                sides[side]["ratio"] = sides["toolkit"]["seconds"] / sides[side]["seconds"]
                sides[side]["memory_mb"] = max(case[side]["memory_mb"] for case in tasks)
            yield {"task": name, "dim": tasks[0]["dim"], **sides}


def run_benchmark(settings: SimpleNamespace) -> Iterator[dict[str, Any]]:
    record: dict[str, Any] = {"full": settings.full, "cases": [], "totals": []}
    for dim in settings.dims:
        cases = []
        for shape in (shape for shape in SHAPES if shape.group in settings.groups):
            cases.append(compare(shape, dim, settings.full))
            record["cases"].append(cases[-1])
            yield record
        record["totals"] += total_ratios(cases)
        yield record


if __name__ == "__main__":
    sys.exit(measure(COMMAND, run_benchmark))
