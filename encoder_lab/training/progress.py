"""The progress bar: epochs from 1, as in `metrics.csv` and everything else that a run prints."""

import math
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import TQDMProgressBar

from encoder_lab.progress import Progress


def epoch_of(trainer: pl.Trainer) -> str:
    """Epoch 2/10; without the 10 where there is no end."""
    end = trainer.max_epochs
    return f"Epoch {trainer.current_epoch + 1}" + (f"/{end}" if end and end > 0 else "")


def steps_left(trainer: pl.Trainer) -> float:
    """How many steps `trainer.max_steps` still allows; infinite without it."""
    return trainer.max_steps - trainer.global_step if trainer.max_steps >= 0 else math.inf


def epochs_left(trainer: pl.Trainer) -> float:
    """How many epochs follow this one, by `trainer.max_epochs` and `trainer.max_steps`; 0 where there is no end."""
    end = trainer.max_epochs or -1
    epochs = min(
        end - trainer.current_epoch - 1 if end > 0 else math.inf, steps_left(trainer) / trainer.num_training_batches
    )
    return 0.0 if math.isinf(epochs) else epochs


class EpochsFrom1(TQDMProgressBar):
    """Lightning's bar, with its epochs counted from 1."""

    def on_train_epoch_start(self, trainer: pl.Trainer, *arguments: object) -> None:
        super().on_train_epoch_start(trainer, *arguments)
        self.train_progress_bar.set_description(epoch_of(trainer))


class StepProgress(pl.Callback):
    """Where stdout is no terminal: steps of an epoch and batches of dev, in a line every half minute.

    `validated`: what is scored, where nothing is trained.
    """

    def __init__(self, validated: str = "") -> None:
        self.validated = validated
        self._bar: Progress | None = None

    def on_train_batch_start(self, trainer: pl.Trainer, pl_module: Any, batch: Any, batch_idx: int) -> None:
        if self._bar is None:  # not at the start of the epoch: a resumed one starts at another batch
            total = min(trainer.num_training_batches, batch_idx + steps_left(trainer))
            self._start_bar(trainer, epoch_of(trainer).lower(), "steps", total, batch_idx)

    def on_validation_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._close()
        if not trainer.sanity_checking:
            name = self.validated or f"{epoch_of(trainer).lower()}, dev"
            self._start_bar(trainer, name, "batches", sum(trainer.num_val_batches))

    def on_train_batch_end(self, *_: Any, **__: Any) -> None:
        if self._bar is not None:
            self._bar.update()

    def _close(self, *_: Any, **__: Any) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    on_validation_batch_end = on_train_batch_end
    on_validation_end = on_train_epoch_end = on_train_end = on_exception = _close

    def _start_bar(self, trainer: pl.Trainer, name: str, unit: str, total: float, initial: int = 0) -> None:
        end = None if math.isinf(total) else int(total)
        hide = None if trainer.is_global_zero else True
        self._bar = Progress(total=end, initial=initial, desc=name, unit=f" {unit}", leave=False, disable=hide)
