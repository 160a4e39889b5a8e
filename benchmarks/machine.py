"""What the benchmarks share: which machine this is, how fast it multiplies, how much memory a piece of work takes."""

import json
import os
import platform
import resource
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import torch

from datamodules.files import atomic_write

Result = TypeVar("Result")


def processor(device: str = "cpu") -> str:
    """The name of the processor, or of the GPU, where the system tells it."""
    if device == "cuda":
        return torch.cuda.get_device_name()
    info = Path("/proc/cpuinfo")
    names = [line for line in info.read_text().splitlines() if line.startswith("model name")] if info.exists() else []
    return names[0].split(":")[1].strip() if names else platform.machine()


def matrix_rate(size: int = 2048, device: str = "cpu") -> float:
    """GFLOP/s of a large product on all cores, or on the GPU."""
    a, b = torch.randn(2, size, size, device=device)
    a @ b
    started = now(device)
    for _ in range(5):
        a @ b
    return 5 * 2 * size**3 / (now(device) - started) / 1e9


def now(device: str = "cpu") -> float:
    """Seconds, after all that the GPU still had to do."""
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def hardware(device: str = "cpu") -> dict[str, Any]:
    """What every result says about where it was measured."""
    return {
        "command": " ".join(["python", *sys.argv]),
        "machine": processor(device),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "matrix_gflop_per_second": round(matrix_rate(device=device)),
        "load": os.getloadavg()[0],  # of everything on the machine: above its cores, seconds mean little
        "torch": torch.__version__,
        "date": time.strftime("%Y-%m-%d"),
    }


def write_json(path: Path, record: dict[str, Any]) -> None:
    with atomic_write(path) as file:
        json.dump(record, file, indent=1)
        file.write("\n")


def peak_megabytes() -> float:
    """The most memory that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


@contextmanager
def grown_memory() -> Iterator[dict[str, float]]:
    """Peak memory of this process above what it held at the start, in MB."""
    found: dict[str, float] = {}
    before = peak_megabytes()
    yield found
    found["memory_mb"] = peak_megabytes() - before


def alone(function: Callable[..., Result], *arguments: Any) -> Result:
    """In a fresh process, so that each measurement has its own memory."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()
