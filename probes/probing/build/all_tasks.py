"""The ten probing tasks (Conneau et al. 2018, section 2), built from constituency trees.

A task is one entry in TASKS. Each draws from the same pool of sentences in the same order, and a sentence is in
the same split in all tasks.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from datamodules.trees.penn import Bracketed
from encoder_lab.errors import InputError
from encoder_lab.progress import Progress
from probes.classification import Classification
from probes.probing.build.analysis import analyse_all
from probes.probing.build.odd_man_out import odd_man_out
from probes.probing.build.pool import Pool, Sizes, gather_pool
from probes.probing.build.sampling import TaskDraft
from probes.probing.build.surface import sent_len, word_content
from probes.probing.build.syntax import top_constituents, tree_depth
from probes.probing.build.tags import ENGLISH, TagSet
from probes.probing.build.targets import class_task, target_task
from probes.probing.build.word_order import coordination_inversion, neighbouring_pair, swap_task

TaskBuilder = Callable[[Pool, Sizes], TaskDraft]
TASKS: dict[str, TaskBuilder] = {
    "SentLen": sent_len,
    "WC": word_content,
    "TreeDepth": tree_depth,
    "TopConst": top_constituents,
    "BShift": partial(swap_task, "BShift", neighbouring_pair),
    "Tense": partial(target_task, "Tense", "tense"),
    "SubjNum": partial(target_task, "SubjNum", "subject"),
    "ObjNum": partial(target_task, "ObjNum", "object"),
    "SOMO": odd_man_out,
    "CoordInv": coordination_inversion,
}
MORE_TASKS: dict[str, TaskBuilder] = {  # not of the ten: by name alone
    "Passive": partial(class_task, "Passive"),  # is the main clause active or passive?
    "SentType": partial(class_task, "SentType", marks=False),  # a declarative, an interrogative or an imperative?
}


def refuse_unknown_tasks(names: Sequence[str], builders: Mapping[str, TaskBuilder]) -> None:
    """Raises InputError for a task that is neither ours nor the user's."""
    if unknown := [name for name in names if name not in builders]:
        raise InputError(f"no probing task {', '.join(unknown)}; choose from {', '.join(builders)}")


class BuiltTasks(NamedTuple):
    """Tasks in the order of the paper, with measurements of their controls."""

    drafts: dict[str, TaskDraft]  # by name
    shape: np.ndarray  # (length, depth) sentences of the corpus
    failures: dict[str, str]  # tasks that could not be built, and why
    ids: dict[str, list[str]]  # task, the names of its test sentences in their treebank; "" without one

    @property
    def tasks(self) -> list[Classification]:
        return [draft.task for draft in self.drafts.values()]

    def sentences(self) -> int:
        """How many distinct sentences an encoder has to read."""
        return len({s for task in self.tasks for split in task.parts for s in split.sentences})

    def split_overlap(self) -> int:
        """How many sentences are in more than one split, within a task or across tasks."""
        splits = zip(*((task.train, task.dev, task.test) for task in self.tasks), strict=True)
        by_split = [{s for part in split for s in part.sentences} for split in splits]
        return sum(map(len, by_split)) - self.sentences()


def supported_tasks(tags: TagSet, builders: Mapping[str, TaskBuilder] = TASKS) -> list[str]:
    """The tasks that can be built from the labels of a tag set; all of the user's own."""
    marked = {"Tense": tags.tenses, "SubjNum": tags.numbers, "ObjNum": tags.numbers}
    without = [name for name, labels in marked.items() if not labels] + ([] if tags.questions else list(MORE_TASKS))
    built_in = TASKS | MORE_TASKS
    return [name for name, build in builders.items() if name not in without or build is not built_in[name]]


def build_tasks(
    trees: Iterable[Bracketed],
    sizes: Sizes,
    names: Sequence[str] = tuple(TASKS),
    seed: int = 0,
    partly: bool = False,
    tags: TagSet = ENGLISH,
    builders: Mapping[str, TaskBuilder] = TASKS | MORE_TASKS,
) -> BuiltTasks:
    """Build the named tasks. A task does not depend on which other tasks are built.

    With too few trees a task is smaller, and its notes say so. Raises InputError if a task cannot be built at all;
    with `partly` such tasks are listed in `failures` instead.
    """
    refuse_unknown_tasks(names, builders)
    if unsupported := [name for name in names if name not in supported_tasks(tags, builders)]:
        listed = ", ".join(unsupported)
        raise InputError(f"the labels of {tags.name} do not support {listed}: leave them out of tasks=")
    return draw_tasks(gather_pool(analyse_all(trees, tags), sizes, seed, tags), builders, sizes, names, partly)


def draw_tasks(
    pool: Pool, builders: Mapping[str, TaskBuilder], sizes: Sizes, names: Sequence[str], partly: bool
) -> BuiltTasks:
    """The named tasks, from a pool that is ready. `partly`: as for `build_tasks`."""
    drafts, failures = {}, {}
    for name in Progress([name for name in builders if name in names], "building", unit=" tasks"):
        try:
            drafts[name] = builders[name](pool, sizes)
        except InputError as error:
            if not partly:
                raise
            failures[name] = str(error)
    return BuiltTasks(drafts, pool.shape, failures, _test_ids(drafts, pool))


def _test_ids(drafts: Mapping[str, TaskDraft], pool: Pool) -> dict[str, list[str]]:
    names = {s.sentence: s.id for s in pool.splits[Sizes._fields.index("test")]}
    return {
        task: [names.get(draft.sources.get(s, s), "") for s in draft.task.test.sentences]
        for task, draft in drafts.items()
    }
