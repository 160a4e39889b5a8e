"""Settings as a command gives them, without the command."""

from encoder_lab.settings.run import EvaluationSettings
from encoder_lab.studies.compose import composed, plain
from evaluate import settings_of


def evaluation(*overrides: str) -> EvaluationSettings:
    """The settings of `python evaluate.py` with these arguments."""
    return settings_of(plain(composed("evaluate", list(overrides))))
