"""A list of cells as jobs of one of Hydra's launchers: one after another, on this machine, on a cluster."""

import os
import re
from collections.abc import Sequence
from functools import partial
from multiprocessing import current_process
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig

from encoder_lab.settings.known import CONFIGS
from encoder_lab.settings.quoting import quoted
from encoder_lab.studies.cell import ROOT, run_cell
from encoder_lab.studies.plan import StudyCell

JOB_CONFIG = "study_job"  # configs/study_job.yaml
GPUS_VARIABLE = "CUDA_VISIBLE_DEVICES"


def launch_cells(cells: Sequence[StudyCell], study: Path, settings: Sequence[str]) -> None:
    """Run the cells as one sweep of a launcher and wait. Raises the error of a job that could not start its cell."""
    if str(ROOT) not in (paths := os.environ.get("PYTHONPATH", "").split(os.pathsep)):
        os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, paths)])  # for jobs in other folders
    task = partial(run_job, cells=cells, study=study, gpus=visible_gpus())
    numbers = ",".join(map(str, range(len(cells))))
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        hydra = GlobalHydra.instance().hydra
        assert hydra is not None
        overrides = [*_sweep_settings(study, settings), f"cell={numbers}"]
        hydra.multirun(JOB_CONFIG, task, overrides, with_log_configuration=False)


def check_launcher(study: Path, settings: Sequence[str]) -> None:
    """Raises HydraException if a setting of the launcher is wrong, or the launcher is not installed."""
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        compose(JOB_CONFIG, _sweep_settings(study, settings), return_hydra_config=True)


def _sweep_settings(study: Path, settings: Sequence[str]) -> list[str]:
    return [f"hydra.sweep.dir={quoted(study)}", *settings]


def run_job(config: DictConfig, cells: Sequence[StudyCell], study: Path, gpus: Sequence[str]) -> None:
    """One job: the cell with the number `config.cell`."""
    cell = cells[config.cell]
    if not any(text.startswith("trainer.devices=") for text in cell.overrides):
        take_one_gpu(current_process().name, gpus)
    run_cell(cell, study)


def visible_gpus() -> list[str]:
    """The GPUs of this machine that the study may use."""
    if GPUS_VARIABLE in os.environ:
        return os.environ[GPUS_VARIABLE].split(",")
    import torch  # slow

    return [str(number) for number in range(torch.cuda.device_count())] or [""]


def take_one_gpu(worker: str, gpus: Sequence[str] = ()) -> None:
    """Give each worker process of joblib one of `gpus`, or of those that it sees, in turn; all would use the first."""
    if number := re.fullmatch(r"LokyProcess-(\d+)", worker):
        gpus = gpus or visible_gpus()
        os.environ[GPUS_VARIABLE] = gpus[int(number[1]) % len(gpus)]
