"""A loss that is no number ends the run at once, with the sentences that made it."""

from pathlib import Path
from typing import Any

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

    No epoch that has one is checkpointed.
    """

    def __init__(self, vocabulary: Vocabulary, folder: Path) -> None:
        self.vocabulary, self.folder = vocabulary, folder
        self._recent: list[tuple[int, Any, Tensor]] = []  # step, batch, loss: not yet looked at

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        loss = outputs["loss"].detach()
        self._recent.append((trainer.global_step, batch, loss))
        if loss.device.type == "cpu" or len(self._recent) == EVERY or trainer.is_last_batch:
            self._look()

    def _look(self) -> None:
        finite = torch.stack([loss for _, _, loss in self._recent]).isfinite().tolist()
        recent, self._recent = self._recent, []
        if all(finite):
            return
        step, batch, loss = recent[finite.index(False)]
        path = self.folder / f"step-{step}.txt"
        with atomic_write(path) as file:
            file.writelines(f"{line}\n" for line in self._lines("", batch))
        raise InputError(
            f"the loss of step {step} is {float(loss)}; the sentences of its batch are in {path}. "
            "Try a smaller objective.optimizer.lr"
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
