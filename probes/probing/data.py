"""The sources of probing tasks: trees of the run's corpus, tree files, the published files, or none."""

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tqdm import tqdm

from common.code import code_of
from common.errors import InputError
from common.files import atomic_write, make_once
from datamodules.trees.penn import Bracketed, numbered, read_texts, tree_files
from probes.classification import Classification
from probes.probing.build.all_tasks import NO_TASKS, TASKS, TaskBuilder, build_tasks, refuse_unknown_tasks
from probes.probing.build.pool import Sizes
from probes.probing.build.report import section
from probes.probing.build.tags import ENGLISH, TagSet, tag_set
from probes.probing.published_files import name_of, read_senteval, read_task, write_task
from probes.suites import Context

FORMAT = 7  # raised when a change of the task builders makes cached tasks stale
RequestedSizes = Sequence[int | None]  # sentences of train, dev and test; None where the files decide
TREES_PER_SENTENCE = 12  # trees that are read for each sentence of a task


class FromCorpus:
    """`probes=corpus`: built from trees of the run's corpus that no objective trains on."""

    def __init__(self, tags: str = ENGLISH.name, own: Mapping[str, TaskBuilder] = NO_TASKS) -> None:
        self.tags, self.own = tag_set(tags), own

    def tasks(self, context: Context, names: Sequence[str], sizes: RequestedSizes) -> list[Classification]:
        """The named tasks."""
        wanted = given(sizes)
        trees = itertools.islice(context.corpus.trees("probe"), TREES_PER_SENTENCE * sum(wanted))
        made_of = [context.corpus.fingerprint()]
        return _cached(context.cache, made_of, numbered(trees), names, wanted, context.seed, self.tags, self.own)


class FromTrees:
    """`probes=trees`: built from files of Penn-style trees."""

    def __init__(
        self, paths: Sequence[str], tags: str = ENGLISH.name, own: Mapping[str, TaskBuilder] = NO_TASKS
    ) -> None:
        if not paths:
            raise InputError("probes=trees needs probes.paths=[FILE_OR_FOLDER,...] with Penn-style trees")
        self.paths, self.tags, self.own = [Path(path) for path in paths], tag_set(tags), own

    def tasks(self, context: Context, names: Sequence[str], sizes: RequestedSizes) -> list[Classification]:
        """The named tasks."""
        wanted = given(sizes)
        missing = [path for path in self.paths if not path.exists()]
        if missing:
            raise InputError(f"{missing[0]}: no such file or folder (probes.paths)")
        files = [file for path in self.paths for file in tree_files(path)]
        state = [f"{f.resolve()} {f.stat().st_size} {f.stat().st_mtime_ns}" for f in files]
        trees = itertools.chain.from_iterable(map(read_texts, self.paths))
        return _cached(context.cache, state, trees, names, wanted, context.seed, self.tags, self.own)


class FromSentEval:
    """`probes=senteval`: the published files, at their published sizes."""

    def __init__(self, root: str | None) -> None:
        if not root:
            raise InputError("probes=senteval needs probes.root=FOLDER with the ten published files")
        self.root = Path(root)

    def tasks(self, context: Context, names: Sequence[str], sizes: RequestedSizes) -> list[Classification]:
        """The named tasks. Raises InputError for a size: smaller tasks are not comparable with published scores."""
        for name, size in zip(Sizes._fields, sizes, strict=True):
            if size is not None:
                raise InputError(f"probes.{name}_size={size}: the published files have their own; leave it out")
        return read_senteval(self.root, names)


class FromFiles:
    """`probes=files`: the user's own tasks, one for each file, named after it."""

    def __init__(self, paths: Sequence[str]) -> None:
        if not paths:
            raise InputError("probes=files needs probes.paths=[FILE,...]: split, tab, label, tab, sentence; or .jsonl")
        self.paths = {name_of(Path(path)): Path(path) for path in paths}
        if len(self.paths) < len(paths):
            raise InputError(f"probes.paths: two files of one name; tasks are named {', '.join(self.paths)}")

    def tasks(self, context: Context, names: Sequence[str], sizes: RequestedSizes) -> list[Classification]:
        """The named tasks, all without names. Raises InputError for a size: the files decide."""
        for name, size in zip(Sizes._fields, sizes, strict=True):
            if size is not None:
                raise InputError(f"probes.{name}_size={size}: the files have their own; leave it out")
        if unknown := [name for name in names if name not in self.paths]:
            raise InputError(f"no probing task {', '.join(unknown)}; the files are {', '.join(self.paths)}")
        return [read_task(name, self.paths[name]) for name in names or self.paths]


class NoTasks:
    """`probes=none`: no probing."""

    def tasks(self, context: Context, names: Sequence[str], sizes: RequestedSizes) -> list[Classification]:
        """No tasks."""
        return []


def given(sizes: RequestedSizes) -> Sizes:
    """The sizes of the tasks to build. Raises InputError if a size is null."""
    wanted = []
    for name, size in zip(Sizes._fields, sizes, strict=True):
        if size is None:
            raise InputError(
                f"probes.{name}_size=null: give a number of sentences; only published files have their own"
            )
        wanted.append(size)
    return Sizes(*wanted)


def _cached(
    cache: Path,
    made_of: list[str],
    trees: Iterator[Bracketed],
    names: Sequence[str],
    sizes: Sizes,
    seed: int,
    tags: TagSet,
    own: Mapping[str, TaskBuilder],
) -> list[Classification]:
    """Tasks from the files of an earlier build by the same code, or built now and written in the published format."""
    builders = TASKS | dict(own)
    refuse_unknown_tasks(names, builders)
    made_of = [*made_of, code_of(build_tasks)]
    key = hashlib.sha256(json.dumps([FORMAT, made_of, sizes, seed, tags.name]).encode()).hexdigest()[:16]
    folder = cache / f"probing-{key}"
    files = {name: folder / f"{name}-{code_of(builders[name])}.txt" for name in names}

    def lacking() -> list[str]:
        return [name for name in names if not files[name].exists()]

    def build() -> None:
        trees_seen = tqdm(trees, "probing tasks", disable=None, unit=" trees")
        built = build_tasks(trees_seen, sizes, lacking(), seed, tags=tags, own=own)
        for task in built.tasks:
            with atomic_write(folder / f"{task.name}.md") as file:
                file.write(section(task, built.controls[task.name], built.notes[task.name]))
            write_task(task, files[task.name])

    make_once(folder, lambda: not lacking(), build)
    return [read_task(name, files[name]) for name in names]
