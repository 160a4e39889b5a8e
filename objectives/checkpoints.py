"""Checkpoints that a kill at any moment cannot damage."""

import os
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.plugins.io import TorchCheckpointIO


class AtomicCheckpoints(TorchCheckpointIO):
    """Writes a checkpoint beside its place, makes it durable, then moves it there in one step."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.tmp")
        with beside.open("wb") as file:
            torch.save(checkpoint, file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)


class CheckpointEvery(pl.Callback):
    """Saves every n optimiser steps within an epoch, for epochs that are too long to lose.

    Never after an epoch's last step: that state belongs to the epoch's end, which validates and probes first.
    """

    def __init__(self, n: int | None, path: Path) -> None:
        self.n, self.path = n, path

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if self.n and trainer.global_step % self.n == 0 and not trainer.is_last_batch:
            trainer.save_checkpoint(self.path)
