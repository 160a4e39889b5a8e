"""Helpers of the benchmarks: description and speed of this machine, time and memory of a piece of work."""

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

from encoder_lab.compute.matmul import fast_exact_matmul
from encoder_lab.storage.files import atomic_write

Result = TypeVar("Result")
START_TIME = time.perf_counter()
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"  # of the benchmarks; CUDA_VISIBLE_DEVICES= hides a GPU


def processor(device: str = "cpu") -> str:
    """The name of the processor or of the GPU, if the system reports it."""
    if device == "cuda":
        return torch.cuda.get_device_name()
    info = Path("/proc/cpuinfo")
    names = [line for line in info.read_text().splitlines() if line.startswith("model name")] if info.exists() else []
    return names[0].split(":")[1].strip() if names else platform.machine()


def in_precision(precision: str) -> torch.autocast:
    """The context in which Lightning runs a step."""
    return torch.autocast(DEVICE, torch.bfloat16, enabled=precision == "bf16-mixed")


def synchronised_time() -> float:
    """The time in seconds, after the GPU has finished its work."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def seconds_per_call(work: Callable[[], object], times: int = 5) -> float:
    """Seconds of one repetition, after a warm-up."""
    work()
    started = synchronised_time()
    for _ in range(times):
        work()
    return (synchronised_time() - started) / times


MAX_PRODUCT_SECONDS = 5.0  # seconds of one product


def matrix_rate(size: int, dtype: torch.dtype) -> float:
    """GFLOP/s of a large matrix product; of a smaller one where the processor is slow in this dtype."""
    small = min(size, 256)
    a, b = torch.randn(2, small, small, device=DEVICE, dtype=dtype)
    seconds = seconds_per_call(lambda: a @ b)
    if small < size and seconds * (size / small) ** 3 < MAX_PRODUCT_SECONDS:
        a, b = torch.randn(2, size, size, device=DEVICE, dtype=dtype)
        small, seconds = size, seconds_per_call(lambda: a @ b)
    return 2 * small**3 / seconds / 1e9


def bandwidth(megabytes: int = 1024) -> float:
    """GB/s of reading and writing memory far larger than any cache."""
    a = torch.zeros(megabytes << 18, device=DEVICE)
    b = torch.empty_like(a)
    return 2 * a.nbytes / seconds_per_call(lambda: b.copy_(a)) / 1e9


def hardware(size: int = 8192 if DEVICE == "cuda" else 2048, megabytes: int = 1024) -> dict[str, Any]:
    """The description of this machine that every result contains. `size` of a product, `megabytes` that are copied."""
    default = matrix_rate(size, torch.float32)
    with fast_exact_matmul():
        rate = matrix_rate(size, torch.float32)
    return {
        "command": " ".join(["python", *sys.argv]),
        "machine": processor(DEVICE),
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "matrix_gflop_per_second": round(rate),
        "default_matrix_gflop_per_second": round(default),  # with the default settings of PyTorch
        "bf16_matrix_gflop_per_second": round(matrix_rate(size, torch.bfloat16)),
        "memory_gb_per_second": round(bandwidth(megabytes)),
        "torch": torch.__version__,
        "date": time.strftime("%Y-%m-%d"),
    }


def write_json(path: Path, record: dict[str, Any]) -> dict[str, Any]:
    """Write the results of a benchmark, with its duration and the load of the machine, and return all that."""
    load = os.getloadavg()[0]  # load of the whole machine; above its number of cores, seconds mean little
    record = {**record, "load": load, "seconds": round(time.perf_counter() - START_TIME, 1)}
    with atomic_write(path) as file:
        json.dump(record, file, indent=1)
        file.write("\n")
    return record


SAMPLES_PER_SECOND = 10  # of memory, per second


def status_megabytes(field: str, process: int | str = "self") -> float:
    """VmRSS, VmHWM or another size of a process; ru_maxrss would include that of the parent."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 2**10


def own_megabytes() -> float:
    """Memory of this process and its workers, without mapped files; shared pages count once."""
    total = 0
    children = " ".join(path.read_text() for path in Path("/proc/self/task").glob("*/children"))
    for number in ["self", *children.split()]:
        with suppress(OSError):  # the worker has just ended
            lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss_Anon:"))
    return total / 2**10


@contextmanager
def measure_cost() -> Iterator[dict[str, float]]:
    """Measure the time of what is done inside this context, and the growth of memory in MB above the start (Linux).

    `seconds`: until all is done, also on the GPU.
    `memory_mb`: peak resident memory of this process (VmHWM), including mapped files, which the system can reclaim.
    `own_mb`: without mapped files, with worker processes; sampled ten times a second, so short peaks can be missed.
    `gpu_mb`: memory of the GPU.
    """
    cost: dict[str, float] = {}
    if DEVICE == "cuda":
        torch.cuda.reset_peak_memory_stats()
        gpu_bytes = torch.cuda.memory_allocated()
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak: VmHWM = VmRSS
    resident, own = status_megabytes("VmRSS"), own_megabytes()
    peak, ended = own, Event()

    def sample() -> None:
        nonlocal peak
        while not ended.wait(1 / SAMPLES_PER_SECOND):
            peak = max(peak, own_megabytes())

    sampler = Thread(target=sample, daemon=True)
    sampler.start()
    started = synchronised_time()
    try:
        yield cost
        cost["seconds"] = synchronised_time() - started
    finally:
        ended.set()
        sampler.join()
    cost["memory_mb"] = status_megabytes("VmHWM") - resident
    cost["own_mb"] = max(peak, own_megabytes()) - own
    if DEVICE == "cuda":
        cost["gpu_mb"] = (torch.cuda.max_memory_allocated() - gpu_bytes) / 2**20


def cost_of(work: Callable[[], object]) -> dict[str, Any]:
    """Seconds and memory of some work, for a record."""
    with measure_cost() as cost:
        work()
    return {"seconds": cost.pop("seconds"), "memory": cost}


def add_ratios(sides: dict[str, dict[str, Any]], reference: str) -> None:
    """To each side of the same work: how many times as fast as the reference it is."""
    for side in sides.values():
        side["ratio"] = sides[reference]["seconds"] / side["seconds"]


def in_new_process(function: Callable[..., Result], *arguments: Any) -> Result:
    """Run the function in a new process, so that each measurement has its own memory."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()
