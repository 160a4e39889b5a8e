"""The log of a run: metrics.csv with one row per epoch; TensorBoard with the same scores and the loss by step."""

import time
from pathlib import Path
from typing import Any

import pytorch_lightning as pl

from encoder_lab.errors import InputError
from encoder_lab.storage.csv_files import upsert_csv
from objectives.objective import Objective


class RunLog(pl.Callback):
    """Writes training and validation scores at the end of each epoch. A resumed run does not repeat rows."""

    def __init__(self, metrics: Path) -> None:
        self.metrics = metrics
        self.row: dict[str, float] = {}  # of the last epoch
        self._started = time.monotonic()
        self._settings = metrics.parent / "config.yaml"
        self._has_settings = self._settings.exists()

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._started = time.monotonic()
        trainer.callback_metrics.clear()  # Lightning keeps those of a part that is in no batch of the new epoch

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: Any, outputs: Any, *_: Any) -> None:
        every = trainer.log_every_n_steps  # type: ignore[attr-defined]
        if every and trainer.global_step % every == 0:
            for logger in trainer.loggers:
                logger.log_metrics({"train/step_loss": float(outputs["loss"])}, step=trainer.global_step)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if trainer.is_global_zero and self._has_settings and not self._settings.exists():
            gone = f"{self._settings.parent}: the folder of this run was deleted or renamed while it trained"
            raise InputError(f"{gone}; continue from its last checkpoint with resume= and its new path")
        epoch = trainer.current_epoch + 1
        logged = {name: float(value) for name, value in trainer.callback_metrics.items()}
        means = pl_module.train_means() if isinstance(pl_module, Objective) else {}
        scores = dict(sorted({**logged, **means}.items()))
        seconds = time.monotonic() - self._started
        for logger in trainer.loggers:
            logger.log_metrics(scores | {"time/epoch": seconds}, step=epoch)
        self.row = {"epoch": epoch, "step": trainer.global_step, **scores, "seconds": seconds}
        if trainer.is_global_zero:
            upsert_csv(self.metrics, [self.row], key=("epoch",))
