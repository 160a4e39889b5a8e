"""What a run adds to its TensorBoard page in addition to the loggers' curves.

TensorBoard draws a line for each folder, in a colour of its own, and a chart for each tag. So each task has a folder,
`tensorboard/<task>`, and all tasks of a suite share one tag: a chart with a line, a colour and a name for each task.
The loggers' charts of single tasks remain: they compare runs.

TensorBoard leaves the lowest and highest 5% of the points of a chart outside of it, and of several points of a line at
one step it reads the last. Lines at the ends of the axis have more than 5% of the points, so that all are inside: at 0
and 100 for scores in percent and points, and at the extremes of all other curves.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
from PIL import Image
from pytorch_lightning.loggers import TensorBoardLogger
from pytorch_lightning.utilities import rank_zero_only
from torch.utils.tensorboard import SummaryWriter

from probes.callback import ProbingCallback
from probes.facts import unit_of
from probes.geometry.history import LAST
from probes.results import ProbeRow, read_rows

FRAME_LINES = {"0": 0.0, "100": 100.0, "bottom": 0.0, "top": 100.0}  # folders of the lines of scores in percent
LOWEST, HIGHEST = "lowest", "highest"  # folders of those of all other curves
AXIS_MARGIN = 0.05  # of the axis, beyond a new extreme, so that the lines seldom change
CHART_GROUP = "all tasks"  # the group of charts that is first on the page


def add_settings(folder: Path, settings: str) -> None:
    """At the start: the run's settings as text."""
    with SummaryWriter(str(folder)) as writer:
        writer.add_text("settings", "\n".join(f"    {line}" for line in settings.splitlines()))


def add_picture(folder: Path, picture: Path, epoch: int) -> None:
    """The picture of the curves after an epoch, at half its size: a page shows it small."""
    image = Image.open(picture).convert("RGB").reduce(2)
    with SummaryWriter(str(folder)) as writer:
        writer.add_image("curves", np.asarray(image), epoch, dataformats="HWC")


class FramedLogger(TensorBoardLogger):
    """Lightning's logger, with two lines at the extremes of each curve, from its first step to its last."""

    def __init__(self, run: Path) -> None:
        super().__init__(run, name="tensorboard", version="")
        self._ends: dict[str, dict[str, float]] = {}  # of each curve: the height of both lines
        self._steps: dict[str, list[int]] = {}
        self._lines: dict[str, SummaryWriter] = {}

    @property
    def log_dir(self) -> str:
        """The folder; Lightning's would take a $ or ~ in its name for a variable."""
        return self.root_dir

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        super().log_metrics(dict(metrics), step)
        for tag, value in metrics.items():
            if step is not None and math.isfinite(value):
                self._extend_frame(tag, float(value), step)

    @rank_zero_only
    def finalize(self, status: str) -> None:
        super().finalize(status)
        for line in self._lines.values():
            line.close()

    def _extend_frame(self, tag: str, value: float, step: int) -> None:
        ends = self._ends.setdefault(tag, {LOWEST: value, HIGHEST: value})
        steps = self._steps.setdefault(tag, [])
        steps.append(step)
        span = AXIS_MARGIN * (max(value, ends[HIGHEST]) - min(value, ends[LOWEST]))
        for name, sign in ((LOWEST, -1), (HIGHEST, 1)):
            line = self._lines.get(name) or SummaryWriter(str(Path(self.log_dir) / name))
            self._lines[name] = line
            beyond = sign * value > sign * ends[name]
            if beyond:
                ends[name] = value + sign * span
            for point in steps if beyond else [step]:  # an earlier step replaces all that were written after it
                line.add_scalar(tag, ends[name], point)


class TaskCharts(pl.Callback):
    """A point in each suite's chart after each probing; the picture that `draw` makes after each epoch."""

    def __init__(self, probing: ProbingCallback, folder: Path, draw: Callable[[], Path]) -> None:
        self.probing, self.folder, self.draw = probing, folder, draw
        self._writers: dict[str, SummaryWriter] = {}
        self._written: Sequence[ProbeRow] = ()

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        rows = self.probing.latest_rows
        if rows is not self._written and trainer.is_global_zero:
            self._written = rows
            self._add_rows(rows)

    on_train_start = on_train_batch_end  # type: ignore[assignment]

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self.on_train_batch_end(trainer)
        if trainer.is_global_zero:
            add_picture(self.folder, self.draw(), trainer.current_epoch + 1)

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self.on_train_batch_end(trainer)
        if trainer.is_global_zero:  # of all epochs: what the last one is was not known before
            self._add_rows([row for row in read_rows(self.probing.results) if row.task == LAST])
        for writer in self._writers.values():
            writer.close()

    def _add_rows(self, rows: Iterable[ProbeRow]) -> None:
        for row in rows:
            within, unit = isinstance(row.epoch, float), unit_of(row.suite, row.classifier)
            chart = f"{row.suite} {unit}".rstrip()
            tag = f"{CHART_GROUP}/{chart}{' by step' if within else ''}"
            step = row.step if within else int(row.epoch)
            self._add_point(row.task, tag, row.test_accuracy, step)
            for name, level in FRAME_LINES.items() if unit in ("", "points") else ():
                self._add_point(name, tag, level, step)

    def _add_point(self, folder: str, tag: str, value: float, step: int) -> None:
        writer = self._writers.get(folder) or SummaryWriter(str(self.folder / folder))
        self._writers[folder] = writer
        writer.add_scalar(tag, value, step)
        writer.flush()
