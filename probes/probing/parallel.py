"""Test sentences that are the same in several languages: those of a parallel treebank, by their sent_id."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from encoder_lab.errors import InputError
from probes.classification import Classification
from probes.task import single

Tasks = Mapping[str, Classification]  # one task, by language
MIN_SHARED = 40  # test sentences that all languages have


def with_shared_tests(
    cut_tasks: Tasks, tasks: Tasks, ids: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Classification], list[str]]:
    """`cut_tasks` with the test sentences of `tasks` that are in all languages, in one order; and their names.

    `ids`: the names of the test sentences of `tasks`. A sentence counts if it has one of the classes of `cut_tasks`,
    which may differ between languages. Raises InputError where too few are left.
    """
    positions: dict[str, dict[str, int]] = {}
    for language, task in cut_tasks.items():
        old = tasks[language]
        labels = [old.classes[gold] for gold in old.test.gold]
        named = enumerate(zip(ids[language], labels, strict=True))
        positions[language] = {name: index for index, (name, label) in named if name and label in task.classes}
    shared = sorted(set.intersection(*map(set, positions.values())))
    if len(shared) < MIN_SHARED:
        raise InputError(f"{len(shared)} test sentences are in all of {', '.join(cut_tasks)}; it needs {MIN_SHARED}")
    parallel = {}
    for language, task in cut_tasks.items():
        old, indices = tasks[language], [positions[language][name] for name in shared]
        gold = np.array([task.classes.index(old.classes[old.test.gold[index]]) for index in indices], dtype=np.int64)
        if len(np.unique(gold)) < 2:
            raise InputError(f"the {len(shared)} test sentences that are in all languages have one class in {language}")
        parallel[language] = replace(task, test=single([old.test.sentences[index] for index in indices], gold))
    return parallel, shared


def majority_share(tasks: Tasks) -> str:
    """The share of the commonest class among the test sentences, in percent; of each language where they differ."""
    shares = {
        language: f"{100 * np.bincount(task.test.gold).max() / task.test.gold.size:.1f}"
        for language, task in tasks.items()
    }
    if len(set(shares.values())) == 1:
        return next(iter(shares.values()))
    return ", ".join(f"{language} {share}" for language, share in shares.items())
