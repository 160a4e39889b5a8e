"""Runs of train.py on the device: the demo, a run that is resumed, and one under DDP."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import torch

from benchmarks.command import ROOT
from benchmarks.gpu.rows import Row, Time, difference
from benchmarks.gpu.sizes import QUICK, Sizes
from benchmarks.machine import DEVICE

EPOCHS = 2
DETERMINISTIC_ENVIRONMENT = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}  # or cuBLAS may sum in another order


def train(*settings: str) -> float:
    """`python train.py SETTINGS`; its seconds. Raises RuntimeError with the last line that a failed run prints."""
    started = time.perf_counter()
    command = [sys.executable, "train.py", *settings]
    ended = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=os.environ | DETERMINISTIC_ENVIRONMENT
    )
    if ended.returncode:
        raise RuntimeError(f"train.py ended with {ended.returncode}: {(ended.stderr or ended.stdout).strip()[-500:]}")
    return time.perf_counter() - started


def resumed(_: Sizes) -> Iterator[Row]:
    """A run that is resumed ends with the weights of one that is not interrupted, and both take the same batches."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        timed_run(folder, "whole", *QUICK)
        timed_run(folder, "resumed", *QUICK, epochs=1)
        train(f"resume={folder / 'resumed'}", f"trainer.max_epochs={EPOCHS}")
        after_resume, whole = final_weights(folder / "resumed"), final_weights(folder / "whole")
        yield difference("resumed and uninterrupted run: weights", after_resume, whole, 0.0)


def distributed(_: Sizes) -> Iterator[Row]:
    """A run in one process of DDP ends with the weights of a run without it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        timed_run(folder, "whole", *QUICK)
        timed_run(folder, "ddp", *QUICK, "trainer=ddp", "trainer.devices=1")
        yield difference(
            "DDP on one device: weights", final_weights(folder / "ddp"), final_weights(folder / "whole"), 1e-4
        )


def demo(sizes: Sizes) -> Iterator[Row]:
    """The seconds of the demo, with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        yield Time(f"{EPOCHS} epochs", timed_run(Path(folder), "demo", *sizes.demo))


def timed_run(folder: Path, name: str, *settings: str, epochs: int = EPOCHS) -> float:
    """The seconds of a run on the device; its folder is `folder / name`."""
    folders = [f"hydra.run.dir={folder / name}", f"cache={folder / 'cache'}"]
    return train(*folders, f"trainer.accelerator={DEVICE}", f"trainer.max_epochs={epochs}", *settings)


def final_weights(folder: Path) -> torch.Tensor:
    """All weights at the end of a run."""
    state = torch.load(folder / "checkpoints" / "last.ckpt", map_location="cpu", weights_only=True)["state_dict"]
    return torch.cat([tensor.flatten().float() for tensor in state.values()])
