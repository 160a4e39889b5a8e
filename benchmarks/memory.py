"""Memory of a training run, epoch by epoch: the demo's model for ten short epochs, in 32 bits and in bfloat16.

python benchmarks/memory.py
python benchmarks/memory.py steps=79 epochs=10          whole epochs of the demo

The run is `train.py` itself with the demo's corpus and a small probing task. After each epoch: resident memory, its
peak so far, file handles, child processes, and the size of the cache. Batches have other lengths and other numbers of
tokens at each step.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # so that the file can be run as a script

from benchmarks.settings import PRECISIONS, json_setting
from encoder_lab.settings.command_line import COUNT, FOLDER, NAMES, Command, Setting, read_or_end, run

COMMAND = Command(
    "python benchmarks/memory.py",
    str(__doc__).strip(),
    [
        Setting("epochs", "of each run, at least 3", COUNT, 10),
        Setting("steps", "of an epoch", COUNT, 16),
        Setting("precision", "of each run, as trainer.precision= of train.py has it", NAMES, PRECISIONS),
        Setting("cache", "use and keep this cache (default: it is built and removed)", FOLDER),
        json_setting("memory"),
    ],
    most=0,
)

if __name__ == "__main__":
    read_or_end(COMMAND, sys.argv[1:])  # help and mistakes, before slow imports

from benchmarks.machine import hardware, status_megabytes, write_json

LIMIT_MB = 2048
SETTINGS = (
    *("encoder=bilstm_max", "objective=nmt_enfr", "logger=[]", "trainer.limit_val_batches=1"),
    *("probes.tasks=[SentLen]", "probes.classifier.widths=[0]"),
    *("probes.train_size=200", "probes.dev_size=50", "probes.test_size=50"),
)


def held(process: int, cache: Path) -> dict[str, float]:
    """What a process holds now."""
    own = Path(f"/proc/{process}")
    children = " ".join(path.read_text() for path in own.glob("task/*/children"))
    return {
        "resident_mb": round(status_megabytes("VmRSS", process)),
        "peak_mb": round(status_megabytes("VmHWM", process)),
        "handles": len(list((own / "fd").iterdir())),
        "children": len(children.split()),
        "cache_mb": round(sum(path.stat().st_size for path in cache.rglob("*") if path.is_file()) / 2**20, 1),
    }


def by_epoch(precision: str, epochs: int, steps: int, cache: Path, run: Path) -> list[dict[str, float]]:
    """What a run holds after each epoch."""
    given = (f"trainer.max_epochs={epochs}", f"trainer.limit_train_batches={steps}", f"trainer.precision={precision}")
    command = [sys.executable, "train.py", *SETTINGS, *given, f"cache={cache}", f"hydra.run.dir={run}"]
    found = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("epoch ") and "before training" not in line:
                found.append(held(process.pid, cache))
                print(f"  {precision}, epoch {len(found)}: {found[-1]}", flush=True)
    assert len(found) == epochs, f"{' '.join(command)} ended after {len(found)} epochs"
    return found


def measure(precision: str, epochs: int, steps: int, cache: Path, run: Path) -> dict[str, Any]:
    """One run, and how far it grew after its first two epochs."""
    found = by_epoch(precision, epochs, steps, cache, run)
    grown = {key: round(found[-1][key] - found[1][key], 1) for key in found[0]}
    return {"precision": precision, "epochs": found, "grown": grown, "limit_mb": LIMIT_MB}


def work(given: SimpleNamespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cache = given.cache or Path(folder) / "cache"
        cases = [
            measure(precision, given.epochs, given.steps, cache, Path(folder) / precision)
            for precision in given.precision
        ]
    write_json(given.json, {**hardware(), "steps": given.steps, "cases": cases})


if __name__ == "__main__":
    sys.exit(run(COMMAND, sys.argv[1:], work, lambda given: given.json))
