"""Ends a run where the objective's own score has stopped becoming better."""

from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import EarlyStopping


class StopsEarly(EarlyStopping):
    """Ends training after `patience` epochs without a better score, before the checkpoint: also if resumed."""

    def __init__(self, score: str, mode: str, patience: int) -> None:
        super().__init__(score, 0.0, patience, mode=mode, check_on_train_epoch_end=True)

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_: Any) -> None:
        trainer.should_stop |= self.wait_count >= self.patience
