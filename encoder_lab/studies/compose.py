"""What Hydra composes, as plain data."""

import re
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf

from encoder_lab.errors import InputError
from encoder_lab.settings.check import mistakes_of_command
from encoder_lab.settings.known import CONFIGS, message_with_advice
from encoder_lab.settings.run_settings import dotted_items


def checked_settings(program: str, settings: list[str]) -> dict[str, Any]:
    """The checked settings of a run that is not begun. Raises InputError if they are invalid."""
    try:
        config = compose_config(program, settings)
    except HydraException as error:
        raise InputError(message_with_advice(error)) from None
    written = resolved_settings(config)
    if mistakes := mistakes_of_command(program, written, referenced_names(config), settings):
        raise InputError("; ".join(mistakes))
    return written


def compose_config(program: str, settings: list[str]) -> DictConfig:
    """The settings of a run that is not begun, not checked. Raises HydraException."""
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        config = compose(program, settings, return_hydra_config=True)
    HydraConfig.instance().set_config(config)  # which has the names of the choices
    return OmegaConf.masked_copy(config, [key for key in map(str, config) if key != "hydra"])


def resolved_settings(config: DictConfig) -> dict[str, Any]:
    """The settings, with every reference to another one replaced."""
    settings: Any = OmegaConf.to_container(config, resolve=True)
    return settings


def referenced_names(config: DictConfig) -> set[str]:
    """The settings that others refer to, `${like.this}`."""
    raw: Any = OmegaConf.to_container(config, resolve=False)
    return {name for _, value in dotted_items(raw) for name in re.findall(r"\$\{([\w.]+)\}", str(value))}
