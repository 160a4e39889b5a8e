"""The tasks of an evaluation, for other programs."""

import re
from contextlib import nullcontext

from encoder_lab.errors import InputError
from encoder_lab.settings.evaluate import evaluation_settings
from encoder_lab.settings.without_effect import TASK_SETTINGS
from encoder_lab.storage.files import scratch_folder
from encoder_lab.studies.compose import checked_settings
from probes.suites import suites_of, tasks_and_measures
from probes.task import Task


def tasks_for(*overrides: str) -> list[Task]:
    """The tasks that `python evaluate.py` scores with these settings, and their measures, as control tasks.

    Raises InputError, also for a setting that makes no tasks.
    """
    if lists := [part for part in overrides if not isinstance(part, str)]:
        raise InputError(f"tasks_for takes texts, not {type(lists[0]).__name__}: tasks_for('suite=probing', 'seed=2')")
    settings = evaluation_settings(checked_settings("evaluate", list(overrides)))
    names = "|".join([TASK_SETTINGS, "control", "mdl", *(suite.group for suite in settings.suites.values())])
    if other := [text for text in overrides if not re.match(rf"[+~]*({names}|hydra.searchpath)\b", text)]:
        raise InputError(f"{other[0]}: no task depends on it; leave it out")
    grid, corpus, cache = settings.probes.classifier.build(), settings.corpus.build(), settings.cache_folder
    with nullcontext(cache) if cache else scratch_folder() as work:
        suites = suites_of(settings.suites, grid, settings.random_seed, corpus, work, settings.measures)
    return tasks_and_measures(suites)
