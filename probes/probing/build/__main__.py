"""Build probing tasks from trees, dependency trees or text, in the published format.

Writes one file per task, report.md with every control, and controls.png. Reads the input once; memory is bounded by
the sizes (1.1 GB at the published ones after a million short sentences), not by the corpus.
"""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import (
    BOOLEAN,
    COUNT,
    FOLDER,
    INTEGER,
    NAMES,
    PATHS,
    Command,
    Setting,
    exit_with,
    one_of,
)
from probes.probing.build.pool import Sizes
from probes.probing.build.tags import ENGLISH, TAG_SETS

if TYPE_CHECKING:
    from probes.probing.build.all_tasks import Material

SOURCES = ("trees", "ud", "text")
TEST_SIZE = 10_000
TREES = "files of Penn-style trees (.mrg, .txt, .gz, tab-separated, tree last), or folders with .mrg, .const.tsv"
BAD_TREE = "of trees=; skip: leave out and count those that cannot be read"
LABELS = "what the labels of trees= mean (docs/probing_tasks.md)"


def build(options: SimpleNamespace) -> list[str]:
    """Build, write and report; returns one line for each task that could not be built. Raises InputError."""
    from probes.probing import FILES
    from probes.probing.build.all_tasks import build_tasks
    from probes.probing.build.report import write_report
    from probes.probing.published_files import write_task

    sources = [source for source in SOURCES if getattr(options, source)]
    if len(sources) != 1:
        raise InputError(f"give one of trees=PATH, ud=PATH and text=PATH, not {' and '.join(sources) or 'none'}")
    if options.whole_test and options.test != TEST_SIZE:
        raise InputError(f"test={options.test}: whole_test=true takes all sentences of ud_test=; leave test= out")
    if around := [path for path in options.text or () if options.out.resolve().is_relative_to(path.resolve())]:
        raise InputError(
            f"out={options.out}: in text={around[0]}, so it would be read as text; give a folder elsewhere"
        )
    sizes = Sizes(options.train, options.dev, options.test)
    if options.tasks:  # at once, not after the work
        _refuse_other_tasks(options.out, options.tasks)
    material = _material(options, sources[0], sizes)
    built = build_tasks(material, sizes, options.tasks or (), options.seed, bool(options.whole_test))
    _refuse_other_tasks(options.out, [task.name for task in built.tasks])
    if options.whole_test:
        _refuse_unnamed(built.ids)
    for task in built.tasks:
        ids = built.ids[task.name] if options.whole_test else ()
        write_task(task, options.out / FILES.get(task.name, f"{task.name}.txt"), ids)
    files = [path.name for path in (*getattr(options, sources[0]), *(options.ud_test or ()))]
    write_report(built, sizes, files, options.out)
    return [reason if f" {name}:" in reason else f"{name}: {reason}" for name, reason in built.failures.items()]


def _refuse_other_tasks(out: Path, names: Sequence[str]) -> None:
    """Raises InputError where a folder has tasks of another build, which would stay."""
    from probes.probing import FILES
    from probes.probing.build.plain import TEXT_TASKS
    from probes.probing.build.universal import UD_TASKS

    others = {FILES.get(name, f"{name}.txt") for name in {*FILES, *UD_TASKS, *TEXT_TASKS}.difference(names)}
    if old := sorted(name for name in others if (out / name).exists()):
        raise InputError(f"out={out}: has tasks of another build, such as {old[0]}; give another folder")


def _refuse_unnamed(ids: Mapping[str, Sequence[str]]) -> None:
    """Raises InputError unless the names of the test sentences of a task are different."""
    purpose = "by which whole_test=true finds a sentence in other languages"
    for names in ids.values():
        if not all(names):
            raise InputError(f"ud_test=: a sentence has no # sent_id, {purpose}")
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            raise InputError(f"ud_test=: two sentences have the # sent_id {twice[0]!r}, {purpose}")


def _material(options: SimpleNamespace, source: str, sizes: Sizes) -> "Material":
    from probes.probing.data import FromText, FromTreebank, FromTrees

    if source == "trees":
        return FromTrees(options.trees, options.tags, on_bad_tree=options.on_bad_tree).material(partly=True)
    if source == "ud":
        return FromTreebank(options.ud, options.ud_test or ()).material(sizes)
    return FromText(options.text, tokenized=True).material(language="")


def run_build(options: SimpleNamespace) -> None:
    """Build; a task of `tasks=` that could not be built is a mistake, and so is a folder without any."""
    failures = build(options)
    print(f"{options.out / 'report.md'} says what was built")
    if options.tasks or not any(options.out.glob("*.txt")):
        exit_with(failures)
    for line in failures:
        print(f"left out: {line}")


COMMAND = Command(
    "python -m probes.probing.build trees=PATH[,PATH...] | ud=PATH[,PATH...] | text=PATH[,PATH...] out=DIR",
    __doc__,
    [
        Setting("trees", TREES, PATHS),
        Setting("ud", "or dependency trees of any language: CoNLL-U files, or folders with .conllu", PATHS),
        Setting("ud_test", "dependency trees that are the test split, such as a parallel treebank", PATHS, needs="ud"),
        Setting("whole_test", "all its usable sentences, to keep those of all languages", BOOLEAN, needs="ud_test"),
        Setting("text", "or text of any language: files with a tokenised sentence per line, or folders", PATHS),
        Setting("out", "the folder that gets the files", FOLDER, required=True),
        Setting("train", "training sentences of each task", COUNT, 100_000),
        Setting("dev", "sentences to choose settings on", COUNT, 10_000),
        Setting("test", "sentences to score", COUNT, TEST_SIZE),
        Setting("tasks", "SentLen, WC, ... (default: all that the input allows)", NAMES),
        Setting("seed", "which sentences", INTEGER, 0),
        Setting("on_bad_tree", BAD_TREE, one_of("refuse", "skip"), "refuse", needs="trees"),
        Setting("tags", LABELS, one_of(*TAG_SETS), ENGLISH.name, needs="trees"),
    ],
    run_build,
)

if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
