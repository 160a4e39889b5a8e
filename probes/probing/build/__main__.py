"""Build the ten probing tasks from trees, in the published format.

python -m probes.probing.build trees=PATH[,PATH...] out=DIR
"""

import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from common.command_line import FOLDER, NAMES, PATHS, TEXT, WHOLE, Command, Setting, fail, refuse_missing, run
from common.errors import InputError
from probes.probing.build.pool import Sizes
from probes.probing.build.tags import ENGLISH, TagSet, tag_set

PURPOSE = """\
Build the ten probing tasks from trees, in the published format.

Writes one file per task, report.md with every control, and controls.png. Reads the trees once; memory is bounded by
the sizes (1.1 GB at the published ones after a million short sentences), not by the corpus."""
TREES = "files of Penn-style trees (.mrg, .txt, .gz, tab-separated, tree last), or folders with .mrg, .const.tsv"
COMMAND = Command(
    "python -m probes.probing.build trees=PATH[,PATH...] out=DIR",
    PURPOSE,
    [
        Setting("trees", TREES, PATHS, required=True),
        Setting("out", "the folder that gets the files", FOLDER, required=True),
        Setting("train", "training sentences of each task", WHOLE, 100_000),
        Setting("dev", "sentences to choose settings on", WHOLE, 10_000),
        Setting("test", "sentences to score", WHOLE, 10_000),
        Setting("tasks", "SentLen, WC, ... (default: all that the labels allow)", NAMES),
        Setting("seed", "which sentences", WHOLE, 0),
        Setting("tags", "what the labels of the trees mean (docs/probing_tasks.md)", TEXT, ENGLISH.name),
    ],
    most=0,
)


class ProbingBuildSettings(NamedTuple):
    """Input, output and options of one build."""

    trees: list[Path]
    out: Path
    sizes: Sizes
    names: list[str]
    seed: int
    tags: TagSet


def parse(arguments: Sequence[str]) -> ProbingBuildSettings:
    """The settings in `key=value` arguments. Raises InputError on anything else."""
    return build_settings(COMMAND.read(arguments))


def build_settings(given: SimpleNamespace) -> ProbingBuildSettings:
    """The checked settings of the command line. Raises InputError."""
    from probes.probing.build.all_tasks import supported_tasks

    refuse_missing(given.trees, "trees")
    tags = tag_set(given.tags)
    sizes = Sizes(given.train, given.dev, given.test)
    return ProbingBuildSettings(given.trees, given.out, sizes, given.tasks or supported_tasks(tags), given.seed, tags)


def build(settings: ProbingBuildSettings) -> list[str]:
    """Build, write and report; returns one line for each task that could not be built."""
    from tqdm import tqdm

    from datamodules.trees.penn import read_texts
    from probes.probing.build.all_tasks import build_tasks
    from probes.probing.build.report import write_report
    from probes.probing.published_files import FILES, write_task

    trees = tqdm(chain.from_iterable(map(read_texts, settings.trees)), "reading trees", disable=None, unit=" trees")
    built = build_tasks(trees, settings.sizes, settings.names, settings.seed, partly=True, tags=settings.tags)
    for task in built.tasks:
        write_task(task, settings.out / FILES[task.name])
    write_report(built, settings.sizes, [path.name for path in settings.trees], settings.out)
    return list(built.lacking.values())


def command(arguments: Sequence[str]) -> int:
    """Exit status 0, or 2 for an error that the user can fix."""

    def work(given: SimpleNamespace) -> int:
        settings = build_settings(given)
        lacking = build(settings)
        print(f"{settings.out / 'report.md'} says what was built")
        return max([fail(what) for what in lacking], default=0)

    return run(COMMAND, arguments, work, lambda given: given.out)


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
