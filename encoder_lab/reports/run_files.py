"""Files of a run folder that reports compute with, checked: the folder may be somebody else's."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from encoder_lab.errors import InputError
from encoder_lab.settings.run import COLOUR_PATTERN
from encoder_lab.storage.csv_files import read_numbered_csv
from probes.results import read_epoch

MetricRows = Sequence[Mapping[str, str]]  # of metrics.csv or test.csv

SETTING_TYPES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("objective.select", "best_by.score"), ("a name", lambda value: isinstance(value, str))),
    "best_by.mode": ("min or max", lambda value: value in ("min", "max")),
    **dict.fromkeys(
        ("objective.parts", "objective.losses"),
        ("a list of names", lambda value: isinstance(value, list) and {*map(type, value)} <= {str}),
    ),
    **dict.fromkeys(
        ("labels.colour", "run.labels.colour"),
        ('a colour, as "#D55E00"', lambda value: re.fullmatch(COLOUR_PATTERN, str(value))),
    ),
}


def check_settings(path: Path, settings: Mapping[str, Any]) -> None:
    """Raises InputError naming the file, for a setting of another type than training accepts; null is none."""
    for key, (expected, fits) in SETTING_TYPES.items():
        value = settings.get(key)
        if value is not None and not fits(value):
            raise InputError(f"{path}: {key} is {str(value)[:40]!r}, not {expected}; copy the whole run folder again")


def read_metrics(path: Path) -> list[dict[str, str]]:
    """metrics.csv or test.csv, cells numbers or empty; none without the file. Raises InputError naming the line."""
    if not path.exists():
        return []
    return [checked_metrics(path, line, row) for line, row in read_numbered_csv(path, ("epoch",), ("epoch",))]


def checked_metrics(path: Path, line: int, row: dict[str, str]) -> dict[str, str]:
    """The row, checked: its cells are numbers or empty. Raises InputError naming file and line."""
    for name, text in row.items():
        try:
            _ = read_epoch(text) if name == "epoch" else float(text or 0)
        except ValueError:
            raise InputError(f"{path}:{line}: {name} is {text[:40]!r}; fix or remove the line") from None
    return row


def read_details(path: Path) -> Iterator[tuple[tuple[str, str], float]]:
    """Task, measure and score of each line. Raises InputError naming the line."""
    for line, row in read_numbered_csv(path, ("task", "measure", "score"), ("task", "measure")):
        try:
            yield (row["task"], row["measure"]), float(row["score"])
        except ValueError:
            raise InputError(f"{path}:{line}: score is {row['score'][:40]!r}; evaluate the model again") from None
