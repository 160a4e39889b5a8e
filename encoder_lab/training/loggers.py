"""`logger=`: Lightning's own loggers, each in the folder of the run. They keep to the settings of their own tools."""

import csv
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

from pytorch_lightning.loggers import CSVLogger, Logger, MLFlowLogger, WandbLogger

from encoder_lab.errors import InputError
from encoder_lab.storage.files import atomic_write
from encoder_lab.training.devices import is_rank_zero
from encoder_lab.training.tensorboard import FramedLogger

DEFAULT_PROJECT = "sentence-encoder-lab"  # where WANDB_PROJECT or MLFLOW_EXPERIMENT_NAME do not name another
# files of a run with the names of its records there: the folder may move
WANDB_FILE, MLFLOW_FILE = "wandb_run", "mlflow_run"
LOGGER_PACKAGES = {"wandb": "wandb", "mlflow": "mlflow-skinny"}


def refuse_missing_packages(chosen: Iterable[str]) -> None:
    """Raises InputError for a logger without its package."""
    for name in chosen:
        if name in LOGGER_PACKAGES and find_spec(name) is None:
            package = LOGGER_PACKAGES[name]
            remedy = f"pip install {package}, or leave it out"
            raise InputError(f"logger={name}: the package {package} is not installed; {remedy}")


def loggers_of(chosen: Sequence[str], settings: Mapping[str, Any], run: Path) -> list[Logger]:
    """The loggers of a run, with its settings; a resumed one continues their records."""
    loggers = []
    recorded = (run / MLFLOW_FILE).exists()
    for name in chosen:
        logger = LOGGER_MAKERS[name](run)
        # TensorBoard has them as text
        if name in LOGGER_PACKAGES and is_rank_zero() and not (name == "mlflow" and recorded):
            logger.log_hyperparams(dict(settings))
        loggers.append(logger)
    return loggers


def _csv_logger(run: Path) -> Logger:
    """Lightning deletes the rows of an earlier process, so they lie under another name meanwhile."""
    table = run / "csv" / "metrics.csv"
    earlier = table.with_name("earlier.csv")
    if is_rank_zero() and table.exists():
        table.replace(earlier)
    logger = CSVLogger(run, name="csv", version="")
    if is_rank_zero() and earlier.exists():  # also after a kill in the middle
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says that it deletes files
            writer = logger.experiment
        earlier.replace(table)
        with table.open(encoding="utf-8", newline="") as file:
            writer.metrics_keys = next(csv.reader(file), [])
    return logger


def _wandb_logger(run: Path) -> Logger:
    """WANDB_MODE=offline keeps everything in `wandb/` of the run's folder; `wandb sync` sends it later."""
    project = os.environ.get("WANDB_PROJECT", DEFAULT_PROJECT)
    record = _read_record_name(run / WANDB_FILE) or uuid4().hex[:12]  # not of its path, where another run may have been
    run.mkdir(parents=True, exist_ok=True)
    _write_record_name(run / WANDB_FILE, record)
    return WandbLogger(name=run.name, save_dir=run, project=project, id=record, resume="allow")


def _mlflow_logger(run: Path) -> Logger:
    """Without MLFLOW_TRACKING_URI, in `mlruns/` of the run's folder."""
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # files need no database, which mlflow-skinny has not
    tracking_uri = os.environ.get("MLFLOW_TRACKING_URI") or (run / "mlruns").resolve().as_uri()
    experiment = os.environ.get("MLFLOW_EXPERIMENT_NAME", DEFAULT_PROJECT)
    logger = MLFlowLogger(experiment, run.name, tracking_uri, run_id=_read_record_name(run / MLFLOW_FILE))
    if is_rank_zero():  # the others must not begin a record
        _write_record_name(run / MLFLOW_FILE, str(logger.run_id))
    return logger


def _read_record_name(path: Path) -> str | None:
    return path.read_text(encoding="utf-8").strip() if path.exists() else None


def _write_record_name(path: Path, name: str) -> None:
    if is_rank_zero() and not path.exists():
        with atomic_write(path) as file:
            file.write(f"{name}\n")


LOGGER_MAKERS: dict[str, Callable[[Path], Logger]] = {"tensorboard": FramedLogger, "csv": _csv_logger}
LOGGER_MAKERS |= {"wandb": _wandb_logger, "mlflow": _mlflow_logger}
