"""The ten probing tasks (Conneau et al. 2018, section 2), built from constituency trees.

A task is one entry in TASKS. Each draws from the same pool of sentences in the same order, and a sentence is in
the same split in all tasks.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from datamodules.trees.penn import Bracketed
from encoder_lab.errors import InputError
from encoder_lab.progress import Progress
from encoder_lab.settings.command_line import unknown_name_message
from probes.classification import Classification
from probes.probing.build.analysis import analyse_all
from probes.probing.build.odd_man_out import odd_man_out
from probes.probing.build.pool import TEST_SPLIT, Pool, Sizes, WholeTest, gather_pool
from probes.probing.build.sampling import TaskDraft
from probes.probing.build.surface import sent_len, word_content
from probes.probing.build.syntax import top_constituents, tree_depth
from probes.probing.build.tags import ENGLISH, TagSet
from probes.probing.build.targets import class_task, target_task
from probes.probing.build.word_order import coordination_inversion, neighbouring_pair, swap_task

TaskBuilder = Callable[[Pool, Sizes], TaskDraft]
NO_TASKS: Mapping[str, TaskBuilder] = {}
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


class Material(NamedTuple):
    """Sentences that are not read yet, and the tasks that can be made of them."""

    tag_set: str  # its name
    builders: Mapping[str, TaskBuilder]
    gather: Callable[[Sizes, int], Pool]  # reads the sentences, once; of the sizes and a seed
    usual: Sequence[str]  # the tasks that are built where none are named
    unsupported: Sequence[str] = ()  # tasks for which the tag set lacks labels
    partly: bool = True  # tasks that cannot be built are listed; otherwise the first one is an error

    def omitted(self) -> dict[str, str]:
        """The published tasks that are not usual here, and why."""
        reason = f"the labels of {self.tag_set} do not support it"
        return {name: reason for name in self.unsupported if name in TASKS}


def refuse_missing_tasks(material: Material, names: Sequence[str]) -> None:
    """Raises InputError for a task that is neither ours nor the user's, or not supported by the labels."""
    if unknown := [name for name in names if name not in material.builders]:
        raise InputError(f"{unknown[0]}: {unknown_name_message('probing task', unknown[0], [*material.builders])}")
    if missing := [name for name in names if name in material.unsupported]:
        listed = ", ".join(missing)
        raise InputError(f"the labels of {material.tag_set} do not support {listed}: leave them out of tasks=")


def from_trees(
    trees: Iterable[Bracketed], tags: TagSet = ENGLISH, own: Mapping[str, TaskBuilder] = NO_TASKS, partly: bool = False
) -> Material:
    """Constituency trees. `own`: tasks of the user."""
    builders = TASKS | MORE_TASKS | dict(own)
    marked = {"Tense": tags.tenses, "SubjNum": tags.numbers, "ObjNum": tags.numbers}
    lacking = [name for name, labels in marked.items() if not labels] + ([] if tags.questions else list(MORE_TASKS))
    unsupported = [name for name in lacking if name not in own]
    usual = [*(name for name in TASKS if name not in lacking), *own]

    def gather(sizes: Sizes, seed: int) -> Pool:
        return gather_pool(analyse_all(Progress(trees, "reading trees", unit=" trees"), tags), sizes, seed, tags)

    return Material(tags.name, builders, gather, usual, unsupported, partly)


def build_tasks(
    material: Material, sizes: Sizes, named: Sequence[str] = (), seed: int = 0, whole_test: bool = False
) -> BuiltTasks:
    """Build the `named` tasks, or the usual ones. A task does not depend on which other tasks are built.

    With too few sentences a task is smaller, and its notes say so. `whole_test`: the test split is all of its sentences
    that a task can use, in any balance; `sizes.test` is not used. Raises InputError if a task cannot be built at all,
    unless `material.partly`.
    """
    names = named or material.usual
    refuse_missing_tasks(material, names)
    pool = material.gather(sizes, seed)
    if whole_test:
        sizes = WholeTest(sizes.train, sizes.dev, len(pool.splits[TEST_SPLIT]))
    drafts, failures = {}, {} if named else material.omitted()
    for name in Progress([name for name in material.builders if name in names], "building", unit=" tasks"):
        try:
            draft = material.builders[name](pool, sizes)
            drafts[name] = draft._replace(task=replace(draft.task, originals=originals_of(draft)))
        except InputError as error:
            if not material.partly:
                raise
            failures[name] = str(error)
    return BuiltTasks(drafts, pool.shape, failures, _test_ids(drafts, pool))


def originals_of(draft: TaskDraft) -> list[str]:
    """What the changed sentences of a task were, without those that are in it themselves."""
    sentences = set(draft.task.sentences)
    return sorted({draft.sources[s] for s in sentences if s in draft.sources} - sentences)


def _test_ids(drafts: Mapping[str, TaskDraft], pool: Pool) -> dict[str, list[str]]:
    names = {s.sentence: s.id for s in pool.splits[TEST_SPLIT]}
    return {
        task: [names.get(draft.sources.get(s, s), "") for s in draft.task.test.sentences]
        for task, draft in drafts.items()
    }
