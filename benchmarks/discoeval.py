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
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # so that the file can be run as a script

from benchmarks.settings import RESULTS
from encoder_lab.settings.command_line import COUNTS, FILE, TRUTH, Command, Setting, one_of, read_or_end, run, several

COLUMNS = {"SP": 5, "BSO": 2, "DC": 6, "SSP": 1, "PDTB-E": 2, "PDTB-I": 2, "RST-DT": 2}
COMMAND = Command(
    "python benchmarks/discoeval.py",
    str(__doc__).strip(),
    [
        Setting("full", "ours to the end of every task", TRUTH, False),
        Setting("dims", "vector widths", COUNTS, [768, 4096]),
        Setting("groups", "of tasks", several(one_of(*COLUMNS)), list(COLUMNS)),
        Setting(
            "json", f"the file for the results (default: discoeval.json or discoeval_full.json in {RESULTS})", FILE
        ),
    ],
    most=0,
)

if __name__ == "__main__":
    read_or_end(COMMAND, sys.argv[1:])  # help and mistakes, before slow imports

import numpy as np

from benchmarks.machine import DEVICE, alone, grown_memory, hardware, now, write_json
from benchmarks.probing import Seen, counted
from benchmarks.sequential import train_alone
from probes.classification import Classification
from probes.classifiers import senteval
from probes.classifiers.classifier import Grid, Labelled, as_tensors
from probes.classifiers.grid import Data
from probes.discoeval.features import READINGS
from probes.task import Items
from probes.vectors import MAX_BYTES, Streamed, Vectors

POOL, LATENT = 20_000, 64  # distinct sentences, and the numbers behind their vectors
DOCUMENT = 50  # EDUs of a tree
SEED = 1111  # as in the toolkit
BATCHES = {0: 80, 2000: 10}  # timed in a round, by hidden units
PART = 5  # `modern` reads a fifth of the items where features are not kept
ALWAYS = 10**6  # tenacity: no cell stops


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
    known = Vectors(latent @ random.standard_normal((LATENT, dim), dtype=np.float32) / 8 + noise / 2, names)
    reading, behind = READINGS[shape.group], Vectors(latent, names)
    width = len(reading.features([behind.matrix[:1]] * COLUMNS[shape.group])[0])
    direction = random.normal(size=(width, shape.classes)).astype(np.float32) / 4

    def items(size: int) -> Items:
        texts = (
            tuple(zip(*_trees(random, size), strict=True))
            if shape.group == "RST-DT"
            else tuple([names[row] for row in random.integers(0, POOL, size)] for _ in range(COLUMNS[shape.group]))
        )
        scores = behind.features(Items(texts, np.empty(size)), reading.features)[:].numpy() @ direction
        return Items(texts, (scores + random.gumbel(size=scores.shape)).argmax(1))

    parts = [items(size) for size in (shape.train, shape.dev, shape.test)]
    classes = [str(label) for label in range(shape.classes)]
    grid = reading.grid(Grid(protocol=protocol))  # type: ignore[arg-type]
    return Classification(shape.name, classes, *parts, grid=grid, seed=SEED, features=reading.features), known


def _trees(random: np.random.Generator, size: int) -> list[tuple[list[str], list[str]]]:
    """The EDUs on both sides of the nodes of random binary trees."""
    found: list[tuple[list[str], list[str]]] = []
    waiting: list[list[str]] = []
    while len(found) < size:
        edus = waiting.pop() if waiting else [str(row) for row in random.integers(0, POOL, DOCUMENT)]
        if len(edus) > 1:
            at = int(random.integers(1, len(edus)))
            found.append((edus[:at], edus[at:]))
            waiting += [edus[at:], edus[:at]]
    return found


def first(items: Items, count: int) -> Items:
    return Items(tuple(column[:count] for column in items.texts), items.gold[:count])


def kept_bytes(task: Classification) -> int:
    """Memory for the features of an item, as in Classification.score."""
    return (task.grid.memory_mb << 19) // sum(len(part.gold) for part in task.parts)


def round_of(task: Classification) -> tuple[Items, Items, float]:
    """Items of a timed round, with as few of dev as there are for each pass; and how many rounds a pass has."""
    size = min(len(task.train.gold), task.grid.batch * BATCHES[max(task.grid.widths)])
    share = size / len(task.train.gold)
    dev = max(1, round(share * len(task.dev.gold) / task.grid.block))
    return first(task.train, size), first(task.dev, dev), 1 / share


def seconds_of_a_pass(work: Callable[[Grid], object], grid: Grid, rounds: float) -> float:
    """From one round and from three, so that the start does not count; after one that warms up."""
    spent = []
    for blocks in (1, 1, 3):
        started = now()
        work(replace(grid, block=1, max_passes=blocks - 1, tenacity=ALWAYS))
        spent.append(now() - started)
    return rounds * (spent[2] - spent[1]) / 2


def fewest_passes(grid: Grid) -> int:
    """Passes of a cell that is never better than at its first evaluation."""
    evaluations = -(-(grid.max_passes + 1) // grid.block)
    return grid.block * min(evaluations, grid.tenacity + 2)


def published(shape: TaskSize, dim: int, full: bool) -> dict[str, Any]:
    """Ours under `senteval`."""
    task, known = task_of(shape, dim, "senteval")
    grid, classes = task.grid, shape.classes
    seen = Seen()

    def tensors(items: Items, kept: int) -> Data:
        return as_tensors(Labelled(known.features(items, task.features, DEVICE, kept), items.gold), DEVICE)

    def work(short: Grid) -> None:
        senteval.train_all(*data, classes, short, SEED, DEVICE)

    if full:
        with grown_memory() as memory, counted(seen):
            started = now()
            outcome = task.score(known, DEVICE)
            seconds = now() - started
        scores = {"seconds": seconds, "dev": outcome.dev, "test": outcome.test}
        passes = {cell: count // shape.train for cell, count in seen.items()}
        chosen = next(cell for cell in passes if cell.l2 == outcome.hyperparameters["l2"])
        return {**scores, "toolkit_passes": sum(passes.values()) + passes[chosen], **memory}
    few, dev, rounds = round_of(task)
    with grown_memory() as memory:  # measured by itself, because it slows the work down
        whole = known.features(task.train, task.features, DEVICE, kept_bytes(task) * shape.train)
        max_bytes = 0 if isinstance(whole, Streamed) else MAX_BYTES
        data = tensors(few, max_bytes), tensors(dev, max_bytes)
        work(replace(grid, block=1, max_passes=0))
    return {"seconds": seconds_of_a_pass(work, grid, rounds) * fewest_passes(grid), **memory}


def toolkit(shape: TaskSize, dim: int, passes: int) -> dict[str, Any]:
    """One classifier after another; `passes` of all of them together, 0: the fewest of each cell and of the last."""
    task, known = task_of(shape, dim, "senteval")
    few, dev, rounds = round_of(task)
    data = [as_tensors(Labelled(known.features(part, task.features)[:], part.gold), DEVICE) for part in (few, dev)]
    cell = (task.grid.widths[0], 0.0, task.grid.l2[0])

    def work(short: Grid) -> None:
        train_alone(data[0], data[1], shape.classes, cell, short, SEED)

    seconds = seconds_of_a_pass(work, task.grid, rounds)
    return {"seconds": seconds * (passes or fewest_passes(task.grid) * (len(task.grid.l2) + 1))}


def modern(shape: TaskSize, dim: int, full: bool) -> dict[str, Any]:
    task, known = task_of(shape, dim, "modern")
    whole = len(task.features([known.matrix[:1]] * COLUMNS[shape.group])[0]) * 8 <= kept_bytes(task)
    part = 1 if whole or full else PART
    if part > 1:
        train, dev, test = (first(items, len(items.gold) // part) for items in task.parts)
        memory_mb = task.grid.memory_mb // part  # so that they are not kept either
        task = replace(task, train=train, dev=dev, test=test, grid=replace(task.grid, memory_mb=memory_mb))
    with grown_memory() as memory:
        started = now()
        outcome = task.score(known, DEVICE)
        seconds = (now() - started) * part
    return {"seconds": seconds, "test": outcome.test, **({"part": part} if part > 1 else {}), **memory}


def measure(shape: TaskSize, dim: int, full: bool) -> dict[str, Any]:
    """Measure and print one row."""
    ours = alone(published, shape, dim, full)
    sides = {
        "toolkit": alone(toolkit, shape, dim, ours.pop("toolkit_passes", 0)),
        "senteval": ours,
        "modern": alone(modern, shape, dim, full),
    }
    for side in sides.values():
        side["seconds"] *= shape.domains
    for side in (sides["senteval"], sides["modern"]):
        side["ratio"] = sides["toolkit"]["seconds"] / side["seconds"]
    cells = "".join(
        f"{sides[name]['seconds']:10.1f}{sides[name]['ratio']:8.1f}{sides[name]['memory_mb']:8.0f}"
        for name in ("senteval", "modern")
    )
    print(f"{shape.name:<16}{dim:6}{sides['toolkit']['seconds']:10.1f}{cells}", flush=True)
    return {"task": shape.name, "group": shape.group, "dim": dim, **sides}


def totals(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ratios over the tasks with a grid, those of DC, and all, for each number of dimensions."""
    parts = {"tasks with a grid (SP, BSO)": ("SP", "BSO"), "DC": ("DC",), "all twelve tasks": tuple(COLUMNS)}
    found = []
    for dim, (name, groups) in (
        (dim, part) for dim in Counter(case["dim"] for case in cases) for part in parts.items()
    ):
        some = [case for case in cases if case["dim"] == dim and case["group"] in groups]
        if some:
            spent = {side: sum(case[side]["seconds"] for case in some) for side in ("toolkit", "senteval", "modern")}
            sides = {
                side: {
                    "seconds": spent[side],
                    "ratio": spent["toolkit"] / spent[side],
                    "memory_mb": max(case[side]["memory_mb"] for case in some),
                }
                for side in ("senteval", "modern")
            }
            found.append({"task": name, "dim": dim, "toolkit": {"seconds": spent["toolkit"]}, **sides})
    return found


def work(given: SimpleNamespace) -> None:
    out = given.json or RESULTS / f"discoeval{'_full' if given.full else ''}.json"
    found = hardware()
    print(f"{found['machine']}, {found['threads']} threads")
    print(
        f"{'':<16}{'D':>6}{'toolkit s':>10}"
        + f"{'senteval s':>10}{'ratio':>8}{'MB':>8}{'modern s':>10}{'ratio':>8}{'MB':>8}"
    )
    cases: list[dict[str, Any]] = []
    for dim in given.dims:
        for shape in (shape for shape in SHAPES if shape.group in given.groups):
            cases.append(measure(shape, dim, given.full))
            write_json(out, {**found, "full": given.full, "cases": cases, "totals": totals(cases)})


if __name__ == "__main__":
    sys.exit(run(COMMAND, sys.argv[1:], work, lambda given: given.json or RESULTS))
