"""All that a GPU should be asked, in under nine minutes: checks against the CPU, runs, and times (docs/gpu.md).

python -m benchmarks.gpu                              one GPU, published sizes
python -m benchmarks.gpu device=cpu sizes=tiny        the same work, small, on a CPU
python -m benchmarks.gpu parts=[encoders,probing]

Each part has a process and seconds of its own. The status is 1 where a part fails.
"""

import json
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks.gpu.page import as_page, as_text, failures
from benchmarks.gpu.parts import PARTS, Outcome, run_all
from benchmarks.settings import json_setting
from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import FILE, Command, Setting, one_of, run, several
from encoder_lab.storage.files import atomic_write

NAMES = [part.function for part in PARTS]
PAGE = Path("docs/results/gpu.md")
COMMAND = Command(
    "python -m benchmarks.gpu",
    str(__doc__).strip(),
    [
        Setting("device", "where everything computes", one_of("cuda", "cpu"), "cuda"),
        Setting("sizes", "of models and data", one_of("published", "tiny"), "published"),
        Setting("parts", "what to run", several(one_of(*NAMES)), NAMES),
        json_setting("gpu"),
        Setting("page", "the page that is made of it", FILE, PAGE),
    ],
    most=0,
)


def work(options: SimpleNamespace) -> int:
    if options.device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # of the parts
    else:
        refuse_without_gpu()
    from benchmarks.gpu.sizes import BY_NAME

    started, record = time.monotonic(), {"command": " ".join(["python -m benchmarks.gpu", *sys.argv[1:]])}
    outcomes: list[Outcome] = []

    def show(outcome: Outcome) -> None:
        print(f"{outcome.name}: {outcome.error or 'done'}, {outcome.seconds:.0f} s", flush=True)
        outcomes.append(outcome)
        write(options, record | {"seconds": round(time.monotonic() - started, 1)}, outcomes)

    run_all([part for part in PARTS if part.function in options.parts], BY_NAME[options.sizes], show)
    whole = write(options, record | {"seconds": round(time.monotonic() - started, 1)}, outcomes)
    print(as_text(whole))
    failed = failures(whole)
    if failed:
        print(f"error: {failed} failed; see {options.page}", file=sys.stderr)
    return min(failed, 1)


def write(options: SimpleNamespace, record: dict[str, Any], outcomes: list[Outcome]) -> dict[str, Any]:
    """Write what is known so far, and return it."""
    rows = [row for outcome in outcomes for row in outcome.rows]
    hardware: dict[str, Any] = next((row for row in rows if isinstance(row, dict)), {})
    parts = [
        {
            "name": outcome.name,
            "seconds": round(outcome.seconds, 1),
            "error": outcome.error,
            "rows": [as_dict(row) for row in outcome.rows if not isinstance(row, dict)],
        }
        for outcome in outcomes
    ]
    whole = record | {"device": options.device, "sizes": options.sizes, "hardware": hardware, "parts": parts}
    with atomic_write(options.json) as file:
        json.dump(whole, file, indent=1)
        file.write("\n")
    with atomic_write(options.page) as file:
        file.write(as_page(whole))
    return whole


def as_dict(row: Any) -> dict[str, Any]:
    """A row as JSON has it; of a difference also whether it is allowed."""
    return row._asdict() | ({"passes": row.passes} if hasattr(row, "passes") else {})


def refuse_without_gpu() -> None:
    """Raises InputError where torch sees no GPU."""
    import torch

    if not torch.cuda.is_available():
        raise InputError(f"device=cuda: torch {torch.__version__} sees no GPU here; give device=cpu sizes=tiny")


if __name__ == "__main__":
    sys.exit(run(COMMAND, sys.argv[1:], work, lambda options: options.json))
