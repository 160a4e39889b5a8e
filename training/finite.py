"""A loss that is no number ends the run at once, with the sentences that made it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import pytorch_lightning as pl
import torch
from torch import Tensor

from common.errors import InputError
from common.files import atomic_write
from datamodules.base import ResumableData

EVERY = 50  # steps between looks on a GPU, which would have to wait for every single one


class StopsWhereNotFinite(pl.Callback):
    """Looks at every loss; at the first that is not finite writes the batch's sentences to `folder` and raises.

    No checkpoint is written after one, and no epoch recorded or probed; nor with a weight or a score that is not
    finite, which a finite loss may lead to. Of several processes each writes the sentences of its own batch.
    """

    def __init__(self, data: ResumableData, folder: Path, every: int | None = None) -> None:
        """Looks after `every` steps: by default after each on a CPU, and less often on a GPU."""
        self.data, self.folder, self.every = data, folder, every
        self._recent: list[tuple[int, Any, Tensor]] = []  # step, batch, loss: not yet looked at
        self._last: tuple[int, Any] = (0, None)  # step and batch

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        loss = outputs["loss"].detach()
        self._last = (trainer.global_step, batch)
        self._recent.append((*self._last, loss))
        every = self.every or (1 if loss.device.type == "cpu" else EVERY)
        if len(self._recent) == every or trainer.is_last_batch:
            self._look()

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._look_at_all((*pl_module.named_parameters(), *trainer.callback_metrics.items()))

    def on_save_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Raises before anything is written, in any of the processes."""
        self._look_at_all(checkpoint["state_dict"].items())

    def _look_at_all(self, named: Iterable[tuple[str, Tensor]]) -> None:
        if self._recent:
            self._look()
        for name, value in named:
            if not value.isfinite().all():
                self._stop(*self._last, f"{name} is not finite after")

    def _look(self) -> None:
        finite = torch.stack([loss for _, _, loss in self._recent]).isfinite().tolist()
        recent, self._recent = self._recent, []
        if not all(finite):
            step, batch, loss = recent[finite.index(False)]
            self._stop(step, batch, f"the loss is {float(loss)} at")

    def _stop(self, step: int, batch: Any, said: str) -> NoReturn:
        process = f"-process-{self.data.rank}" if self.data.world > 1 else ""
        path = self.folder / f"step-{step}{process}.txt"
        with atomic_write(path) as file:
            file.writelines(f"{line}\n" for line in self.data.in_words(batch))
        raise InputError(
            f"{said} step {step}; the sentences of its batch are in {path}. Try a smaller objective.optimizer.lr"
        )
