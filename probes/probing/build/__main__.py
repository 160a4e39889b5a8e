"""Build probing tasks from trees, dependency trees or text, in the published format.

python -m probes.probing.build trees=PATH[,PATH...] out=DIR
"""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import FOLDER, NAMES, PATHS, TRUTH, WHOLE, Command, Setting, fail, run
from probes.probing.build.pool import Sizes
from probes.probing.build.tags import ENGLISH, TagSet, tag_set

if TYPE_CHECKING:
    from datamodules.trees.penn import OnBadTree
    from probes.probing.build.all_tasks import BuiltTasks

PURPOSE = """\
Build probing tasks from trees, dependency trees or text, in the published format.

Writes one file per task, report.md with every control, and controls.png. Reads the input once; memory is bounded by
the sizes (1.1 GB at the published ones after a million short sentences), not by the corpus."""
SOURCES = ("trees", "ud", "text")
TEST_SIZE = 10_000
TREES = "files of Penn-style trees (.mrg, .txt, .gz, tab-separated, tree last), or folders with .mrg, .const.tsv"
COMMAND = Command(
    "python -m probes.probing.build trees=PATH[,PATH...] | ud=PATH[,PATH...] | text=PATH[,PATH...] out=DIR",
    PURPOSE,
    [
        Setting("trees", TREES, PATHS),
        Setting("ud", "or dependency trees of any language: CoNLL-U files, or folders with .conllu", PATHS),
        Setting("ud_test", "dependency trees that are the test split, such as a parallel treebank", PATHS),
        Setting("whole_test", "true: all usable sentences of ud_test=, to keep those of all languages", TRUTH),
        Setting("text", "or text of any language: files with a tokenised sentence per line, or folders", PATHS),
        Setting("out", "the folder that gets the files", FOLDER, required=True),
        Setting("train", "training sentences of each task", WHOLE, 100_000),
        Setting("dev", "sentences to choose settings on", WHOLE, 10_000),
        Setting("test", "sentences to score", WHOLE, TEST_SIZE),
        Setting("tasks", "SentLen, WC, ... (default: all that the input allows)", NAMES),
        Setting("seed", "which sentences", WHOLE, 0),
        Setting("on_bad_tree", "refuse, or skip: leave out and count trees that cannot be read", default="refuse"),
        Setting("tags", "what the labels of trees= mean (docs/probing_tasks.md)", default=ENGLISH.name),
    ],
    most=0,
)


class ProbingBuildSettings(NamedTuple):
    """Input, output and options of one build."""

    source: str  # trees, ud or text
    paths: list[Path]
    test: list[Path]  # of ud
    out: Path
    sizes: Sizes
    names: list[str]
    seed: int
    tags: TagSet
    whole_test: bool
    on_bad_tree: "OnBadTree"


def parse(arguments: Sequence[str]) -> ProbingBuildSettings:
    """The settings in `key=value` arguments. Raises InputError on anything else."""
    return build_settings(COMMAND.read(arguments))


def build_settings(options: SimpleNamespace) -> ProbingBuildSettings:
    """The checked settings of the command line. Raises InputError."""
    from datamodules.trees.penn import check_on_bad_tree
    from probes.probing.build.all_tasks import refuse_empty

    sources = {source: paths for source in SOURCES if (paths := getattr(options, source))}
    if len(sources) != 1:
        raise InputError(f"give one of trees=PATH, ud=PATH and text=PATH, not {' and '.join(sources) or 'none'}")
    [(source, paths)] = sources.items()
    test = options.ud_test or []
    if test and source != "ud":
        raise InputError(f"ud_test=: the test split of ud=; leave it out with {source}=")
    if options.whole_test and not test:
        raise InputError("whole_test=true: takes the sentences of ud_test=PATH; give it too")
    if options.whole_test and options.test != TEST_SIZE:
        raise InputError(f"test={options.test}: whole_test=true takes all sentences of ud_test=; leave test= out")
    tags = tag_set(options.tags)
    if source != "trees" and tags != ENGLISH:
        raise InputError(f"tags={options.tags}: the labels of trees=; leave it out with {source}=")
    check_on_bad_tree("on_bad_tree", options.on_bad_tree)
    sizes = Sizes(options.train, options.dev, options.test)
    refuse_empty(sizes)
    names, whole = options.tasks or tasks_of(source, tags), bool(options.whole_test)
    more = options.seed, tags, whole, options.on_bad_tree
    return ProbingBuildSettings(source, paths, test, options.out, sizes, names, *more)


def tasks_of(source: str, tags: TagSet) -> list[str]:
    """The tasks that a kind of input may give."""
    from probes.probing.build.all_tasks import supported_tasks
    from probes.probing.build.plain import TEXT_TASKS
    from probes.probing.build.universal import UD_TASKS

    return supported_tasks(tags) if source == "trees" else list(UD_TASKS if source == "ud" else TEXT_TASKS)


def build(settings: ProbingBuildSettings) -> list[str]:
    """Build, write and report; returns one line for each task that could not be built."""
    from probes.probing.build.report import write_report
    from probes.probing.published_files import FILES, write_task

    built = _built(settings)
    if settings.whole_test:
        _refuse_unnamed(built.ids)
    for task in built.tasks:
        ids = built.ids[task.name] if settings.whole_test else ()
        write_task(task, settings.out / FILES.get(task.name, f"{task.name}.txt"), ids)
    write_report(built, settings.sizes, [path.name for path in (*settings.paths, *settings.test)], settings.out)
    return [why if f" {name}:" in why else f"{name}: {why}" for name, why in built.lacking.items()]


def _refuse_unnamed(ids: Mapping[str, Sequence[str]]) -> None:
    """Raises InputError unless the names of the test sentences of a task are different."""
    why = "by which whole_test=true finds a sentence in other languages"
    for names in ids.values():
        if not all(names):
            raise InputError(f"ud_test=: a sentence has no # sent_id, {why}")
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            raise InputError(f"ud_test=: two sentences have the # sent_id {twice[0]!r}, {why}")


def _built(settings: ProbingBuildSettings) -> "BuiltTasks":
    from datamodules.corpora.on_disk import text_files
    from datamodules.trees.conllu import conllu_files
    from datamodules.trees.penn import read_texts
    from encoder_lab.progress import Progress
    from encoder_lab.storage.text_files import read_lines
    from probes.probing.build.all_tasks import build_tasks
    from probes.probing.build.dependencies import analyse_treebank, portions_of
    from probes.probing.build.plain import build_plain
    from probes.probing.build.universal import build_universal

    source, paths, test, _, sizes, names, seed, tags, whole_test, on_bad_tree = settings
    if source == "trees":
        texts = chain.from_iterable(read_texts(path, on_bad_tree) for path in paths)
        trees = Progress(texts, "reading trees", unit=" trees")
        return build_tasks(trees, sizes, names, seed, partly=True, tags=tags)
    if source == "ud":
        files, tests = ([file for path in group for file in conllu_files(path)] for group in (paths, test))
        portions = Progress(portions_of(files, tests), "reading trees", unit=" portions")
        analyses = analyse_treebank(portions, sizes if test else None)
        return build_universal(analyses, sizes, names, seed, whole_test=whole_test)
    lines = (line for path in paths for file in text_files(path, (".txt",)) for _, line in read_lines(file))
    return build_plain(Progress(lines, "reading text", unit=" lines"), sizes, names, seed)


def work(options: SimpleNamespace) -> int:
    """Build; the exit status is that of a mistake where a task could not be built."""
    settings = build_settings(options)
    lacking = build(settings)
    print(f"{settings.out / 'report.md'} says what was built")
    return max([fail(what) for what in lacking], default=0)


command = partial(run, COMMAND, work=work)


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
