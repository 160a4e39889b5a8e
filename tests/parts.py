"""The smallest objective of two parts, and its training with the callbacks of a run that have a state."""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from encoder_lab.training.checkpoints import AtomicCheckpoints, BestCheckpoint
from encoder_lab.training.schedules import Cosine, InferSent, InverseSquareRoot, Linear, Plateau, RateSchedule
from encoder_lab.training.stops import StopsEarly
from encoders.bov import BagOfVectors
from encoders.embedding import WordEmbedding
from objectives.objective import Objective
from tests.silent import QUIET

TORCH_OPTIMIZERS: dict[str, type[torch.optim.Optimizer]] = {
    name: cls
    for name, cls in vars(torch.optim).items()
    if isinstance(cls, type) and issubclass(cls, torch.optim.Optimizer) and cls is not torch.optim.Optimizer
}
SCHEDULES: dict[str, Callable[[], RateSchedule]] = {
    "constant": RateSchedule,
    "inverse_sqrt": lambda: InverseSquareRoot(4),
    "linear": lambda: Linear(2, 0.1, None),
    "cosine": lambda: Cosine(2, 0.0, None),
    "infersent": lambda: InferSent(0.99, 0.2, 1e-5),
    "plateau": lambda: Plateau(0.5, 0, 0.0),
}


class Parts(Objective):
    """Each step trains one of two parts, as the batch says."""

    score = "val/accuracy"

    def __init__(self, optimizer: Callable[..., torch.optim.Optimizer], freeze: bool) -> None:
        torch.manual_seed(0)
        super().__init__(BagOfVectors(3), WordEmbedding(np.ones((4, 3)), freeze=freeze), optimizer, seed=1)
        self.parts = nn.ModuleList([nn.Linear(3, 2), nn.Conv1d(1, 2, 3)])

    def training_step(self, batch: Tensor, _: int) -> Tensor:
        words = self.embedding(batch[None])
        loss: Tensor = self.parts[int(batch[0])](words).square().mean()
        self.log_score("train/loss", loss)
        self.log_score(self.score, -loss.detach())
        return loss


def trainer_in(folder: Path, schedule: str, epochs: int, *more: pl.Callback, precision: Any = None) -> pl.Trainer:
    """A trainer that writes best.ckpt and last.ckpt to a folder."""
    best = BestCheckpoint(
        folder, "best", monitor=Parts.score, mode="max", save_on_train_epoch_end=True, enable_version_counter=False
    )
    last = BestCheckpoint(folder, "last", save_on_train_epoch_end=True, enable_version_counter=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        callbacks = [SCHEDULES[schedule](), StopsEarly(Parts.score, "max", 9), *more, best, last]
        settings: dict[str, Any] = {"max_epochs": epochs, "precision": precision, "log_every_n_steps": 1}
        settings |= {**QUIET, "enable_checkpointing": True, "callbacks": callbacks, "plugins": [AtomicCheckpoints()]}
        return pl.Trainer(accelerator="cpu", **settings)


def fit(trainer: pl.Trainer, module: Parts, drawn: Sequence[int], checkpoint: Path | None = None) -> None:
    """Train on one batch for each drawn part an epoch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer.fit(module, DataLoader(torch.tensor(drawn), batch_size=1), ckpt_path=checkpoint, weights_only=True)
