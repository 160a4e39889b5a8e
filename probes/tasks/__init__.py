"""The ten probing tasks (Conneau et al. 2018), built from constituency trees.

A task is one entry in TASKS; each draws from the same sentences in the same order, so that the tasks share
as many sentences as their controls allow and an encoder reads few.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from datamodules.errors import InputError
from datamodules.penn import Tree
from probes.task import Task
from probes.tasks.analysis import Analysis, analyse
from probes.tasks.sampling import Sizes
from probes.tasks.semantics import by_target, coordination_inversion, odd_man_out
from probes.tasks.surface import sent_len, word_content
from probes.tasks.syntax import bigram_shift, top_constituents, tree_depth

Build = Callable[[Sequence[Analysis], Sizes, np.random.Generator], Task]

TASKS: dict[str, Build] = {
    "SentLen": lambda sentences, sizes, _: sent_len(sentences, sizes),
    "WC": lambda sentences, sizes, _: word_content(sentences, sizes),
    "TreeDepth": tree_depth,
    "TopConst": lambda sentences, sizes, _: top_constituents(sentences, sizes),
    "BShift": bigram_shift,
    "Tense": lambda sentences, sizes, _: by_target("Tense", lambda s: s.tense, sentences, sizes),
    "SubjNum": lambda sentences, sizes, _: by_target("SubjNum", lambda s: s.subject, sentences, sizes),
    "ObjNum": lambda sentences, sizes, _: by_target("ObjNum", lambda s: s.object, sentences, sizes),
    "SOMO": odd_man_out,
    "CoordInv": lambda sentences, sizes, _: coordination_inversion(sentences, sizes),
}


def build_tasks(trees: Iterable[Tree], sizes: Sizes, names: Sequence[str] = tuple(TASKS), seed: int = 0) -> list[Task]:
    """Build the named tasks. Raises InputError naming a task that the trees cannot fill."""
    unknown = [name for name in names if name not in TASKS]
    if unknown:
        raise InputError(f"no probing task {', '.join(unknown)}; choose from {', '.join(TASKS)}")
    distinct = {found.sentence: found for tree in trees if (found := analyse(tree))}
    sentences = list(distinct.values())
    np.random.default_rng(seed).shuffle(sentences)  # type: ignore[arg-type]
    order = list(TASKS)
    return [TASKS[name](sentences, sizes, np.random.default_rng([seed, order.index(name)])) for name in names]
