"""Checkpoints that a kill at any time cannot corrupt."""

import errno
import logging
import math
import os
import shutil
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Checkpoint, ModelCheckpoint
from pytorch_lightning.plugins.io import TorchCheckpointIO

from encoder_lab.errors import InputError
from encoder_lab.storage.content import key_of
from encoder_lab.storage.files import disk_errors, flush_to_disk, refuse_link_or_device, temporary_path
from encoders.example import EXAMPLE_KEY, example_vectors
from encoders.load import interchangeable, read_checkpoint
from objectives.objective import Objective
from probes.callback import epochs_done

LAST, PREVIOUS, DAMAGED = "last.ckpt", "previous.ckpt", "last.ckpt.damaged"
BEFORE_CUT = "best.ckpt.before"  # the best of the whole epochs, where the run ended within a later one
CONTENT_KEY = "content"  # of the hash in a checkpoint: the file may be whole and its content changed


class AtomicCheckpoints(TorchCheckpointIO):
    """Writes to a temporary file, then renames it. The checkpoint before is kept as `previous.ckpt`."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        path = Path(path)
        refuse_link_or_device(path)
        with disk_errors(path), temporary_path(path) as work:
            try:
                with work.open("wb") as file:
                    torch.save({**checkpoint, CONTENT_KEY: content_hash(checkpoint)}, file)
            except RuntimeError as error:  # torch raises this when a write fails, and also when Ctrl-C stops one
                cause = error.__context__
                if isinstance(cause, KeyboardInterrupt):
                    raise KeyboardInterrupt from None
                if isinstance(cause, OSError):
                    raise cause from None
                raise OSError(errno.ENOSPC, f"the checkpoint could not be written ({error})", str(path)) from None
            flush_to_disk(work)
            if path.name == LAST and path.exists():
                _link_or_copy(path, path.with_name(PREVIOUS))
            work.replace(path)

    def remove_checkpoint(self, path: Any) -> None:
        """Delete a local file. Lightning has the path from a checkpoint, and checks that it begins with the folder."""
        if ".." not in Path(path).parts:
            Path(path).unlink(missing_ok=True)

    def load_checkpoint(self, path: Any, *arguments: Any, **keywords: Any) -> dict[str, Any]:
        """Read a checkpoint and update the paths in it, so that a moved run folder works."""
        checkpoint = super().load_checkpoint(path, *arguments, **keywords)
        folder = os.path.realpath(Path(path).parent)
        for state in checkpoint.get("callbacks", {}).values():
            if "dirpath" in state:  # of a ModelCheckpoint, which drops its best score if the folder differs
                state.update(_with_moved_paths(state, state["dirpath"], folder))
        return checkpoint


def _link_or_copy(path: Path, copy: Path) -> None:
    """Give a file a second name, so that what replaces it leaves its content there."""
    copy.unlink(missing_ok=True)
    try:
        os.link(path, copy)
    except OSError:  # a file system without links
        shutil.copyfile(path, copy)


def _with_moved_paths(value: Any, old: str, new: str) -> Any:
    """The same value; each path inside the folder `old` becomes a path inside `new`."""
    if isinstance(value, dict):
        return {_with_moved_paths(key, old, new): _with_moved_paths(inner, old, new) for key, inner in value.items()}
    if isinstance(value, str) and (value == old or value.startswith(f"{old}{os.sep}")):
        return new + value[len(old) :]
    return value


def content_hash(checkpoint: Mapping[str, Any]) -> str:
    """Of all values and of the shapes and dtypes of tensors; the checksums of the file cover their numbers."""
    return key_of(_describe({name: value for name, value in checkpoint.items() if name != CONTENT_KEY}))


def _describe(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return f"{value.dtype} {tuple(value.shape)}"
    if isinstance(value, Mapping):
        return {repr(key): _describe(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return list(map(_describe, value))
    return sorted(map(repr, value)) if isinstance(value, set | frozenset) else repr(value)


def read_resumable(path: Path, module: Objective) -> dict[str, Any]:
    """The checkpoint at `path`. Raises InputError if it is not as it was written, or has the weights of another run."""
    checkpoint = read_checkpoint(path)
    weights, stored = module.state_dict(), checkpoint["state_dict"]
    if stored.keys() != weights.keys() or any(not interchangeable(weights[name], stored[name]) for name in weights):
        raise InputError(f"{path}: not a checkpoint of this run: it has other weights")
    if checkpoint.get(CONTENT_KEY) != content_hash(checkpoint):
        raise InputError(f"{path}: not a checkpoint as it was written: its content has changed")
    return checkpoint


def newest_readable_checkpoint(folder: Path, read: Callable[[Path], object]) -> Path | None:
    """The newest checkpoint that `read` can read, or None; a corrupt last one is renamed. Raises if both are."""
    paths = [folder / name for name in (LAST, PREVIOUS) if (folder / name).exists()]
    refused: InputError | None = None
    for path in paths:
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
        names = " and ".join(path.name for path in paths)
        raise InputError(f"{refused}; where none is left, delete {names}, and resume= begins again")
    return None


class BestCheckpoint(ModelCheckpoint):
    """Of equal scores the lowest loss, then the last; restores `current_score`, as if it never stopped."""

    best_loss = math.inf

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Where the run ends within an epoch, only the best: `CheckpointEvery` has saved what it resumes from.

        A resumed run replaces that epoch, and its best with what was the best before.
        """
        if self.monitor and trainer.is_global_zero:
            best, before = Path(self.dirpath or "") / f"{self.filename}.ckpt", Path(self.dirpath or "") / BEFORE_CUT
            if before.exists():
                before.replace(best)
                before.unlink(missing_ok=True)  # a rename leaves two names of one file: the cut epoch was not better
            if best.exists() and not trainer.is_last_batch:
                _link_or_copy(best, before)
        if self.monitor or trainer.is_last_batch:
            super().on_train_epoch_end(trainer, pl_module)

    def check_monitor_top_k(self, trainer: pl.Trainer, current: torch.Tensor | None = None) -> bool:
        metrics = trainer.callback_metrics
        loss = float(metrics.get(f"{(self.monitor or '').rpartition('/')[0]}/loss", math.inf))
        equal = current is not None and self.best_model_score is not None and bool(current == self.best_model_score)
        better = super().check_monitor_top_k(trainer, current) or (equal and loss <= self.best_loss)
        self.best_loss = loss if better else self.best_loss
        return better

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | {"best_loss": self.best_loss}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self.current_score = state_dict["current_score"]
        self.best_loss = state_dict["best_loss"]


class CheckpointEvery(Checkpoint):
    """Saves every n steps within an epoch, and where `max_steps` or `max_time` end it; its end probes before."""

    def __init__(self, n: int | None, path: Path) -> None:
        self.n, self.path = n, path
        self._epochs: float | None = None  # while it saves within one

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        if trainer.is_last_batch:
            return
        if trainer.global_step == trainer.max_steps:
            trainer.val_check_batch = batch_idx + 1  # or the scores of this epoch would be those of the one before
        ends = trainer.global_step == trainer.max_steps or trainer.fit_loop.epoch_loop.done
        if ends or (self.n and trainer.global_step % self.n == 0):
            self._epochs = epochs_done(trainer, batch_idx)
            trainer.save_checkpoint(self.path)
            self._epochs = None

    def on_save_checkpoint(self, trainer: pl.Trainer, pl_module: Any, checkpoint: dict[str, Any]) -> None:
        if self._epochs is not None:  # else Lightning's count of epochs is right
            checkpoint["epochs_done"] = self._epochs


class KeptWeights(pl.Callback):
    """Keeps the weights alone, after `steps` and every n-th epoch with the first and last (None: no epoch)."""

    def __init__(self, folder: Path, every: int | None, steps: Collection[int]) -> None:
        self.folder, self.every, self.steps = folder, every, frozenset(steps)

    def on_train_start(self, trainer: pl.Trainer, pl_module: Any) -> None:
        if self.every and trainer.global_step == 0:
            self._save_weights(trainer, pl_module, "epoch-0", 0)

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        if trainer.global_step in self.steps:
            epochs = trainer.current_epoch + 1 if trainer.is_last_batch else epochs_done(trainer, batch_idx)
            self._save_weights(trainer, pl_module, f"step-{trainer.global_step}", epochs)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: Any) -> None:
        epoch = trainer.current_epoch + 1
        cut = (self.folder / f"epoch-{epoch}.ckpt").exists()  # by the end of the run, before it was resumed
        if self.every and (epoch % self.every == 0 or epoch == trainer.max_epochs or cut):
            self._save_weights(trainer, pl_module, f"epoch-{epoch}", epoch)

    def on_train_end(self, trainer: pl.Trainer, pl_module: Any) -> None:
        """Also the last epoch if training ended early."""
        name = f"epoch-{trainer.current_epoch}"
        if self.every and not (self.folder / f"{name}.ckpt").exists():
            self._save_weights(trainer, pl_module, name, trainer.current_epoch)

    def _save_weights(self, trainer: pl.Trainer, pl_module: Any, name: str, epochs: float) -> None:
        if trainer.is_global_zero:
            save_weights(pl_module, self.folder / f"{name}.ckpt", epochs, trainer.global_step)


def save_weights(module: Objective, path: Path, epochs: float, step: int) -> None:
    """A checkpoint of the weights alone, to load the encoder from."""
    state = {"state_dict": module.state_dict(), EXAMPLE_KEY: example_vectors(module.encoder, module.embedding.dim)}
    counts = {"epoch": int(epochs), "epochs_done": epochs, "global_step": step}
    AtomicCheckpoints().save_checkpoint(state | counts, path)


def disk_use_line(every: int | None, steps: int, epochs: int, module: pl.LightningModule, run: Path) -> str:
    """What checkpoints take on the disk, in one line: weights of every `every`-th epoch and of `steps` steps."""
    weights = sum(value.nbytes for value in module.state_dict().values())
    ends = 1 + -(-epochs // every) if every else 0
    # Adam has two numbers per weight
    line = f"checkpoints: best, last and the one before, up to {readable_size(9 * weights)}"
    if count := ends + steps:
        parts = [f"{ends} epochs"] * bool(ends) + [f"{steps} steps"] * bool(steps)
        if epochs < 0 and ends:
            parts, count = ["each epoch"], 1
        sizes = f"{readable_size(weights)} each, {readable_size(count * weights)} in all"
        line += f"; weights of {' and '.join(parts)}, {sizes}"
    return f"{line} ({readable_size(shutil.disk_usage(run).free)} free)"


def readable_size(count: float) -> str:
    """A number of bytes for a person: 12 MB."""
    units = ("kB", "MB", "GB", "TB")
    power = min(len(units) - 1, max(0, int(math.log(max(count, 1), 1000)) - 1))
    return f"{count / 1000 ** (power + 1):.3g} {units[power]}"
