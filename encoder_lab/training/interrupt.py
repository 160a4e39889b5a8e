"""Ctrl-C always ends training."""

import signal
import threading
from types import FrameType
from typing import Any

import pytorch_lightning as pl


class StopsOnInterrupt(pl.Callback):
    """Raises a Ctrl-C again at the next step: Python drops it in destructors and in callbacks from C."""

    def __init__(self) -> None:
        self.seen = False
        self._previous: Any = signal.default_int_handler

    def setup(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:
        self._previous = signal.getsignal(signal.SIGINT)
        # a process started in the background ignores Ctrl-C
        if _may_set_handlers() and self._previous is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._handle_interrupt)

    def on_train_batch_start(self, *_: Any) -> None:
        if self.seen:
            raise KeyboardInterrupt

    on_validation_batch_start = on_train_end = on_train_batch_start  # type: ignore[assignment]

    def teardown(self, *_: Any, **__: Any) -> None:
        if _may_set_handlers():
            signal.signal(signal.SIGINT, self._previous)

    def _handle_interrupt(self, number: int, frame: FrameType | None) -> None:
        self.seen = True
        raise KeyboardInterrupt


def _may_set_handlers() -> bool:
    """Whether we may set signal handlers: Python allows it only in the main thread."""
    return threading.current_thread() is threading.main_thread()
