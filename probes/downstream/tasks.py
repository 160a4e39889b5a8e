"""The downstream suite: sentiment, questions, paraphrases, entailment, relatedness (SentEval)."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from encoder_lab.errors import InputError, printable
from probes.classification import Classification
from probes.classifiers.grid import Grid
from probes.downstream.data import SOURCE, read_downstream
from probes.downstream.scoring import Downstream
from probes.suites import Context


def tasks(context: Context, settings: Mapping[str, Any]) -> list[Classification | Downstream]:
    """The tasks with files in `downstream.root`, read by logistic regression. Prints which files are missing."""
    if settings["root"] is None:
        raise InputError(f"downstream.root= is missing: the folder of the tasks; get them with {SOURCE}")
    folds, wanted = settings["kfold"], settings["tasks"]
    if not isinstance(folds, int) or folds < 2:
        raise InputError(f"downstream.kfold={folds}: give the number of folds, 2 or more")
    names = wanted if wanted is None or not isinstance(wanted, str) else [wanted]
    grid = without_hidden_layer(context.grid)
    found, missing = read_downstream(Path(settings["root"]), names)
    for name, path in missing.items():
        print(printable(f"{name}: skipped, no {path}; get it with {SOURCE}"), file=sys.stderr)
    if not found:
        raise InputError(f"{settings['root']}: none of the tasks is there")
    return [
        replace(task, grid=grid, seed=context.seed, folds=folds)
        if isinstance(task, Downstream)
        else replace(task, grid=grid, seed=context.seed)
        for task in found
    ]


def without_hidden_layer(grid: Grid) -> Grid:
    """The L2 values of a grid. Raises InputError if the user set a hidden layer, because there is none."""
    if not grid.is_logistic and (tuple(grid.widths), tuple(grid.dropouts)) != (Grid.widths, Grid.dropouts):
        no_layer = "downstream tasks are read by logistic regression"
        raise InputError(f"probes.classifier: {no_layer}; leave widths= and dropouts= out with suite=downstream")
    return grid.logistic()
