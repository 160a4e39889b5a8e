"""Callbacks that end a run: after Ctrl-C, at a loss that is not finite, without a better score; before it begins."""

import signal
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import EarlyStopping
from torch import Tensor

from datamodules.base import ResumableData
from encoder_lab.errors import InputError
from encoder_lab.storage.files import atomic_write
from encoder_lab.training.devices import rank_zero_print


class StopsOnInterrupt(pl.Callback):
    """Raises a Ctrl-C again at the next step: Python drops it in destructors and in callbacks from C."""

    def __init__(self) -> None:
        self.seen = False
        self._previous: Any = signal.default_int_handler

    def setup(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:
        self._previous = signal.getsignal(signal.SIGINT)
        # Python allows it only in the main thread; a process started in the background ignores Ctrl-C
        if threading.current_thread() is threading.main_thread() and self._previous is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._handle_interrupt)

    def on_train_batch_start(self, *_: Any) -> None:
        if self.seen:
            raise KeyboardInterrupt

    on_validation_batch_start = on_train_end = on_train_batch_start  # type: ignore[assignment]

    def teardown(self, *_: Any, **__: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._previous)

    def _handle_interrupt(self, number: int, frame: FrameType | None) -> None:
        self.seen = True
        raise KeyboardInterrupt


class StopsIfNotFinite(pl.Callback):
    """Checks every loss. At the first that is not finite, writes the sentences of its batch to `folder` and raises.

    After that no checkpoint is written, and no epoch is recorded or probed. Weights and scores are checked too: a
    finite loss can lead to weights that are not. With several processes, each writes the sentences of its own batch.
    `every`: steps between checks.
    """

    def __init__(self, data: ResumableData, folder: Path, every: int) -> None:
        self.data, self.folder, self.every = data, folder, every
        self._recent: list[tuple[int, Any, Tensor]] = []  # step, batch, loss: not checked yet
        self._last: tuple[int, Any] = (0, None)  # step and batch

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: Any, outputs: Any, batch: Any, *_: Any) -> None:
        self._last = (trainer.global_step, batch)
        self._recent.append((*self._last, outputs["loss"].detach()))
        if len(self._recent) == self.every or trainer.is_last_batch:
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

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Where `min_epochs` or `min_steps` did not let the run end, its later scores decide when it does."""
        trainer.should_stop &= self.wait_count < self.patience


class StepsAreReached(pl.Callback):
    """Raises InputError before the first step if a setting names a step that the run does not reach."""

    def __init__(self, settings: Mapping[str, Sequence[int]]) -> None:
        self.settings = settings

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        end = trainer.estimated_stepping_batches
        for name, last in {"max_steps": end, "min_steps": end, "min_epochs": trainer.max_epochs or -1}.items():
            if (number := getattr(trainer, name) or 0) > last >= 0:
                ends = f"the run ends after {last} {name[4:]}, by trainer.max_epochs= or max_steps="
                rank_zero_print(f"trainer.{name}={number}: {ends}")
        for name, steps in self.settings.items():
            if trainer.global_step == 0 and (beyond := [step for step in steps if step > end]):
                raise InputError(f"{name}: the run has {end} steps, so it never reaches step {beyond[0]}")
