"""Build the ten probing tasks from trees, in the published format.

python -m probes.probing.build trees=PATH[,PATH...] out=DIR [train=100000] [dev=10000] [test=10000] [tasks=SentLen,...]
                              [seed=0] [tags=english/penn]

A PATH is a file of Penn-style trees (.mrg, .txt, .gz, tab-separated with the tree last), or a folder, of which .mrg
and .const.tsv are read, or their .gz. `tags` says what their labels mean (docs/probing_tasks.md).
Writes one file per task, report.md with every control, and controls.png. Reads the trees once; memory is bounded by
the sizes (1.1 GB at the published ones after a million short sentences), not by the corpus.
"""

import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from common.errors import InputError, of_the_disk
from datamodules.trees.penn import read_texts
from probes.probing.build import build_tasks, told_by
from probes.probing.build.pool import Sizes
from probes.probing.build.report import write_report
from probes.probing.build.tags import ENGLISH, TagSet, tag_set
from probes.probing.published_files import FILES, write_task

USAGE = (
    "python -m probes.probing.build trees=PATH out=DIR [train=N dev=N test=N tasks=SentLen,WC seed=N tags=english/penn]"
)
PUBLISHED = Sizes(100_000, 10_000, 10_000)


class Order(NamedTuple):
    """What to build."""

    trees: list[Path]
    out: Path
    sizes: Sizes
    names: list[str]
    seed: int
    tags: TagSet


def understand(arguments: Sequence[str]) -> Order:
    """The order that `key=value` arguments give. Raises InputError on anything else."""
    given: dict[str, str] = {
        "tasks": "",
        "seed": "0",
        "tags": ENGLISH.name,
        **{k: str(v) for k, v in PUBLISHED._asdict().items()},
    }
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals or key not in {*given, "trees", "out"}:
            raise InputError(f"{argument}: not understood; {USAGE}")
        given[key] = value
    for key in ("trees", "out"):
        if not given.get(key):
            raise InputError(f"{key}= is missing; {USAGE}")
    for key in (*Sizes._fields, "seed"):
        if not given[key].isdigit():
            raise InputError(f"{key}={given[key]}: give a whole number")
    paths = [Path(path) for path in given["trees"].strip("[]").split(",")]
    if missing := [path for path in paths if not path.exists()]:
        raise InputError(f"{missing[0]}: no such file or folder (trees=)")
    sizes = Sizes(*(int(given[key]) for key in Sizes._fields))
    tags = tag_set(given["tags"])
    names = given["tasks"].strip("[]").split(",") if given["tasks"] else told_by(tags)
    return Order(paths, Path(given["out"]), sizes, names, int(given["seed"]), tags)


def build(order: Order) -> list[str]:
    """Build, write and report; says what could not be built."""
    trees = tqdm(chain.from_iterable(map(read_texts, order.trees)), "reading trees", disable=None, unit=" trees")
    built = build_tasks(trees, order.sizes, order.names, order.seed, partly=True, tags=order.tags)
    for task in built.tasks:
        write_task(task, order.out / FILES[task.name])
    write_report(built, order.sizes, [path.name for path in order.trees], order.out)
    return list(built.lacking.values())


def command(arguments: Sequence[str]) -> int:
    """Exit status 0, or 2 where something is the user's to mend."""
    if not arguments or {"-h", "--help"} & set(arguments):
        print(__doc__)
        return 0
    try:
        order = understand(arguments)
        lacking = build(order)
    except InputError as error:
        lacking = [str(error)]
    except OSError as error:
        lacking = [of_the_disk(error, Path.cwd())]
    else:
        print(f"{order.out / 'report.md'} says what was built")
    for what in lacking:
        print(f"error: {what}", file=sys.stderr)
    return 2 if lacking else 0


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
