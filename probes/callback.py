"""Probing while an encoder trains: before the first step, and after every epoch."""

import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.utilities.seed import isolate_rng

from probes.results import ProbeRow, read_rows, write_rows
from probes.suite import Share, Suite
from probes.task import EncodesSentences

PATIENCE = timedelta(days=1)  # of a process whose tasks are done, with those that have slower ones


class ProbingCallback(pl.Callback):
    """Scores a suite after every n-th epoch and the last; epoch 0 is the untrained encoder.

    Laws: training is the same bit for bit with and without it; one row per (epoch, task) in probes.csv,
    also after kill and resume; each distinct sentence is encoded once.
    """

    def __init__(self, suite: Suite, model: EncodesSentences, results: Path, every_n_epochs: int = 1) -> None:
        self.suite, self.model, self.results, self.every_n_epochs = suite, model, results, every_n_epochs
        self._group: Any = None  # of the processes that probe together

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if trainer.global_step == 0:
            self.probe(trainer, epoch=0)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        epoch = trainer.current_epoch + 1
        if epoch % self.every_n_epochs == 0 or epoch == trainer.max_epochs:
            self.probe(trainer, epoch)

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """The last epoch too, where not `max_epochs` ended training; the module may stop it after our other hooks."""
        epoch = trainer.current_epoch
        probed = trainer.is_global_zero and any(row.epoch == epoch for row in read_rows(self.results))
        if not trainer.strategy.broadcast(probed):  # the first process writes the rows, so it alone knows
            self.probe(trainer, epoch)

    def probe(self, trainer: pl.Trainer, epoch: int) -> list[ProbeRow]:
        """Score the model now and write the rows to probes.csv and the loggers."""
        if not self.suite.tasks:
            return []
        started = time.monotonic()
        with isolate_rng():
            together = torch.distributed.is_initialized() and trainer.world_size > 1
            share = Share(trainer.global_rank, trainer.world_size, self._gather) if together else None
            rows = self.suite.run(self.model, epoch, trainer.global_step, share)
        if trainer.is_global_zero:
            write_rows(self.results, rows)
        seconds = time.monotonic() - started
        scores = {f"probe/{row.task}": row.test_accuracy for row in rows}
        for logger in trainer.loggers:
            logger.log_metrics(scores | {"time/probing": seconds}, step=epoch)
        return rows

    def _gather(self, part: Any) -> list[Any]:
        """Through the memory of the machines: a GPU has better use for its own, and NCCL waits half an hour at most."""
        if self._group is None:
            self._group = torch.distributed.new_group(backend="gloo", timeout=PATIENCE)
        parts: list[Any] = [None] * torch.distributed.get_world_size()
        torch.distributed.all_gather_object(parts, part, group=self._group)
        return parts
