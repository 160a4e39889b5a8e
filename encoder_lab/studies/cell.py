"""Cells of a study: each begun, resumed or skipped in its own process; several as jobs of a launcher of Hydra."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from multiprocessing import current_process
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import INTERRUPTED
from encoder_lab.settings.known import CONFIGS
from encoder_lab.settings.quoting import quoted
from encoder_lab.storage.files import atomic_write
from encoder_lab.storage.locks import is_locked, locked_with_children
from encoder_lab.studies.plan import ALLOW_SETTING, StudyCell, fill_folder

ROOT = Path(__file__).parents[2]
DONE_FILE = "done"  # a file in the folder of a finished cell
SETTINGS_FILE = "settings.txt"  # in the folder of a cell that was begun: its overrides, one per line
LOCK_FILE = ".job"  # held by the job that works on the cell, and by the command that the job started
MAY_DIFFER = ("cache", "trainer.accelerator", "trainer.devices")  # settings in which commands for one study may differ
JOB_CONFIG = "study_job"  # configs/study_job.yaml
GPUS_VARIABLE = "CUDA_VISIBLE_DEVICES"


def is_done(cell: StudyCell, study: Path) -> bool:
    return (study / cell.name / DONE_FILE).exists()


def run_cell(cell: StudyCell, study: Path) -> None:
    """Run or resume one cell unless it is done. Afterwards `is_done` tells whether it succeeded."""
    folder = study / cell.name
    if is_locked(folder / LOCK_FILE):
        print(f"{cell.name}: waits; a job of a killed study still works on it", flush=True)
    with locked_with_children(folder / LOCK_FILE) as lock:
        if is_done(cell, study):
            return
        refuse_other_settings(cell, study)
        resumed = (folder / "config.yaml").exists()
        print(f"{cell.name}: {'resumed' if resumed else 'begun'}", flush=True)
        if not resumed:
            with atomic_write(folder / SETTINGS_FILE) as file:
                file.writelines(f"{text}\n" for text in cell.overrides)
        status = subprocess.run(cell_command(cell, study, resumed), pass_fds=[lock], check=False).returncode
        if status == INTERRUPTED:
            raise SystemExit(INTERRUPTED)
        if status == 0:
            with atomic_write(folder / DONE_FILE) as file:
                file.write("\n")


def cell_command(cell: StudyCell, study: Path, resumed: bool) -> list[str]:
    """The command of the cell. An evaluation has no resume=: the same command uses its cached scores."""
    folder = study / cell.name
    if cell.program == "evaluate":
        settings = [fill_folder(text, "run", study / cell.scored) for text in cell.overrides]
        settings += [] if cell.scores_objective else [f"out={quoted(folder)}"]
    else:
        again = [text for text in cell.overrides if text.partition("=")[0] in (*MAY_DIFFER, ALLOW_SETTING)]
        fresh = [*cell.overrides, f"hydra.run.dir={quoted(folder)}"]
        settings = [f"resume={quoted(folder)}", *again] if resumed else fresh
    return [sys.executable, str(ROOT / f"{cell.program}.py"), *settings]


def refuse_other_settings(cell: StudyCell, study: Path) -> None:
    """Raises InputError if a cell has results of other settings. Folders of earlier versions have no settings.txt."""
    path = study / cell.name / SETTINGS_FILE
    if path.exists() and [entry.name for entry in path.parent.glob("[!.]*")] != [SETTINGS_FILE]:
        old = _effective_settings(path.read_text(encoding="utf-8").splitlines())
        new = _effective_settings(cell.overrides)
        changes = [f"with {text}" for text in sorted(old - new)] + [f"without {text}" for text in sorted(new - old)]
        if changes:
            remedy = "give the settings it had, remove this folder, or study_dir= another folder"
            raise InputError(f"{path.parent}: begun {' and '.join(changes)}; {remedy}")


def _effective_settings(overrides: Sequence[str]) -> set[str]:
    values = dict(text.partition("=")[::2] for text in overrides)
    return {f"{key}={value}" for key, value in values.items() if key not in MAY_DIFFER}


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
