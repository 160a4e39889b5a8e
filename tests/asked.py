"""Settings as a command gives them, without the command."""

from encoder_lab.settings.build import made
from encoder_lab.settings.run import EvaluationSettings, RunSettings
from encoder_lab.studies.compose import composed, plain
from evaluate import settings_of


def run_settings(*overrides: str) -> RunSettings:
    """The settings of `python train.py` with these arguments; what names its choices is set aside."""
    names = [f"{group}_name=some" for group in ("encoder", "objective", "corpus")]
    return made(RunSettings, plain(composed("train", [*overrides, *names])))


def evaluation(*overrides: str) -> EvaluationSettings:
    """The settings of `python evaluate.py` with these arguments."""
    return settings_of(plain(composed("evaluate", list(overrides))))
