"""The processes that train together, and their devices."""

import torch
from omegaconf import DictConfig, ListConfig
from pytorch_lightning.plugins.environments import SLURMEnvironment, TorchElasticEnvironment
from pytorch_lightning.utilities import rank_zero_only

from objectives.objective import Objective


def accelerator(config: DictConfig) -> str:
    """The accelerator of the run: an NVIDIA GPU if there is one. Apple GPUs lack the 64-bit floats that we need."""
    given = str(config.trainer.accelerator)
    return given if given != "auto" else "cuda" if torch.cuda.is_available() else "cpu"


def strategy(config: DictConfig, module: Objective) -> str | DictConfig:
    """How processes train together. DDP must search for unused weights if a step does not train all of them."""
    given: str | DictConfig = config.trainer.get("strategy", "auto")
    ddp = given == "ddp" or (given == "auto" and several_devices(config))
    return "ddp_find_unused_parameters_true" if ddp and not module.trains_all else given


def is_first() -> bool:
    """Whether this is the first (rank 0) of the processes that train together, on all machines."""
    return not getattr(rank_zero_only, "rank", None)


def starts_others(config: DictConfig) -> bool:
    """Whether Lightning starts the other processes of the run itself: torchrun or SLURM did not start them."""
    return several_devices(config) and not (TorchElasticEnvironment.detect() or SLURMEnvironment.detect())


def several_devices(config: DictConfig) -> bool:
    """Whether the run may take more than one device of a machine."""
    devices = config.trainer.devices  # how many, or which
    return len(devices) > 1 if isinstance(devices, ListConfig) else devices != 1


def say(text: str) -> None:
    """Print a line, in the first of the processes that train together."""
    if is_first():
        print(text, flush=True)
