"""The tasks of an evaluation, for other programs."""

import re
from pathlib import Path

from encoder_lab.errors import InputError
from encoder_lab.settings.evaluate import evaluation_settings
from encoder_lab.settings.without_effect import TASK_SETTINGS
from encoder_lab.studies.compose import checked_settings
from probes.suites import suites_of, tasks_and_measures
from probes.task import Task


def tasks_for(*overrides: str) -> list[Task]:
    """The tasks that `python evaluate.py` scores with these settings, and their measures, as control tasks.

    Raises InputError, also for a setting that makes no tasks.
    """
    settings = evaluation_settings(checked_settings("evaluate", list(overrides)))
    names = "|".join([TASK_SETTINGS, "control", "mdl", *(suite.group for suite in settings.suites.values())])
    if other := [text for text in overrides if not re.match(rf"[+~]*({names}|hydra.searchpath)\b", text)]:
        raise InputError(f"{other[0]}: no task depends on it; leave it out")
    grid, corpus, cache = settings.probes.classifier.build(), settings.corpus.build(), Path(str(settings.cache))
    return tasks_and_measures(suites_of(settings.suites, grid, settings.random_seed, corpus, cache, settings.measures))
