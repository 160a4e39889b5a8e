"""The probing suite: ten tasks, from trees or the published files (Conneau et al. 2018)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from probes.classification import Classification
from probes.classifiers.grid import Grid
from probes.probing import FACTS
from probes.probing.published_files import TOOLKIT
from probes.suites import Context


def tasks(context: Context, settings: Mapping[str, Any]) -> list[Classification]:
    """The tasks of `probes.source`, each with its classifiers."""
    sizes = settings["train_size"], settings["dev_size"], settings["test_size"]
    given = settings["tasks"]
    names = [TOOLKIT.get(name, name) for name in ([given] if isinstance(given, str) else given)]
    found = settings["source"].tasks(context, list(dict.fromkeys(names)), sizes)
    return with_classifiers(found, context.grid, context.seed)


def with_classifiers(tasks: Sequence[Classification], grid: Grid, seed: int) -> list[Classification]:
    """Word content is read by logistic regression with every grid (appendix)."""
    published = grid.protocol == "senteval"
    return [
        replace(
            task,
            grid=grid.logistic() if task.name in FACTS.one_reader else grid,
            seed=seed,
            sorted_by_length=published,
        )
        for task in tasks
    ]
