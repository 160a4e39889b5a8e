"""A loss that is no number ends the run at once, with the sentences that made it."""

from pathlib import Path
from typing import Any, NoReturn

import pytorch_lightning as pl
import torch
from torch import Tensor

from datamodules.batches import PADDING, PartBatch, Sentences
from datamodules.errors import InputError
from datamodules.files import atomic_write
from datamodules.vocabulary import Vocabulary

EVERY = 50  # steps between looks on a GPU, which would have to wait for every single one


class StopsWhereNotFinite(pl.Callback):
    """Looks at every loss; at the first that is not finite writes the batch's sentences to `folder` and raises.

    No checkpoint is written after one, nor with a weight that is not finite.
    """

    def __init__(self, vocabulary: Vocabulary, folder: Path, every: int | None = None) -> None:
        """Looks after `every` steps: by default after each on a CPU, and less often on a GPU."""
        self.vocabulary, self.folder, self.every = vocabulary, folder, every
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

    def on_save_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Raises before anything is written: finite losses may make weights that are not, in any of the processes."""
        if self._recent:
            self._look()
        for name, weight in checkpoint["state_dict"].items():
            if not weight.isfinite().all():
                self._stop(*self._last, f"{name} is not finite after")

    def _look(self) -> None:
        finite = torch.stack([loss for _, _, loss in self._recent]).isfinite().tolist()
        recent, self._recent = self._recent, []
        if not all(finite):
            step, batch, loss = recent[finite.index(False)]
            self._stop(step, batch, f"the loss is {float(loss)} at")

    def _stop(self, step: int, batch: Any, said: str) -> NoReturn:
        path = self.folder / f"step-{step}.txt"
        with atomic_write(path) as file:
            file.writelines(f"{line}\n" for line in self._lines("", batch))
        raise InputError(
            f"{said} step {step}; the sentences of its batch are in {path}. Try a smaller objective.optimizer.lr"
        )

    def _lines(self, name: str, part: Any) -> list[str]:
        """Each sentence of a batch behind the name of its field; ids of other symbols as numbers."""
        if isinstance(part, PartBatch):
            return self._lines(name, part.batch)
        if isinstance(part, Sentences):
            known = name != "target"
            rows = [[i for i in row if i != PADDING] for row in part.ids.tolist()]
            return [f"{name}\t{' '.join(self.vocabulary.words[i] if known else str(i) for i in row)}" for row in rows]
        fields = part._asdict().items() if hasattr(part, "_asdict") else ()
        return [line for field, value in fields for line in self._lines(field, value)]
