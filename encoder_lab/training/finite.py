"""Stops a run with a loss that is not finite, and writes the sentences of that batch."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import pytorch_lightning as pl
import torch
from torch import Tensor

from datamodules.base import ResumableData
from encoder_lab.errors import InputError
from encoder_lab.storage.files import atomic_write

GPU_CHECK_STEPS = 50  # steps between checks on a GPU; each check makes the GPU wait


class StopsWhereNotFinite(pl.Callback):
    """Checks every loss. At the first that is not finite, writes the sentences of its batch to `folder` and raises.

    After that no checkpoint is written, and no epoch is recorded or probed. Weights and scores are checked too: a
    finite loss can lead to weights that are not. With several processes, each writes the sentences of its own batch.
    """

    def __init__(self, data: ResumableData, folder: Path, every: int | None = None) -> None:
        """Checks after `every` steps; by default after each step on a CPU, and less often on a GPU."""
        self.data, self.folder, self.every = data, folder, every
        self._recent: list[tuple[int, Any, Tensor]] = []  # step, batch, loss: not checked yet
        self._last: tuple[int, Any] = (0, None)  # step and batch

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: Any, outputs: Any, batch: Any, *_: Any) -> None:
        loss = outputs["loss"].detach()
        self._last = (trainer.global_step, batch)
        self._recent.append((*self._last, loss))
        every = self.every or (1 if loss.device.type == "cpu" else GPU_CHECK_STEPS)
        if len(self._recent) == every or trainer.is_last_batch:
            self._check_losses()

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._check_tensors((*pl_module.named_parameters(), *trainer.callback_metrics.items()))

    def on_save_checkpoint(self, trainer: pl.Trainer, pl_module: Any, checkpoint: dict[str, Any]) -> None:
        """Raises, in each process, before anything is written."""
        self._check_tensors(checkpoint["state_dict"].items())

    def _check_tensors(self, named: Iterable[tuple[str, Tensor]]) -> None:
        if self._recent:
            self._check_losses()
        for name, value in named:
            if not value.isfinite().all():
                self._stop(*self._last, f"{name} is not finite after")

    def _check_losses(self) -> None:
        finite = torch.stack([loss for _, _, loss in self._recent]).isfinite().tolist()
        recent, self._recent = self._recent, []
        if not all(finite):
            step, batch, loss = recent[finite.index(False)]
            self._stop(step, batch, f"the loss is {float(loss)} at")

    def _stop(self, step: int, batch: Any, problem: str) -> NoReturn:
        process = f"-process-{self.data.rank}" if self.data.world > 1 else ""
        path = self.folder / f"step-{step}{process}.txt"
        with atomic_write(path) as file:
            file.writelines(f"{line}\n" for line in self.data.readable_lines(batch))
        sentences = f"the sentences of its batch are in {path}"
        raise InputError(f"{problem} step {step}; {sentences}. Try a smaller objective.optimizer.lr")
