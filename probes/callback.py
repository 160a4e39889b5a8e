"""Probing while an encoder trains: before the first step, and after every epoch."""

import time
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from torch import nn

from encoder_lab.model import Model
from probes.facts import facts_of
from probes.results import Epoch, ProbeRow, read_rows, refuse_scored, seconds_by_suite
from probes.share import SINGLE_PROCESS, Share
from probes.task import Task
from probes.vectors import EncodesSentences
from probes.watch import check_schedule, probe_now

GATHER_TIMEOUT = timedelta(days=1)  # how long a process with finished tasks waits for the others


class ProbingCallback(pl.Callback):
    """Scores tasks of all suites after every n-th epoch, the last, and `steps`; epoch 0 is the untrained encoder.

    The model is anything with `encode(sentences)`, so the callback works in any LightningModule.

    Training is the same bit for bit with and without it. The file `results` has one row per (epoch, suite, task), also
    after kill and resume. Each distinct sentence is encoded once, however many suites have it.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        model: EncodesSentences | Model,
        results: str | Path,
        every_n_epochs: int = 1,
        seed: int | None = None,
        device: str = "cpu",
        steps: Collection[int] = (),
        cache: Path | None = None,
    ) -> None:
        """The classifiers run on `device`. `steps`: optimiser steps. `cache`: a folder for the scores of the untrained
        model, which other runs share, of a model with a fingerprint.
        """
        self.tasks, self.model, self.results = list(tasks), model, Path(results)
        self.every_n_epochs = check_schedule(every_n_epochs)
        self.seed, self.device, self.steps, self.cache = seed, device, frozenset(steps), cache
        self.latest_rows: list[ProbeRow] = []  # of the last probing
        self.seconds = 0.0  # of the last probing, with encoding
        self._group: Any = None  # the processes that probe together
        self._probed_epoch: Epoch = 0  # probed before a resume; the run may have ended within it
        self._probed_steps: set[int] = set()  # until the present one: several batches may make one step

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if trainer.global_step == 0:
            refuse_scored(self.results)
            self.probe(trainer, epoch=0)
        else:  # damaged rows are an error before an epoch is trained in vain
            rows = read_rows(self.results)
            self._probed_epoch = max((row.epoch for row in rows), default=0)
            self._probed_steps = {row.step for row in rows if row.step <= trainer.global_step}

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        step = trainer.global_step
        if step in self.steps - self._probed_steps and not trainer.is_last_batch:
            self.probe(trainer, epochs_done(trainer, batch_idx))

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        epoch = trainer.current_epoch + 1
        is_due = epoch % self.every_n_epochs == 0 or epoch in (trainer.max_epochs, self._probed_epoch)
        if is_due or trainer.global_step in self.steps:
            self.probe(trainer, epoch)

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Also probes the last epoch if training ended early; the module may stop it after our other hooks."""
        epoch = trainer.current_epoch
        probed = trainer.is_global_zero and any(row.epoch == epoch for row in read_rows(self.results))
        if not trainer.strategy.broadcast(probed):  # only the first process writes rows, so only it knows
            self.probe(trainer, epoch)

    def probe(self, trainer: pl.Trainer, epoch: Epoch) -> list[ProbeRow]:
        """Score the model now and write the rows to probes.csv and the loggers."""
        if not self.tasks:
            return []
        started, step = time.monotonic(), trainer.global_step
        is_distributed = torch.distributed.is_initialized() and trainer.world_size > 1
        share = Share(trainer.global_rank, trainer.world_size, self._all_gather) if is_distributed else SINGLE_PROCESS
        module = trainer.lightning_module or nn.Module()
        arguments = self.results, epoch, step, self.seed, self.device, share, self.cache
        self.latest_rows = rows = probe_now(self.tasks, self.model, module, *arguments)
        self._probed_steps.add(step)
        self.seconds = seconds = time.monotonic() - started
        scores = curves_of(rows)
        if isinstance(epoch, float):  # within an epoch: charts of their own, by step
            scores, logged_step = {f"steps/{name}": score for name, score in scores.items()}, step
        else:
            took = {f"time/{suite}": spent for suite, spent in seconds_by_suite(rows).items()}
            scores, logged_step = scores | took | {"time/probing": seconds}, epoch
        for logger in trainer.loggers:
            logger.log_metrics(scores, step=logged_step)
        return rows

    def _all_gather(self, part: Any) -> list[Any]:
        """All-gather in CPU memory (gloo): it leaves GPU memory free, and NCCL would wait half an hour at most."""
        if self._group is None:
            self._group = torch.distributed.new_group(backend="gloo", timeout=GATHER_TIMEOUT)
        parts: list[Any] = [None] * torch.distributed.get_world_size()
        torch.distributed.all_gather_object(parts, part, group=self._group)
        return parts


def curves_of(rows: Sequence[ProbeRow]) -> dict[str, float]:
    """The points of an epoch by the name of their curve; a task that is read in several ways has a curve for each."""
    readers = Counter((row.suite, row.task) for row in rows)
    points: dict[str, float] = {}
    for row in rows:
        curve = f"{row.suite}/{row.task}" + (f" {row.classifier}" if readers[row.suite, row.task] > 1 else "")
        numbers = {name: row.hyperparameters.get(name) for name in facts_of(row.suite).curves}
        points |= {curve: row.test_accuracy}
        points |= {f"{curve} {name}": float(value) for name, value in numbers.items() if value is not None}
    return points


def epochs_done(trainer: pl.Trainer, batch_idx: int) -> float:
    """The epochs done after a batch within an epoch, such as 0.25."""
    return round(trainer.current_epoch + (batch_idx + 1) / trainer.num_training_batches, 6)
