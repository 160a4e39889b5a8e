"""Checkpoints that a kill at any time cannot corrupt."""

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
    """Writes a checkpoint to a temporary file, syncs it to disk, then renames it in one step.

    The checkpoint that was the last one before is kept as `previous.ckpt`, in case the disk corrupts the new one.
    """

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        path = Path(path)
        try:
            with atomic_write(path.with_name(f"{path.name}.new"), binary=True) as file:
                torch.save(checkpoint, file)
        except RuntimeError as error:  # torch raises this when a write fails
            raise OSError(errno.ENOSPC, f"the checkpoint could not be written ({error})", str(path)) from None
        if path.name == LAST and path.exists():
            keep(path, path.with_name(PREVIOUS))
        path.with_name(f"{path.name}.new").replace(path)

    def load_checkpoint(self, path: Any, *arguments: Any, **more: Any) -> dict[str, Any]:
        """Read a checkpoint and update the paths in it, so that a moved run folder works."""
        checkpoint = super().load_checkpoint(path, *arguments, **more)
        folder = os.path.realpath(Path(path).parent)
        for state in checkpoint.get("callbacks", {}).values():
            if "dirpath" in state:  # of a ModelCheckpoint, which drops its best score if the folder differs
                state.update(_moved(state, state["dirpath"], folder))
        return checkpoint


def _moved(value: Any, old: str, new: str) -> Any:
    """The same value; each path inside the folder `old` becomes a path inside `new`."""
    if isinstance(value, dict):
        return {_moved(key, old, new): _moved(held, old, new) for key, held in value.items()}
    if isinstance(value, str) and (value == old or value.startswith(f"{old}{os.sep}")):
        return new + value[len(old) :]
    return value


def keep(path: Path, other: Path) -> None:
    """Give a file a second name, in one step. A file that had this name before is replaced."""
    temporary = other.with_name(f".{other.name}.tmp")
    temporary.unlink(missing_ok=True)
    try:
        os.link(path, temporary)
    except OSError:  # a file system without links
        shutil.copyfile(path, temporary)
    temporary.replace(other)
    temporary.unlink(missing_ok=True)  # rename does nothing if both are names of the same file


def newest_whole(folder: Path, read: Callable[[Path], object]) -> Path | None:
    """The newest checkpoint, `last` or `previous`, that `read` can read; None if there is neither.

    If the last one is corrupt, logs a warning and renames it: otherwise the next save would keep it as `previous`.
    Raises the error of `read` if both are corrupt.
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
            logging.getLogger(__name__).warning("%s; renamed to %s; continuing from %s", refused, DAMAGED, path)
            with suppress(FileNotFoundError):  # another process has already renamed it
                (folder / LAST).replace(folder / DAMAGED)
        return path
    if refused:
        raise refused
    return None


class CheckpointEvery(pl.Callback):
    """Saves a checkpoint every n optimiser steps within an epoch, for long epochs.

    Does not save after the last step of an epoch: the end of the epoch validates and probes first, then saves.
    """

    def __init__(self, n: int | None, path: Path) -> None:
        self.n, self.path = n, path

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if self.n and trainer.global_step % self.n == 0 and not trainer.is_last_batch:
            trainer.save_checkpoint(self.path)
