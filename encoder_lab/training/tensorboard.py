"""What a run adds to its TensorBoard page in addition to the loggers' curves.

TensorBoard draws a line for each folder, in a colour of its own, and a chart for each tag. So each task has a folder,
`tensorboard/<task>`, and all tasks of a suite share one tag: a chart with a line, a colour and a name for each task.
The loggers' charts of single tasks remain: they compare runs.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
from PIL import Image
from torch.utils.tensorboard import SummaryWriter

from probes.callback import ProbingCallback
from probes.facts import unit_of
from probes.geometry.history import LAST
from probes.results import ProbeRow, read_rows

CHARTS = "all tasks"  # the group of charts that is first on the page


def open_page(folder: Path, settings: str) -> None:
    """At the start: the run's settings as text."""
    with SummaryWriter(str(folder)) as writer:
        writer.add_text("settings", "\n".join(f"    {line}" for line in settings.splitlines()))


def add_picture(folder: Path, picture: Path, epoch: int) -> None:
    """The picture of the curves after an epoch, at half its size: a page shows it small."""
    image = Image.open(picture).convert("RGB").reduce(2)
    with SummaryWriter(str(folder)) as writer:
        writer.add_image("curves", np.asarray(image), epoch, dataformats="HWC")


class TaskCharts(pl.Callback):
    """After each probing: a point in the chart of each suite; after each epoch: the picture of the curves.

    `draw` draws the picture from the files of the run and returns its path.
    """

    def __init__(self, probing: ProbingCallback, folder: Path, draw: Callable[[], Path]) -> None:
        self.probing, self.folder, self.draw = probing, folder, draw
        self._writers: dict[str, SummaryWriter] = {}
        self._shown: Sequence[ProbeRow] = ()

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._show(trainer)

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        self._show(trainer)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._show(trainer)
        if trainer.is_global_zero:
            add_picture(self.folder, self.draw(), trainer.current_epoch + 1)

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._show(trainer)
        if trainer.is_global_zero:  # of all epochs: what the last one is was not known before
            self._add([row for row in read_rows(self.probing.results) if row.task == LAST])
        for writer in self._writers.values():
            writer.close()

    def _show(self, trainer: pl.Trainer) -> None:
        rows = self.probing.latest
        if rows is self._shown or not trainer.is_global_zero:
            return
        self._shown = rows
        self._add(rows)

    def _add(self, rows: Iterable[ProbeRow]) -> None:
        for row in rows:
            writer = self._writers.get(row.task) or SummaryWriter(str(self.folder / row.task))
            self._writers[row.task] = writer
            within = isinstance(row.epoch, float)
            chart = " ".join(filter(None, [row.suite, unit_of(row.suite, row.classifier)]))
            tag = f"{CHARTS}/{chart}{' by step' if within else ''}"
            writer.add_scalar(tag, row.test_accuracy, row.step if within else row.epoch)
            writer.flush()
