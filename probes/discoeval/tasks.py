"""The discourse suite: seven groups of tasks, from the published folder or one of its form, or the embedded world."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from encoder_lab.errors import InputError, printable
from encoder_lab.settings.run import names_of
from encoder_lab.settings.types import Even, NameOrNull, NamesOrNull
from probes.classification import Classification
from probes.discoeval.data import PUBLISHED_SIZES, SOURCE, read_discoeval, select_tasks
from probes.discoeval.features import ABLATIONS, READINGS, Reading
from probes.discoeval.items import SPLITS, group_of
from probes.discoeval.world import SIZES, world_tasks
from probes.suites import Context
from probes.task import warn_of_wrong_sizes


@dataclass(frozen=True)
class DiscoEvalSettings:
    """The settings of `suite=discoeval`."""

    root: Annotated[NameOrNull, "the published folder, or one of the same form; null is the embedded world"] = None
    tasks: Annotated[NamesOrNull, "SP or [BSO,DCwiki,...]: groups and tasks; null is all; others are skipped"] = None
    train_size: Annotated[Even | None, "items of a task of the embedded world; null is 1200"] = None
    dev_size: Annotated[Even | None, "null is 300"] = None
    test_size: Annotated[Even | None, "null is 500"] = None
    analyses: Annotated[NamesOrNull, "also DC without hidden_layer (Table 4), SP without context (Table 6)"] = None


def tasks(context: Context, settings: DiscoEvalSettings) -> list[Classification]:
    """The tasks in `discoeval.root`, or those of the embedded world; says which files are missing."""
    discourse = _discourse_tasks(settings, context.seed)
    analyses = names_of(settings.analyses or ())
    if unknown := [name for name in analyses if name not in ABLATIONS]:
        raise InputError(f"discoeval.analyses={unknown[0]}: give {' or '.join(ABLATIONS)}, or both in brackets")
    classifications = [_with_reading(READINGS[group_of(task.name)], task, context) for task in discourse]
    for name in analyses:
        group, reading = ABLATIONS[name]
        without = name.replace("_", " ")
        ablated = [replace(t, name=f"{t.name} without {without}") for t in discourse if group_of(t.name) == group]
        if not ablated:
            raise InputError(f"discoeval.analyses={name}: it is about {group}; add {group} to discoeval.tasks=")
        classifications += [_with_reading(reading, task, context) for task in ablated]
    return classifications


def _discourse_tasks(settings: DiscoEvalSettings, seed: int) -> list[Classification]:
    names, root = names_of(settings.tasks or ()), settings.root
    sizes = {split: size for split in SPLITS if (size := getattr(settings, f"{split}_size")) is not None}
    if root is None:
        return select_tasks(world_tasks(SIZES | sizes, seed), names)
    if sizes:
        split = next(iter(sizes))
        raise InputError(f"discoeval.{split}_size= is about the embedded world; leave it out with discoeval.root=")
    tasks, missing = read_discoeval(Path(root), names, seed)
    for name, path in missing.items():
        print(printable(f"{name}: skipped, no {path}; get it from {SOURCE}"), file=sys.stderr)
    warn_of_wrong_sizes({task.name: task.parts for task in tasks}, PUBLISHED_SIZES)
    if not tasks:
        raise InputError(f"{root}: none of the tasks is there; get them from {SOURCE}, or leave discoeval.root= out")
    return tasks


def _with_reading(reading: Reading, task: Classification, context: Context) -> Classification:
    return replace(task, grid=reading.grid(context.grid), seed=context.seed, features=reading.features)
