"""What the benchmarks share: which machine this is, how fast it multiplies, how much memory a piece of work takes."""

import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from pathlib import Path
from threading import Event, Thread
from typing import Any, TypeVar

import torch

from common.files import atomic_write
from common.matmul import whole_products

Result = TypeVar("Result")
STARTED = time.perf_counter()
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"  # where benchmarks compute; CUDA_VISIBLE_DEVICES= hides a GPU


def processor(device: str = "cpu") -> str:
    """The name of the processor, or of the GPU, where the system tells it."""
    if device == "cuda":
        return torch.cuda.get_device_name()
    info = Path("/proc/cpuinfo")
    names = [line for line in info.read_text().splitlines() if line.startswith("model name")] if info.exists() else []
    return names[0].split(":")[1].strip() if names else platform.machine()


def now() -> float:
    """Seconds, after all that the GPU still had to do."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def repeated(work: Callable[[], object], times: int = 5) -> float:
    """Seconds of one repetition; the first does not count."""
    work()
    started = now()
    for _ in range(times):
        work()
    return (now() - started) / times


def matrix_rate(size: int, kind: torch.dtype) -> float:
    """GFLOP/s of a large product."""
    a, b = torch.randn(2, size, size, device=DEVICE, dtype=kind)
    return 2 * size**3 / repeated(lambda: a @ b) / 1e9


def bandwidth(megabytes: int = 1024) -> float:
    """GB/s of reading and writing memory far larger than any cache."""
    a = torch.zeros(megabytes << 18, device=DEVICE)
    b = torch.empty_like(a)
    return 2 * a.nbytes / repeated(lambda: b.copy_(a)) / 1e9


def hardware() -> dict[str, Any]:
    """What every result says about where it was measured."""
    size = 8192 if DEVICE == "cuda" else 2048
    default = matrix_rate(size, torch.float32)
    with whole_products():
        rate = matrix_rate(size, torch.float32)
    return {
        "command": " ".join(["python", *sys.argv]),
        "machine": processor(DEVICE),
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "matrix_gflop_per_second": round(rate),
        "default_matrix_gflop_per_second": round(default),  # as PyTorch multiplies where nobody sets anything
        "bf16_matrix_gflop_per_second": round(matrix_rate(size, torch.bfloat16)),
        "memory_gb_per_second": round(bandwidth()),
        "torch": torch.__version__,
        "date": time.strftime("%Y-%m-%d"),
    }


def write_json(path: Path, record: dict[str, Any]) -> None:
    """Keep what a benchmark found, with the seconds that it took and what else the machine had to do."""
    load = os.getloadavg()[0]  # of everything on the machine: above its cores, seconds mean little
    record = {**record, "load": load, "seconds": round(time.perf_counter() - STARTED, 1)}
    with atomic_write(path) as file:
        json.dump(record, file, indent=1)
        file.write("\n")


LOOKS = 10  # a second, at what the workers hold


def status_megabytes(field: str) -> float:
    """VmRSS, VmHWM or another size of this process; ru_maxrss would be the parent's in a process that it started."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 2**10


def own_megabytes() -> float:
    """What this process and its workers hold together that is no mapped file; pages that they share count once."""
    total = 0
    children = " ".join(path.read_text() for path in Path("/proc/self/task").glob("*/children"))
    for number in ["self", *children.split()]:
        with suppress(OSError):  # a worker that has just ended
            lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss_Anon:"))
    return total / 2**10


@contextmanager
def grown_memory() -> Iterator[dict[str, float]]:
    """How far memory rises meanwhile above what it was at the start, in MB (Linux).

    `memory_mb`: resident memory of this process at its highest (VmHWM), mapped files included, which the system
    takes back when it needs room. `own_mb`: without mapped files, but with worker processes; looked at ten times
    a second, so that what lasts shorter can be missed. `gpu_mb`: on a GPU, of its memory.
    """
    found: dict[str, float] = {}
    if DEVICE == "cuda":
        torch.cuda.reset_peak_memory_stats()
        held = torch.cuda.memory_allocated()
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten: VmHWM = VmRSS
    before, own = status_megabytes("VmRSS"), own_megabytes()
    highest, ended = own, Event()

    def watch() -> None:
        nonlocal highest
        while not ended.wait(1 / LOOKS):
            highest = max(highest, own_megabytes())

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield found
    finally:
        ended.set()
        watcher.join()
    found["memory_mb"] = status_megabytes("VmHWM") - before
    found["own_mb"] = max(highest, own_megabytes()) - own
    if DEVICE == "cuda":
        found["gpu_mb"] = (torch.cuda.max_memory_allocated() - held) / 2**20


def alone(function: Callable[..., Result], *arguments: Any) -> Result:
    """In a fresh process, so that each measurement has its own memory."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()
