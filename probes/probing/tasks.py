"""The probing suite: ten tasks, from trees or the published files (Conneau et al. 2018)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from encoder_lab.errors import InputError
from encoder_lab.settings.run import names_of
from probes.classification import Classification
from probes.classifiers.grid import Grid
from probes.probing import FACTS, RATED_ODD, TOOLKIT_NAMES
from probes.probing.published_files import own_task_files, read_own_task
from probes.suites import Context
from probes.task import Items

MODIFIED_LABEL = {"BShift": "I", "SOMO": "C", "CoordInv": "I"}  # the class of sentences that are not as they were


def tasks(context: Context, settings: Mapping[str, Any]) -> list[Classification]:
    """The tasks of `probes.source`, each with its classifiers."""
    sizes = settings["train_size"], settings["dev_size"], settings["test_size"]
    names = [TOOLKIT_NAMES.get(name, name) for name in names_of(settings["tasks"])]
    chosen = settings["source"].tasks(context, list(dict.fromkeys(names)), sizes)
    own_paths = own_task_files(settings.get("more", ()), "probes.more")
    refuse_taken_names(own_paths, [task.name for task in chosen], "probes.more")
    chosen = [*chosen, *(read_own_task(name, path) for name, path in own_paths.items())]
    return with_classifiers(chosen, context.grid, context.seed)


def refuse_taken_names(own_paths: Mapping[str, Path], taken: Sequence[str], key: str) -> None:
    """Raises InputError if a task of the user's own has the name of another one."""
    if twice := [name for name in own_paths if name in taken]:
        raise InputError(f"{key}: {own_paths[twice[0]]} makes a second task {twice[0]}; rename the file")


def share_rated_modified(predicted: np.ndarray, _: Items) -> dict[str, float]:
    """The bias of the answers (N,): how many percent of the sentences are called modified. About half of them are."""
    return {RATED_ODD: 100 * float((predicted == 0).mean())}


def with_classifiers(tasks: Sequence[Classification], grid: Grid, seed: int) -> list[Classification]:
    """Word content is read by logistic regression with every grid (appendix)."""
    published = grid.protocol == "senteval"
    return [
        replace(
            task,
            grid=grid.logistic() if task.name in FACTS.one_reader else grid,
            seed=seed,
            sorted_by_length=published and len(task.train.texts) == 1,
            second=share_rated_modified if task.classes[0] == MODIFIED_LABEL.get(task.name) else task.second,
        )
        for task in tasks
    ]
