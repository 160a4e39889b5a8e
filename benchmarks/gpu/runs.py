"""Runs of train.py on the device: the demo, a run that is resumed, and one under DDP."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import torch

from benchmarks.gpu.rows import Difference, Row, Time, apart
from benchmarks.gpu.sizes import QUICK, TINY, Sizes
from benchmarks.machine import DEVICE

ROOT = Path(__file__).parents[2]
EPOCHS = 2
EXACT = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}  # or cuBLAS may sum in another order


def train(*settings: str) -> float:
    """`python train.py SETTINGS`; its seconds. Raises RuntimeError with the last line that a failed run prints."""
    started = time.perf_counter()
    command = [sys.executable, "train.py", *settings]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=os.environ | EXACT)
    if done.returncode:
        raise RuntimeError(f"train.py ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}")
    return time.perf_counter() - started


def runs(sizes: Sizes) -> Iterator[Row]:
    """The seconds of the demo, and the weights of runs that should end alike."""
    with tempfile.TemporaryDirectory() as folder:
        cache = f"cache={folder}/cache"

        def run(name: str, *settings: str, epochs: int = EPOCHS) -> float:
            where = f"hydra.run.dir={folder}/{name}"
            return train(where, cache, f"trainer.accelerator={DEVICE}", f"trainer.max_epochs={epochs}", *settings)

        yield Time(f"demo, {EPOCHS} epochs", run("demo", *sizes.demo))
        if sizes != TINY:
            run("whole", *QUICK)
        whole = weights(Path(folder, "demo" if sizes == TINY else "whole"))
        run("resumed", *QUICK, epochs=1)
        train(f"resume={folder}/resumed", f"trainer.max_epochs={EPOCHS}")
        yield Difference("resumed and uninterrupted run: weights", apart(weights(Path(folder, "resumed")), whole), 0.0)
        run("ddp", *QUICK, "trainer=ddp", "trainer.devices=1")
        yield Difference("DDP on one device: weights", apart(weights(Path(folder, "ddp")), whole), 1e-4)


def weights(run: Path) -> torch.Tensor:
    """All weights at the end of a run."""
    state = torch.load(run / "checkpoints" / "last.ckpt", map_location="cpu", weights_only=True)["state_dict"]
    return torch.cat([tensor.flatten().float() for tensor in state.values()])
