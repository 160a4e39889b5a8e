"""One line for each epoch, where no terminal shows a progress bar: SLURM logs, CI."""

import sys
import time
from pathlib import PurePosixPath
from typing import Any

import pytorch_lightning as pl

from encoder_lab.progress import duration
from encoder_lab.training.devices import rank_zero_print
from encoder_lab.training.progress import epochs_left
from encoder_lab.training.run_log import RunLog
from objectives.objective import Objective
from probes.callback import ProbingCallback
from probes.facts import unit_of
from probes.results import seconds_by_suite

MAX_TASKS = 4  # in a line


def prints_epoch_lines(progress_bar: bool) -> bool:
    """Whether a run prints lines instead of a progress bar."""
    return not (sys.stdout.isatty() and progress_bar)


class EpochLines(pl.Callback):
    """A line after each epoch, of what `record` and `probing`, which run before, have: scores, tasks, time."""

    def __init__(self, record: RunLog, probing: ProbingCallback) -> None:
        self.record, self.probing = record, probing
        self._started = self._epoch_started = time.monotonic()
        self._epochs = 0  # since this process started

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if trainer.global_step == 0:
            rank_zero_print("  ".join([self._epoch_name(trainer, 0), "before training", *self._task_texts(0)]))
        self._started = self._epoch_started = time.monotonic()

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        epoch, now = trainer.current_epoch + 1, time.monotonic()
        self._epochs += 1
        scores = [*self._score_texts(pl_module), *self._task_texts(epoch)]
        parts = [self._epoch_name(trainer, epoch), *scores, duration(now - self._epoch_started)]
        seconds = (now - self._started) / self._epochs * epochs_left(trainer)
        if seconds > 0 and not trainer.should_stop:
            parts[-1] += f", {duration(seconds)} left"
        self._epoch_started = now
        rank_zero_print("  ".join(parts))

    def _score_texts(self, module: Any) -> list[str]:
        assert isinstance(module, Objective)
        score = PurePosixPath(module.score).name
        names = {"train/loss": "loss", module.score: f"dev {score}" if score == "loss" else score}
        return [f"{name} {self.record.row[key]:.4g}" for key, name in names.items() if key in self.record.row]

    def _task_texts(self, epoch: int) -> list[str]:
        latest = [row for row in self.probing.latest_rows if row.epoch == epoch]
        rows = [row for row in latest if not unit_of(row.suite, row.classifier)]
        times = {**seconds_by_suite(latest), "now with encoding": self.probing.seconds}
        costs = [", ".join(f"{name} {seconds:.1f} s" for name, seconds in times.items())] if len(times) > 2 else []
        return [*(f"{row.task} {row.test_accuracy:z.1f}" for row in rows[:MAX_TASKS]), *costs]

    def _epoch_name(self, trainer: pl.Trainer, epoch: int) -> str:
        """With the run, as several may print to one terminal or file."""
        last = trainer.max_epochs or -1
        return f"{self.record.metrics.parent}: epoch {epoch}" + (f"/{last}" if last > 0 else "")
