"""What an evaluation refuses before it begins: settings that apply to nothing, models that cannot be opened."""

from collections.abc import Sequence
from typing import Any

from encoder_lab.errors import InputError
from encoder_lab.model import Model
from encoder_lab.reports.evaluations import refuse_published_of_other_tasks
from encoder_lab.reports.runs import EACH_EPOCH
from encoder_lab.settings.run import EvaluationSettings
from probes.suites import Suite


def refuse_unread_settings(settings: EvaluationSettings, suites: Sequence[Suite]) -> None:
    """Raises InputError if no suite has tasks, or a setting applies to none of the suites."""
    if not any(suite.tasks for suite in suites):
        raise InputError("no tasks; give suite=, and for suite=probing a source: probes=corpus, trees or senteval")
    refuse_published_of_other_tasks(settings.published, suites)


def settings_of_scores(settings: EvaluationSettings, suite: Suite, model: Model) -> dict[str, Any]:
    """The settings that made the scores of a model on a suite, as their folder has them."""
    choice = settings.suites[suite.name]
    written = {"suite": suite.name, "seed": settings.random_seed}
    if any(task.needs == "vectors" for task in suite.tasks):
        written["probes"] = {"classifier": settings.probes.classifier.written}
    written |= {choice.group: choice.values} | ({"corpus": settings.corpus.written} if suite.uses_corpus else {})
    return {**written, **model.settings} | ({} if settings.epochs is None else {"checkpoint": EACH_EPOCH})
