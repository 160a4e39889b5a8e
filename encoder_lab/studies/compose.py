"""What Hydra composes, as plain data."""

import re
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

from encoder_lab.settings.known import flat

CONFIGS = Path(__file__).parents[2] / "configs"


def composed(program: str, settings: list[str], whole: bool = False) -> DictConfig:
    """The composed settings of a program; `whole`: with those of Hydra itself."""
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        return compose(program, settings, return_hydra_config=whole)


def plain(config: DictConfig) -> dict[str, Any]:
    """The settings, with every reference to another one replaced."""
    made: Any = OmegaConf.to_container(config, resolve=True)
    return made


def referred(config: DictConfig) -> set[str]:
    """The settings that others refer to, `${like.this}`."""
    raw: Any = OmegaConf.to_container(config, resolve=False)
    return {name for _, value in flat(raw) for name in re.findall(r"\$\{([\w.]+)\}", str(value))}
