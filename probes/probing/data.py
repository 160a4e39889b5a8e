"""The sources of probing tasks: the run's corpus, trees, text, the published files, or none."""

import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated

from datamodules.corpora.on_disk import text_files
from datamodules.corpus import NoSuchView, corpus_key, held_out_text
from datamodules.text.languages import check_language
from datamodules.text.tokenize import tokenize
from datamodules.trees.conllu import conllu_files, split_in_name
from datamodules.trees.penn import OnBadTreeSetting, corpus_texts, read_texts, tree_files
from encoder_lab.compute.processes import parallel_map
from encoder_lab.errors import InputError
from encoder_lab.progress import Progress
from encoder_lab.settings.command_line import unknown_name_message
from encoder_lab.settings.types import Paths
from encoder_lab.storage.code import code_of
from encoder_lab.storage.content import contents_of, key_of
from encoder_lab.storage.files import atomic_write, make_once
from encoder_lab.storage.text_files import read_lines, without_copies
from probes.classification import Classification
from probes.probing import FILES
from probes.probing.build.all_tasks import (
    NO_TASKS,
    Material,
    TaskBuilder,
    build_tasks,
    from_trees,
    refuse_missing_tasks,
)
from probes.probing.build.dependencies import analyse_dependencies, analyse_treebank, treebank_portions
from probes.probing.build.plain import from_text
from probes.probing.build.pool import Sizes
from probes.probing.build.sampling import notes_on_size
from probes.probing.build.tags import ENGLISH, tag_set
from probes.probing.build.universal import from_dependencies
from probes.probing.published_files import (
    PUBLISHED_SIZE,
    own_task_files,
    read_own_task,
    read_senteval,
    read_task,
    write_task,
)
from probes.suites import Context
from probes.task import warn_of_wrong_sizes

Tags = Annotated[str, "what the labels of its trees mean: english/penn | german/tiger, see docs/probing_tasks.md"]
Own = Annotated[Mapping[str, TaskBuilder], "tasks of your own, see docs/own_parts.md"]
ALL_TASKS = "all"  # in place of the names of tasks: all that the source has
RequestedSizes = Sequence[int | None]  # sentences of train, dev and test; None where the files decide
USUAL_SIZES = Sizes(1200, 300, 500)
TREES_PER_SENTENCE = 12  # trees that are read for each sentence of a task


class BuiltSource:
    """Tasks that are built of a source once: the next time they are read from the files of the first build."""

    def source(self, context: Context, sizes: Sizes) -> tuple[Sequence[object], Material]:
        """What the material depends on, and the material itself."""
        raise NotImplementedError

    def tasks(self, context: Context, names: Sequence[str], sizes: RequestedSizes) -> list[Classification]:
        """The named tasks from the files of an earlier build by the same code, or built in the published format.

        Says of each task that cannot be built why. Raises InputError if that is all of them, or `not material.partly`.
        """
        wanted = built_sizes(sizes)
        inputs, material = self.source(context, wanted)
        every = list(names) == [ALL_TASKS]
        names = list(material.usual if every else names)
        refuse_missing_tasks(material, names)
        key = key_of(code_of(BuiltSource), inputs, wanted, context.seed, material.tag_set)
        folder, builders = context.cache / f"probing-{key}", material.builders
        keys = {name: key_of(code_of(builders[name]), _builder_settings(builders[name])) for name in names}
        files = {name: folder / f"{name}-{key}.txt" for name, key in keys.items()}
        reasons = {name: path.with_suffix(".why") for name, path in files.items()}

        def missing_names() -> list[str]:
            return [name for name in names if not files[name].exists() and not reasons[name].exists()]

        def build_missing() -> None:
            from probes.probing.build.report import task_section  # draws, too

            built = build_tasks(material, wanted, missing_names(), context.seed)
            for name, reason in built.failures.items():
                with atomic_write(reasons[name]) as file:
                    file.write(reason)
            for name, draft in built.drafts.items():
                with atomic_write(folder / f"{name}.md") as file:
                    file.write(task_section(draft))
                write_task(draft.task, files[name])

        make_once(folder, lambda: not missing_names(), build_missing)
        failures = {name: reasons[name].read_text(encoding="utf-8") for name in names if not files[name].exists()}
        if failures and len(failures) == len(names):
            message = f"none of the tasks can be built; {names[0]}: {failures[names[0]]}"
            raise InputError(f"{message}; or leave all of them out: probes=none")
        for name, reason in ({**failures, **material.omitted()} if every else failures).items():
            print(f"{name} cannot be built: {reason}", file=sys.stderr)
        tasks = [read_task(name, files[name]) for name in names if name not in failures]
        for task in tasks:
            for size in notes_on_size(task, wanted):
                print(f"{task.name} has {size}: the text that is read gives no more", file=sys.stderr)
        return tasks


class FromCorpus(BuiltSource):
    """`probes=corpus`: from trees of the run's corpus that no objective trains on, else dependency trees, else text."""

    def __init__(self, tags: Tags = ENGLISH.name, own: Own = NO_TASKS) -> None:
        self.tags, self.own = tag_set(tags), own

    def source(self, context: Context, sizes: Sizes) -> tuple[Sequence[object], Material]:
        corpus, limit = context.corpus, TREES_PER_SENTENCE * sum(sizes)
        with suppress(NoSuchView):
            trees = corpus_texts(itertools.islice(corpus.trees("probe"), limit))
            return corpus_key(corpus), from_trees(trees, self.tags, self.own)
        if self.tags.name != ENGLISH.name:
            raise InputError(
                f"probes.tags={self.tags.name}: about Penn-style trees, and this corpus= has none; leave it out"
            )
        with suppress(NoSuchView):
            analyses = analyse_dependencies(itertools.islice(corpus.dependencies("probe"), limit))
            return corpus_key(corpus), from_dependencies(analyses, self.own)
        return corpus_key(corpus), from_text(itertools.islice(held_out_text(corpus), limit), self.own)


class FromTrees(BuiltSource):
    """`probes=trees`: built from files of Penn-style trees. `on_bad_tree`: "skip" leaves out what cannot be read."""

    def __init__(
        self,
        paths: Annotated[Paths, "files (.mrg, .txt, .gz; tab-separated with the tree last), or folders"],
        tags: Tags = ENGLISH.name,
        own: Own = NO_TASKS,
        on_bad_tree: OnBadTreeSetting = "refuse",
    ) -> None:
        self.on_bad_tree = on_bad_tree
        if not paths:
            raise InputError("probes=trees needs probes.paths=[FILE_OR_FOLDER,...] with Penn-style trees")
        self.paths, self.tags, self.own = [Path(path) for path in paths], tag_set(tags), own

    def source(self, context: Context, sizes: Sizes) -> tuple[Sequence[object], Material]:
        return [*contents_of(_files_below(self.paths, tree_files)), self.on_bad_tree], self.material()

    def material(self, partly: bool = False) -> Material:
        files = _files_below(self.paths, tree_files)
        texts = itertools.chain.from_iterable(read_texts(file, self.on_bad_tree) for file in files)
        return from_trees(texts, self.tags, self.own, partly)


class FromTreebank(BuiltSource):
    """`probes=ud`: built from dependency trees; drawn from all sentences where train, dev or test has no file."""

    def __init__(
        self,
        paths: Annotated[Paths, "CoNLL-U files (.conllu, .gz, .bz2), or folders; train, dev, test keep their splits"],
        test_paths: Annotated[Paths, "the test split, in place of that of paths: such as a parallel treebank"] = (),
        own: Own = NO_TASKS,
    ) -> None:
        if not paths:
            raise InputError("probes=ud needs probes.paths=[FILE_OR_FOLDER,...] with CoNLL-U files")
        self.paths, self.test_paths, self.own = [*map(Path, paths)], [*map(Path, test_paths)], own

    def source(self, context: Context, sizes: Sizes) -> tuple[Sequence[object], Material]:
        files, test = self._files()
        inputs = [*map(split_in_name, files), *contents_of(files), "test", *contents_of(test)]
        return inputs, self.material(sizes)

    def material(self, sizes: Sizes) -> Material:
        files, test = self._files()
        portions = Progress(treebank_portions(files, test), "reading trees", unit=" portions")
        return from_dependencies(analyse_treebank(portions, sizes if test else None), self.own)

    def _files(self) -> tuple[list[Path], list[Path]]:
        return _files_below(self.paths, conllu_files), _files_below(self.test_paths, conllu_files)


class FromText(BuiltSource):
    """`probes=text`: built from plain text of any language, by default from the run's held-out text."""

    def __init__(
        self,
        paths: Annotated[Paths, "files with a sentence per line (.txt, .gz, .bz2), or folders; []: text of the corpus"],
        tokenized: Annotated[bool, "true if these files are already tokenised, with spaces between tokens"] = False,
        language: Annotated[str | None, "of the files, for their tokens; null: that of the corpus"] = None,
        own: Own = NO_TASKS,
    ) -> None:
        if not paths and (tokenized or language):
            raise InputError("probes.tokenized= and probes.language= are about files; give probes.paths=[FILE,...]")
        if tokenized and language:
            raise InputError(f"probes.language={language}: probes.tokenized=true reads words as they are; leave it out")
        check_language(language, "probes.language")
        self.paths, self.tokenized, self.language, self.own = [Path(path) for path in paths], tokenized, language, own

    def source(self, context: Context, sizes: Sizes) -> tuple[Sequence[object], Material]:
        if not self.paths:
            held_out = itertools.islice(held_out_text(context.corpus), TREES_PER_SENTENCE * sum(sizes))
            return corpus_key(context.corpus), from_text(held_out, self.own)
        language = "" if self.tokenized else self.language or context.given_corpus.source_language
        return [*contents_of(self._files()), language], self.material(language)

    def material(self, language: str) -> Material:
        """Of the files, tokenised as text of a language; "": as they are."""
        lines = (line for file in self._files() for _, line in read_lines(file) if line.strip())
        text = parallel_map(partial(tokenize, language=language), lines) if language else lines
        return from_text(text, self.own)

    def _files(self) -> list[Path]:
        return _files_below(self.paths, partial(text_files, endings=(".txt",)))


class FromSentEval:
    """`probes=senteval`: the published files, at their published sizes."""

    def __init__(
        self,
        root: Annotated[str | None, "the folder with sentence_length.txt and the others, or the one above probing/"],
    ) -> None:
        if not root:
            raise InputError("probes=senteval needs probes.root=FOLDER with the ten published files")
        self.root = Path(root)

    def tasks(self, context: Context, names: Sequence[str], sizes: RequestedSizes) -> list[Classification]:
        """The named tasks. Raises InputError for a size: smaller tasks are not comparable with published scores."""
        _refuse_sizes(sizes, "published files")
        tasks = read_senteval(self.root, names)
        warn_of_wrong_sizes({task.name: task.parts for task in tasks}, dict.fromkeys(FILES, PUBLISHED_SIZE))
        return tasks


class FromFiles:
    """`probes=files`: the user's own tasks, one for each file (of a folder: .txt, .tsv and .jsonl), named after it."""

    def __init__(
        self, paths: Annotated[Paths, "files or folders; each file is a task: split, label, sentence, or JSON lines"]
    ) -> None:
        if not paths:
            raise InputError("probes=files needs probes.paths=[FILE,...]: split, tab, label, tab, sentence; or .jsonl")
        self.paths = own_task_files(paths, "probes.paths")

    def tasks(self, context: Context, names: Sequence[str], sizes: RequestedSizes) -> list[Classification]:
        """The named tasks, all without names. Raises InputError for a size: the files decide."""
        _refuse_sizes(sizes, "files")
        if unknown := [name for name in names if name not in self.paths]:
            raise InputError(f"{unknown[0]}: {unknown_name_message('task', unknown[0], list(self.paths))}")
        return [read_own_task(name, self.paths[name]) for name in names or self.paths]


class NoTasks:
    """`probes=none`: no probing."""

    def tasks(self, context: Context, names: Sequence[str], sizes: RequestedSizes) -> list[Classification]:
        return []


def _refuse_sizes(sizes: RequestedSizes, files: str) -> None:
    for name, size in zip(Sizes._fields, sizes, strict=True):
        if size is not None:
            raise InputError(f"probes.{name}_size={size}: the {files} have their own; leave it out")


def built_sizes(sizes: RequestedSizes) -> Sizes:
    """The sizes of the tasks to build; dev and test without a size are in proportion to train, or as many as usual.

    Raises InputError without a size of train.
    """
    train = sizes[0]
    if train is None:
        raise InputError("probes.train_size=null: give a number of sentences; only published files have their own")
    usual = Sizes(*(max(1, min(size, train * size // USUAL_SIZES.train)) for size in USUAL_SIZES))
    return Sizes(train, *(size or usual_size for size, usual_size in zip(sizes[1:], usual[1:], strict=True)))


def _files_below(paths: Sequence[Path], files_in: Callable[[Path], list[Path]]) -> list[Path]:
    if missing := [path for path in paths if not path.exists()]:
        raise InputError(f"{missing[0]}: no such file or folder (probes.paths)")
    return without_copies(file for path in paths for file in files_in(path))


def _builder_settings(builder: TaskBuilder) -> str:
    if not isinstance(builder, partial):
        return repr(vars(builder))
    args = tuple(getattr(value, "__qualname__", value) for value in builder.args)  # where a function is says nothing
    return repr([args, builder.keywords])
