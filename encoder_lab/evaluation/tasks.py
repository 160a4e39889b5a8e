"""The tasks of an evaluation, for other programs."""

from pathlib import Path

from encoder_lab.settings.build import made
from encoder_lab.settings.run import EvaluationSettings
from encoder_lab.studies.compose import planned
from probes.suites import suites_of, tasks_of
from probes.task import Task


def tasks_for(*overrides: str) -> list[Task]:
    """The tasks that `python evaluate.py` scores with these settings. Raises InputError, and Hydra's errors."""
    settings = made(EvaluationSettings, planned("evaluate", list(overrides)))
    grid, corpus = settings.probes.classifier.build(), settings.corpus.build()
    return tasks_of(suites_of(settings.suites, grid, settings.random_seed, corpus, Path(str(settings.cache))))
