"""Checkpoints that a kill at any moment cannot damage."""

import errno
import logging
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.plugins.io import TorchCheckpointIO

from common.errors import InputError
from common.files import atomic_write

LAST, PREVIOUS, DAMAGED = "last.ckpt", "previous.ckpt", "last.ckpt.damaged"


class AtomicCheckpoints(TorchCheckpointIO):
    """Writes a checkpoint beside its place, makes it durable, then moves it there in one step.

    What was the last checkpoint until then stays as `previous.ckpt`, for a disk that damages the newer one.
    """

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        path = Path(path)
        try:
            with atomic_write(path.with_name(f"{path.name}.new"), binary=True) as file:
                torch.save(checkpoint, file)
        except RuntimeError as error:  # torch's name for a write that failed
            raise OSError(errno.ENOSPC, f"the checkpoint could not be written ({error})", str(path)) from None
        if path.name == LAST and path.exists():
            keep(path, path.with_name(PREVIOUS))
        path.with_name(f"{path.name}.new").replace(path)

    def load_checkpoint(self, path: Any, *arguments: Any, **more: Any) -> dict[str, Any]:
        """Read a checkpoint; what it says of the files beside it holds also after the folder was moved."""
        checkpoint = super().load_checkpoint(path, *arguments, **more)
        folder = os.path.realpath(Path(path).parent)
        for state in checkpoint.get("callbacks", {}).values():
            if "dirpath" in state:  # of a ModelCheckpoint, which forgets its best score where that differs
                state.update(_moved(state, state["dirpath"], folder))
        return checkpoint


def _moved(value: Any, old: str, new: str) -> Any:
    """The same with every path in the folder `old` as one in the folder `new`."""
    if isinstance(value, dict):
        return {_moved(key, old, new): _moved(held, old, new) for key, held in value.items()}
    if isinstance(value, str) and (value == old or value.startswith(f"{old}{os.sep}")):
        return new + value[len(old) :]
    return value


def keep(path: Path, other: Path) -> None:
    """Give a file a second name; whatever had it before loses it in the same moment."""
    beside = other.with_name(f".{other.name}.tmp")
    beside.unlink(missing_ok=True)
    try:
        os.link(path, beside)
    except OSError:  # a file system without links
        shutil.copyfile(path, beside)
    beside.replace(other)
    beside.unlink(missing_ok=True)  # which is still there if both were names of one file


def newest_whole(folder: Path, read: Callable[[Path], object]) -> Path | None:
    """The last checkpoint that `read` can read, of last and previous; None before the first.

    Where it is not the last, says so and sets the last aside: the next one saved would make it the previous one.
    Raises what `read` raised where there is none.
    """
    there = [folder / name for name in (LAST, PREVIOUS) if (folder / name).exists()]
    refused: InputError | None = None
    for path in there:
        try:
            read(path)
        except InputError as error:
            refused = refused or error
            continue
        if refused:
            logging.getLogger(__name__).warning("%s; it is now %s; going on from %s", refused, DAMAGED, path)
            with suppress(FileNotFoundError):  # another of the processes was first
                (folder / LAST).replace(folder / DAMAGED)
        return path
    if refused:
        raise refused
    return None


class CheckpointEvery(pl.Callback):
    """Saves every n optimiser steps within an epoch, for epochs that are too long to lose.

    Never after an epoch's last step: that state belongs to the epoch's end, which validates and probes first.
    """

    def __init__(self, n: int | None, path: Path) -> None:
        self.n, self.path = n, path

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if self.n and trainer.global_step % self.n == 0 and not trainer.is_last_batch:
            trainer.save_checkpoint(self.path)
