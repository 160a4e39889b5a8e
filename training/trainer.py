"""Lightning's trainer with our callbacks, and the fit from the start or from the last checkpoint."""

import signal
from pathlib import Path

import pytorch_lightning as pl
import torch
from hydra.utils import instantiate
from omegaconf import DictConfig
from pytorch_lightning.callbacks import ModelCheckpoint
from pytorch_lightning.loggers import TensorBoardLogger

from common.errors import InputError
from datamodules.base import ResumableData
from encoders.load import read_checkpoint
from objectives.objective import Objective
from probes.callback import ProbingCallback
from training.checkpoints import LAST, AtomicCheckpoints, CheckpointEvery, newest_whole
from training.devices import accelerator, strategy
from training.finite import StopsWhereNotFinite
from training.interrupt import StopsOnInterrupt
from training.run_log import RunLog


def build_trainer(
    config: DictConfig, run: Path, module: Objective, probing: ProbingCallback, data: ResumableData
) -> pl.Trainer:
    """Lightning's trainer with probing, the run's record, and checkpoints after every epoch."""
    checkpoints = run / "checkpoints"
    # both after probing, so that a checkpointed epoch is a probed one; last after best, as it holds the state of best
    best = ModelCheckpoint(
        checkpoints,
        "best",
        monitor=module.score,
        mode=module.mode,
        save_on_train_epoch_end=True,
        enable_version_counter=False,
    )
    last = ModelCheckpoint(checkpoints, "last", save_on_train_epoch_end=True, enable_version_counter=False)
    within = CheckpointEvery(config.checkpoint_every_n_steps, checkpoints / LAST)
    record = RunLog(run / "metrics.csv")
    finite = StopsWhereNotFinite(data, run / "not_finite")
    theirs = {name: instantiate(config.trainer.get(name) or []) for name in ("callbacks", "logger")}
    return instantiate(
        config.trainer,
        accelerator=accelerator(config),
        strategy=strategy(config, module),
        default_root_dir=run,
        logger=[TensorBoardLogger(run, name="tensorboard", version=""), *theirs["logger"]],
        callbacks=[StopsOnInterrupt(), finite, record, *theirs["callbacks"], probing, within, best, last],
        plugins=[AtomicCheckpoints()],
        _convert_="all",
    )


def fit(trainer: pl.Trainer, module: Objective, data: ResumableData, probing: ProbingCallback, run: Path) -> None:
    """Train from the start or from the last checkpoint; an objective that trains nothing is probed once."""
    if module.trains:
        last = newest_whole(run / "checkpoints", read_checkpoint)
        if last:
            refuse_foreign(last, module)
        try:
            trainer.fit(module, data, ckpt_path=last, weights_only=True)
        except SystemExit:  # how Lightning ends on Ctrl-C
            raise KeyboardInterrupt from None
        except Exception:
            if launcher := trainer.strategy.launcher:  # its processes would wait for this one, half an hour long
                launcher.kill(signal.SIGKILL)
            raise
        if torch.distributed.is_initialized():  # or a thread of it may abort this process while Python ends
            torch.distributed.destroy_process_group()
    elif trainer.is_global_zero:  # alone: only trainer.fit makes processes known to each other
        module.to(trainer.strategy.root_device)
        probing.probe(trainer, epoch=0)
        for name in ("best", "last"):
            state = {"state_dict": module.state_dict(), "epoch": 0, "global_step": 0}
            AtomicCheckpoints().save_checkpoint(state, run / "checkpoints" / f"{name}.ckpt")


def refuse_foreign(path: Path, module: Objective) -> None:
    """Raises InputError when a checkpoint is not one that this run could have written."""
    checkpoint = read_checkpoint(path)
    if "loops" not in checkpoint or checkpoint["state_dict"].keys() != module.state_dict().keys():
        raise InputError(f"{path}: not a checkpoint of this run (other weights, or none of the training state)")
