"""What a run records and shows of its epochs, from 1: metrics.csv and the loggers, a bar in a terminal, else lines."""

import math
import time
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import TQDMProgressBar

from datamodules.batches import PartBatch
from encoder_lab.errors import InputError
from encoder_lab.progress import Progress, duration
from encoder_lab.storage.csv_files import upsert_csv
from encoder_lab.training.devices import rank_zero_print
from objectives.objective import Objective
from probes.callback import ProbingCallback
from probes.facts import unit_of
from probes.results import seconds_by_suite

MAX_TASKS = 4  # in the line of an epoch


def epoch_of(trainer: pl.Trainer, epoch: int | None = None) -> str:
    """epoch 2/10, by default the present one; without the 10 where there is no end."""
    number, end = trainer.current_epoch + 1 if epoch is None else epoch, trainer.max_epochs or -1
    return f"epoch {number}" + (f"/{end}" if end > 0 else "")


def steps_left(trainer: pl.Trainer) -> float:
    """How many steps `trainer.max_steps` still allows; infinite without it."""
    return trainer.max_steps - trainer.global_step if trainer.max_steps >= 0 else math.inf


def epochs_left(trainer: pl.Trainer) -> float:
    """How many epochs follow this one, by `trainer.max_epochs` and `trainer.max_steps`; 0 where there is no end."""
    end = trainer.max_epochs or -1
    by_epochs = end - trainer.current_epoch - 1 if end > 0 else math.inf
    epochs = min(by_epochs, steps_left(trainer) / trainer.num_training_batches)
    return 0.0 if math.isinf(epochs) else epochs


class EpochsFrom1(TQDMProgressBar):
    """Lightning's bar, with its epochs counted from 1."""

    def on_train_epoch_start(self, trainer: pl.Trainer, *arguments: object) -> None:
        super().on_train_epoch_start(trainer, *arguments)
        self.train_progress_bar.set_description(epoch_of(trainer).capitalize())


class StepProgress(pl.Callback):
    """Where stdout is no terminal: a line every half minute. `validated`: what is scored, where nothing is trained."""

    def __init__(self, validated: str = "") -> None:
        self.validated = validated
        self._bar: Progress | None = None

    def on_train_batch_start(self, trainer: pl.Trainer, pl_module: Any, batch: Any, batch_idx: int) -> None:
        if self._bar is None:  # not at the start of the epoch: a resumed one starts at another batch
            total = min(trainer.num_training_batches, batch_idx + steps_left(trainer))
            self._start_bar(trainer, epoch_of(trainer), "steps", total, batch_idx)

    def on_validation_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._close()
        if not trainer.sanity_checking:
            name = self.validated or f"{epoch_of(trainer)}, dev"
            self._start_bar(trainer, name, "batches", sum(trainer.num_val_batches))

    def on_train_batch_end(self, *_: Any, **__: Any) -> None:
        if self._bar is not None:
            self._bar.update()

    def _close(self, *_: Any, **__: Any) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    on_validation_batch_end = on_train_batch_end
    on_validation_end = on_train_epoch_end = on_train_end = on_exception = _close

    def _start_bar(self, trainer: pl.Trainer, name: str, unit: str, total: float, initial: int = 0) -> None:
        end = None if math.isinf(total) else int(total)
        hide = None if trainer.is_global_zero else True
        self._bar = Progress(total=end, initial=initial, desc=name, unit=f" {unit}", leave=False, disable=hide)


class RunLog(pl.Callback):
    """Writes training and validation scores at the end of each epoch. A resumed run does not repeat rows."""

    def __init__(self, metrics: Path) -> None:
        self.metrics = metrics
        self.row: dict[str, float] = {}  # of the last epoch
        self._started = time.monotonic()
        self._settings = metrics.parent / "config.yaml"
        self._has_settings = self._settings.exists()

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._started = time.monotonic()
        trainer.callback_metrics.clear()  # Lightning keeps those of a part that is in no batch of the new epoch

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        score, scores = str(pl_module.score), trainer.callback_metrics
        if score.startswith("val/") and score not in scores:  # else a callback would ask for it after the epoch
            recorded = ", ".join(name for name in scores if name.startswith("val/")) or "nothing"
            raise InputError(f"{type(pl_module).__name__}.score: validation records no {score}; it records {recorded}")

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: Any, outputs: Any, batch: Any, *_: Any) -> None:
        every = trainer.log_every_n_steps  # type: ignore[attr-defined]
        if every and trainer.global_step % every == 0:
            loss = float(trainer.strategy.reduce(outputs["loss"].clone(), reduce_op="mean"))  # of the global batch
            part = f"{[*pl_module.parts][batch.part]}/" if isinstance(batch, PartBatch) else ""
            for logger in trainer.loggers:
                logger.log_metrics({f"train/{part}step_loss": loss}, step=trainer.global_step)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if trainer.is_global_zero and self._has_settings and not self._settings.exists():
            gone = f"{self._settings.parent}: the folder of this run was deleted or renamed while it trained"
            raise InputError(f"{gone}; continue from its last checkpoint with resume= and its new path")
        epoch = trainer.current_epoch + 1
        logged = {name: float(value) for name, value in trainer.callback_metrics.items()}
        means = pl_module.train_means() if isinstance(pl_module, Objective) else {}
        scores = dict(sorted({**logged, **means}.items()))
        seconds = time.monotonic() - self._started
        for logger in trainer.loggers:
            logger.log_metrics(scores | {"time/epoch": seconds}, step=epoch)
        self.row = {"epoch": epoch, "step": trainer.global_step, **scores, "seconds": seconds}
        if trainer.is_global_zero:
            upsert_csv(self.metrics, [self.row], key=("epoch",))


class EpochLines(pl.Callback):
    """A line after each epoch, of what `record` and `probing`, which run before, have: scores, tasks, time."""

    def __init__(self, record: RunLog, probing: ProbingCallback) -> None:
        self.record, self.probing = record, probing
        self._run = record.metrics.parent  # several may print to one terminal or file
        self._started = self._epoch_started = time.monotonic()
        self._epochs = 0  # since this process started

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if trainer.global_step == 0:
            name = f"{self._run}: {epoch_of(trainer, 0)}"
            rank_zero_print("  ".join([name, "before training", *self._task_texts(0)]))
        self._started = self._epoch_started = time.monotonic()

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        epoch, now = trainer.current_epoch + 1, time.monotonic()
        self._epochs += 1
        scores = [*self._score_texts(pl_module), *self._task_texts(epoch)]
        parts = [f"{self._run}: {epoch_of(trainer)}", *scores, duration(now - self._epoch_started)]
        seconds = (now - self._started) / self._epochs * epochs_left(trainer)
        if seconds > 0 and not trainer.should_stop:
            parts[-1] += f", {duration(seconds)} left"
        self._epoch_started = now
        rank_zero_print("  ".join(parts))

    def _score_texts(self, module: Any) -> list[str]:
        assert isinstance(module, Objective)
        score = module.score.removeprefix("val/").replace("/", " ")  # of multitask with the part
        names = {"train/loss": "loss", module.score: f"dev {score}" if score.endswith("loss") else score}
        return [f"{name} {self.record.row[key]:.4g}" for key, name in names.items() if key in self.record.row]

    def _task_texts(self, epoch: int) -> list[str]:
        latest = [row for row in self.probing.latest_rows if row.epoch == epoch]
        rows = [row for row in latest if not unit_of(row.suite, row.classifier)]
        times = {**seconds_by_suite(latest), "now with encoding": self.probing.seconds}
        costs = [", ".join(f"{name} {seconds:.1f} s" for name, seconds in times.items())] if len(times) > 2 else []
        return [*(f"{row.task} {row.test_accuracy:z.1f}" for row in rows[:MAX_TASKS]), *costs]
