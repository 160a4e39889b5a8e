"""The downstream suite: sentiment, questions, paraphrases, entailment, relatedness (SentEval)."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from encoder_lab.errors import InputError, printable
from encoder_lab.settings.types import NameOrNull, NamesOrNull, Paths
from probes.classification import Classification
from probes.downstream.data import PUBLISHED_SIZES, SOURCE, read_downstream, read_own_file
from probes.downstream.scoring import Downstream
from probes.probing.published_files import own_task_files
from probes.probing.tasks import refuse_taken_names
from probes.suites import Context
from probes.task import warn_of_wrong_sizes


@dataclass(frozen=True)
class DownstreamSettings:
    """The settings of `suite=downstream`."""

    root: Annotated[NameOrNull, "the folder that the published toolkit's get_transfer_data.bash fills"] = None
    tasks: Annotated[NamesOrNull, "MR or [MR,SICK-E,...]; null is all; those that are not there are skipped"] = None
    more: Annotated[Paths, "files or folders with tasks of your own, added to these: docs/own_task.md"] = ()
    kfold: Annotated[
        int,
        Field(ge=2, le=1000, title="the number of folds, 2 or more"),
        "folds of the tasks without an official dev part",
    ] = 10


def tasks(context: Context, settings: DownstreamSettings) -> list[Classification | Downstream]:
    """The tasks with files in `downstream.root`, read by logistic regression. Prints which files are missing."""
    if settings.root is None and (settings.tasks or not settings.more):
        raise InputError(f"downstream.root= is missing: the folder of the tasks; get them with {SOURCE}")
    names = [settings.tasks] if isinstance(settings.tasks, str) else settings.tasks
    grid = context.grid.logistic()
    chosen, missing = read_downstream(Path(settings.root), names) if settings.root is not None else ([], {})
    for name, path in missing.items():
        print(printable(f"{name}: skipped, no {path}; get it with {SOURCE}"), file=sys.stderr)
    parts = {t.name: t.parts.values() if isinstance(t, Downstream) else t.parts for t in chosen}
    warn_of_wrong_sizes(parts, PUBLISHED_SIZES)
    paths = own_task_files(settings.more, "downstream.more")
    refuse_taken_names(paths, [task.name for task in chosen], "downstream.more")
    chosen += [read_own_file(name, path) for name, path in paths.items()]
    regressions = [task for task in chosen if isinstance(task, Downstream) and task.method == "relatedness"]
    for task in regressions if grid.protocol == "senteval" else ():
        if task.name in paths and task.rated != (1, 5):
            raise InputError(f"{paths[task.name]}: probes.classifier.protocol=senteval reads scores from 1 to 5 only")
    if not chosen:
        raise InputError(f"{settings.root}: none of the tasks is there")
    methods = {getattr(task, "method", None) for task in chosen}
    if settings.kfold != DownstreamSettings.kfold and methods.isdisjoint(("nested", "folds")):
        raise InputError(f"downstream.kfold={settings.kfold}: no task here has folds; leave it out")
    ready = [replace(task, grid=grid, seed=context.seed) for task in chosen]
    return [replace(task, folds=settings.kfold) if isinstance(task, Downstream) else task for task in ready]
