"""Ends a run where the objective's own score has stopped becoming better."""

from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import EarlyStopping

from encoder_lab.training.devices import rank_zero_print


class StopsEarly(EarlyStopping):
    """Ends training after `patience` epochs without a better score, before the checkpoint: also if resumed."""

    def __init__(self, score: str, mode: str, patience: int) -> None:
        super().__init__(score, 0.0, patience, mode=mode, check_on_train_epoch_end=True)

    def state_dict(self) -> dict[str, Any]:
        """Without the reason in words, which Lightning adds at the end of a run."""
        return {name: value for name, value in super().state_dict().items() if not name.startswith("stopping_")}

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_: Any) -> None:
        trainer.should_stop |= self.wait_count >= self.patience
        if 0 < (trainer.max_epochs or -1) <= self.patience:
            rank_zero_print(f"early_stopping.patience={self.patience}: cannot end a run of {trainer.max_epochs} epochs")
