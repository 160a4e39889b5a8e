"""probes.csv: one row per epoch, suite, task, classifier and seed."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from datamodules.errors import InputError
from datamodules.files import numbered_csv, upsert_csv

KEY = ("epoch", "suite", "task", "classifier", "seed")


@dataclass(frozen=True)
class ProbeRow:
    """One score. Accuracies are in percent, written with two decimals."""

    epoch: int  # 0 is before training
    step: int  # optimiser steps taken
    suite: str
    task: str
    classifier: str  # mlp or logreg
    dev_accuracy: float
    test_accuracy: float
    test_low: float  # 95% interval of the test accuracy
    test_high: float
    hyperparameters: dict[str, Any]  # of the grid cell that was best on dev
    seed: int
    seconds: float


def write_rows(path: Path, rows: Iterable[ProbeRow]) -> None:
    """Put rows into the file, by epoch; a row of the same key takes the old one's place."""
    read_rows(path)  # a broken file is named before it is touched
    upsert_csv(path, [_as_text(row) for row in rows], KEY, order=lambda row: int(row["epoch"]))


def read_rows(path: Path) -> list[ProbeRow]:
    """The rows of the file; none if it does not exist. Raises InputError naming file and line."""
    if not Path(path).exists():
        return []
    columns = [field.name for field in fields(ProbeRow)]
    return [_from_text(path, line, row) for line, row in numbered_csv(path, columns, KEY)]


def _as_text(row: ProbeRow) -> dict[str, str]:
    return {field.name: _cell(getattr(row, field.name)) for field in fields(ProbeRow)}


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return json.dumps(value, sort_keys=True, separators=(",", ":")) if isinstance(value, dict) else str(value)


def _from_text(path: Path, line: int, row: dict[str, str]) -> ProbeRow:
    values = {}
    for field in fields(ProbeRow):
        try:
            values[field.name] = _parse(field.type, row[field.name])
        except (ValueError, RecursionError):
            seen = row[field.name]
            raise InputError(f"{path}:{line}: {field.name} is {seen[:40]!r}; mend or remove the line") from None
    return ProbeRow(**values)


def _parse(kind: Any, text: str) -> Any:
    if kind in (int, float, str):
        value = kind(text)
        if kind is int and str(value) != text:  # two ways to write one number would be two keys
            raise ValueError(text)
        return value
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(text)
    return value
