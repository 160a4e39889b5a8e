"""Memory of a training run, epoch by epoch: the demo's model for ten short epochs, in 32 bits and in bfloat16.

python benchmarks/memory.py
python benchmarks/memory.py steps=79 epochs=10          whole epochs of the demo

The run is `train.py` itself with the demo's corpus and a small probing task. After each epoch: resident memory, its
peak so far, file handles, child processes, and the size of the cache. Batches have other lengths and other numbers of
tokens at each step.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the file can be run as a script

from benchmarks.command import PRECISIONS, ROOT, benchmark, measure
from encoder_lab.settings.command_line import COUNT, FOLDER, NAMES, Setting

SETTINGS = [
    Setting("epochs", "of each run, at least 3", COUNT, 10),
    Setting("steps", "of an epoch", COUNT, 16),
    Setting("precision", "of each run, as trainer.precision= of train.py has it", NAMES, PRECISIONS),
    Setting("cache", "use and keep this cache (default: it is built and removed)", FOLDER),
]
COMMAND = benchmark(__name__, __file__, __doc__, SETTINGS)

from benchmarks.machine import status_megabytes

LIMIT_MB = 2048
END_OF_EPOCH = re.compile(r": epoch [1-9]\d*/")  # in the lines of train.py
RUN_SETTINGS = (
    *("encoder=bilstm_max", "objective=nmt_enfr", "logger=[]", "trainer.limit_val_batches=1"),
    *("probes.tasks=[SentLen]", "probes.classifier.widths=[0]"),
    *("probes.train_size=200", "probes.dev_size=50", "probes.test_size=50"),
)


def resources(process: int, cache: Path) -> dict[str, float]:
    """Memory, open files and children of a process, and the size of its cache."""
    folder = Path(f"/proc/{process}")
    children = " ".join(path.read_text() for path in folder.glob("task/*/children"))
    return {
        "resident_mb": round(status_megabytes("VmRSS", process)),
        "peak_mb": round(status_megabytes("VmHWM", process)),
        "handles": len(list((folder / "fd").iterdir())),
        "children": len(children.split()),
        "cache_mb": round(sum(path.stat().st_size for path in cache.rglob("*") if path.is_file()) / 2**20, 1),
    }


def resources_by_epoch(precision: str, epochs: int, steps: int, cache: Path, run: Path) -> list[dict[str, float]]:
    """The resources of a run after each epoch."""
    sizes = (f"trainer.max_epochs={epochs}", f"trainer.limit_train_batches={steps}", f"trainer.precision={precision}")
    command = [sys.executable, "train.py", *RUN_SETTINGS, *sizes, f"cache={cache}", f"hydra.run.dir={run}"]
    samples = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if END_OF_EPOCH.search(line):
                samples.append(resources(process.pid, cache))
                print(f"  {precision}, epoch {len(samples)}: {samples[-1]}", flush=True)
    if len(samples) != epochs or process.returncode:
        ended = f"ended with {process.returncode} after {len(samples)} epochs"
        raise RuntimeError(f"{' '.join(command)} {ended}")
    return samples


def run_benchmark(settings: SimpleNamespace) -> Iterator[dict[str, Any]]:
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        cache = settings.cache or Path(folder) / "cache"
        for precision in settings.precision:
            samples = resources_by_epoch(precision, settings.epochs, settings.steps, cache, Path(folder) / precision)
            grown = {key: round(samples[-1][key] - samples[1][key], 1) for key in samples[0]}  # since epoch 2
            cases.append({"precision": precision, "epochs": samples, "grown": grown, "limit_mb": LIMIT_MB})
            yield {"steps": settings.steps, "cases": cases}


if __name__ == "__main__":
    sys.exit(measure(COMMAND, run_benchmark))
