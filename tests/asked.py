"""Settings as a command gives them, without the command."""

from pathlib import Path

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

from encoder_lab.settings.build import frozen_settings
from encoder_lab.settings.evaluate import EvaluationSettings, evaluation_settings
from encoder_lab.settings.run import RunSettings
from encoder_lab.studies.compose import CONFIGS, resolved_settings


def composed(program: str, *settings: str, configs: Path = CONFIGS) -> DictConfig:
    """What Hydra composes, with its own settings."""
    with initialize_config_dir(str(configs), version_base="1.3"):
        return compose(program, list(settings), return_hydra_config=True)


def own_settings(config: DictConfig) -> DictConfig:
    """The settings without Hydra's, and without the names of choices, which only a job knows."""
    return OmegaConf.masked_copy(config, [k for k in map(str, config) if k != "hydra" and not k.endswith("_name")])


def run_settings(*overrides: str) -> RunSettings:
    """The settings of `python train.py` with these arguments; what names its choices is set aside."""
    names = {f"{group}_name": "some" for group in ("encoder", "objective", "corpus")}
    return frozen_settings(RunSettings, resolved_settings(own_settings(composed("train", *overrides))) | names)


def evaluation(*overrides: str) -> EvaluationSettings:
    """The settings of `python evaluate.py` with these arguments."""
    return evaluation_settings(resolved_settings(own_settings(composed("evaluate", *overrides))))
