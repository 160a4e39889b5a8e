"""All that a GPU should be asked, in under nine minutes: checks against the CPU, runs, and times (docs/gpu.md).

python -m benchmarks.gpu                              one GPU, published sizes
python -m benchmarks.gpu device=cpu sizes=tiny        the same work, small, on a CPU
python -m benchmarks.gpu parts=[encoders,probing]

Each part has a process and seconds of its own. The status is 1 where a part fails.
"""

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks.command import RESULTS
from benchmarks.gpu.page import as_page, count_failures, table
from benchmarks.gpu.parts import PARTS, Outcome, run_all
from benchmarks.tables import print_new_rows
from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import FILE, Command, Setting, list_of, one_of
from encoder_lab.storage.files import atomic_write

NAMES = [part.function for part in PARTS]
PAGE = Path("docs/results/gpu.md")


def run_parts(settings: SimpleNamespace) -> int:
    if settings.device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # of the parts
    else:
        import torch

        if not torch.cuda.is_available():
            raise InputError(f"device=cuda: torch {torch.__version__} sees no GPU here; give device=cpu sizes=tiny")
    from benchmarks.gpu.sizes import BY_NAME
    from benchmarks.machine import write_json

    command = " ".join(["python -m benchmarks.gpu", *sys.argv[1:]])
    record: dict[str, Any] = {
        "command": command,
        "device": settings.device,
        "sizes": settings.sizes,
        "hardware": {},
        "parts": [],
    }

    def add(outcome: Outcome) -> None:
        """Write what is known so far. The rows of limits begin with the hardware."""
        print(f"{outcome.name}: {outcome.error or 'done'}, {outcome.seconds:.0f} s", flush=True)
        rows = [as_dict(row) for row in outcome.rows]
        if rows and "what" not in rows[0]:
            record["hardware"] = rows.pop(0)
        seconds = round(outcome.seconds, 1)
        record["parts"].append({"name": outcome.name, "seconds": seconds, "error": outcome.error, "rows": rows})
        with atomic_write(settings.page) as file:
            file.write(as_page(write_json(settings.json, record)))

    run_all([part for part in PARTS if part.function in settings.parts], BY_NAME[settings.sizes], add)
    print_new_rows([table(record)], set())
    failed = count_failures(record)
    if failed:
        print(f"error: {failed} failed; see {settings.page}", file=sys.stderr)
    return min(failed, 1)


def as_dict(row: Any) -> dict[str, Any]:
    """A row as JSON has it; of a difference also whether it is allowed."""
    if isinstance(row, dict):
        return row
    return row._asdict() | ({"passes": row.passes} if hasattr(row, "passes") else {})


COMMAND = Command(
    "python -m benchmarks.gpu",
    __doc__,
    [
        Setting("device", "where everything computes", one_of("cuda", "cpu"), "cuda"),
        Setting("sizes", "of models and data", one_of("published", "tiny"), "published"),
        Setting("parts", "what to run", list_of(one_of(*NAMES)), NAMES),
        Setting("json", "the file for the results", FILE, RESULTS / "gpu.json"),
        Setting("page", "the page that is made of it", FILE, PAGE),
    ],
    run_parts,
    writes=lambda settings: settings.json,
)

if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
