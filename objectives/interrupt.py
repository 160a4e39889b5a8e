"""Ctrl-C ends training wherever it arrives."""

import signal
import threading
from types import FrameType
from typing import Any

import pytorch_lightning as pl


class StopsOnInterrupt(pl.Callback):
    """Remembers a Ctrl-C and raises it again at the next step.

    Python drops an exception that is raised in a destructor or in a callback from C with no more than a line on
    stderr; a Ctrl-C that falls there would be lost.
    """

    def __init__(self) -> None:
        self.seen = False

    def setup(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._interrupted)

    def on_train_batch_start(self, *_: Any) -> None:
        self._raise_if_seen()

    def on_validation_batch_start(self, *_: Any) -> None:
        self._raise_if_seen()

    def on_train_end(self, *_: Any) -> None:
        self._raise_if_seen()

    def teardown(self, *_: Any, **__: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        self.seen = True
        raise KeyboardInterrupt

    def _raise_if_seen(self) -> None:
        if self.seen:
            raise KeyboardInterrupt
