"""The processes that train together, and their devices."""

import os
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.plugins.environments import ClusterEnvironment, SLURMEnvironment, TorchElasticEnvironment
from pytorch_lightning.utilities import rank_zero_only
from torch.distributed import default_pg_timeout

from encoder_lab.errors import InputError
from encoder_lab.settings.arguments import RANK_VARIABLES
from encoder_lab.settings.command_line import silence_output
from objectives.objective import Objective


def choose_accelerator(chosen: str) -> str:
    """The accelerator of the run: an NVIDIA GPU if there is one. Apple GPUs lack the 64-bit floats that we need."""
    return chosen if chosen != "auto" else "cuda" if torch.cuda.is_available() else "cpu"


def choose_strategy(chosen: Any, several_devices: bool, module: Objective) -> Any:
    """How processes train together. DDP must search for unused weights if a step does not train all of them."""
    ddp = chosen == "ddp" or (chosen == "auto" and several_devices)
    return "ddp_find_unused_parameters_true" if ddp and not module.trains_all else chosen


def is_rank_zero() -> bool:
    """Whether this is the first (rank 0) of the processes that train together, on all machines."""
    return not getattr(rank_zero_only, "rank", None)


def started_by_cluster() -> bool:
    """Whether torchrun or SLURM starts the processes of a run, and not Lightning."""
    return TorchElasticEnvironment.detect() or SLURMEnvironment.detect()


def refuse_without_partner(alone: bool, nodes: int) -> None:
    """Raises InputError where the environment and the settings differ on whether this process trains alone."""
    if alone:
        if not is_rank_zero():
            names = {name: os.environ[name] for name in RANK_VARIABLES if name in os.environ}
            ranks = ", ".join(f"{name}={rank}" for name, rank in names.items())
            remedy = f"unset {' '.join(names)}, or give trainer.devices= and trainer.num_nodes="
            raise InputError(f"{ranks} says that this is one of several processes, but trainer.devices=1; {remedy}")
    elif nodes > 1 and not (started_by_cluster() or "MASTER_ADDR" in os.environ):
        remedy = "start it with torchrun or srun on each (docs/scaling.md)"
        raise InputError(f"trainer.num_nodes={nodes}: nothing says where the other machines are; {remedy}")


def report_waiting(trainer: pl.Trainer) -> None:
    """A line before the processes of a run meet, where Lightning does not start them itself."""
    cluster: ClusterEnvironment | None = getattr(trainer.strategy, "cluster_environment", None)
    if cluster and trainer.world_size > 1 and (cluster.creates_processes_externally or trainer.num_nodes > 1):
        address = f"{cluster.main_address}:{cluster.main_port}"
        patience = getattr(trainer.strategy, "_timeout", default_pg_timeout).total_seconds()
        count = trainer.world_size - 1
        rank_zero_print(f"waits for the other {count} processes of this run at {address}, {patience:.0f} s at most")


def rank_zero_print(text: str) -> None:
    """Print a line, in the first of the processes that train together; not where the reader of the output has ended."""
    if is_rank_zero():
        try:
            print(text, flush=True)
        except BrokenPipeError:
            silence_output()
