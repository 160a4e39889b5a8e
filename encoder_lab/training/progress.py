"""The progress bar: epochs from 1, as in `metrics.csv` and everything else that a run prints."""

import pytorch_lightning as pl
from pytorch_lightning.callbacks import ProgressBar, RichProgressBar, TQDMProgressBar
from pytorch_lightning.callbacks.progress.rich_progress import _RICH_AVAILABLE


def progress_bar(every: int = 1) -> ProgressBar:
    """The bar that Lightning would choose, with its epochs counted from 1, drawn after `every` steps."""
    return RichEpochsFrom1(every) if _RICH_AVAILABLE else TQDMEpochsFrom1(every)


def epoch_of(trainer: pl.Trainer) -> str:
    """Epoch 2/10; without the 10 where there is no end."""
    end = trainer.max_epochs
    return f"Epoch {trainer.current_epoch + 1}" + (f"/{end}" if end and end > 0 else "")


class RichEpochsFrom1(RichProgressBar):
    """The bar with the package `rich`."""

    def _get_train_description(self, current_epoch: int) -> str:
        return f"{epoch_of(self.trainer):{len(self.validation_description)}}"


class TQDMEpochsFrom1(TQDMProgressBar):
    """The bar without it."""

    def on_train_epoch_start(self, trainer: pl.Trainer, *arguments: object) -> None:
        super().on_train_epoch_start(trainer, *arguments)
        self.train_progress_bar.set_description(epoch_of(trainer))
