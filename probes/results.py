"""probes.csv: one row per epoch, suite, task, classifier and seed. answers.csv: the answers to test items."""

import csv
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from encoder_lab.errors import InputError
from encoder_lab.storage.csv_files import read_numbered_csv, upsert_csv
from encoder_lab.storage.text_files import parse_json
from probes import correlations
from probes.correlations import Domain

CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")  # in no name
MAX_NAME_LENGTH, MAX_NUMBER, MAX_DIGITS = 200, 1e9, 25  # characters of a name; a number; digits of a whole number
KEY_COLUMNS = ("epoch", "suite", "task", "classifier", "seed")
ANSWERS_FILE = "answers.csv"
csv.field_size_limit(2**30)  # one cell holds the answers to a whole test set


class Answers(NamedTuple):
    """Which test items a score has right, or the predictions of a correlation, for paired comparisons."""

    test: str  # a fingerprint: the same text means the same test items
    right: np.ndarray  # (N_test,) bool, or (N_test, K) of items with K answers; empty of a correlation
    domains: tuple[Domain, ...] = ()

    @property
    def sizes(self) -> list[int]:
        """The number of test items, of a correlation by domain."""
        return [len(domain.predicted) for domain in self.domains] or [len(self.right)]


Epoch = int | float  # a whole number is the end of an epoch; 0.25 is a quarter of the first


@dataclass(frozen=True)
class ProbeRow:
    """One score. Accuracies are in percent, written with two decimals."""

    epoch: Epoch  # epochs done; 0 is before training
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
    answers: Answers | None = field(default=None, compare=False, repr=False)  # None: not known
    chance: float | None = None  # the test score without any knowledge; None: not known

    @property
    def interval(self) -> tuple[float, float, float]:
        """The test score and the ends of its 95% interval."""
        return self.test_accuracy, self.test_low, self.test_high

    @property
    def moment(self) -> tuple[bool, Epoch]:
        """(True, epochs done), within an epoch (False, step): equal in all seeds, also where epochs differ in steps."""
        return (True, self.epoch) if isinstance(self.epoch, int) else (False, self.step)


COLUMNS = [column for column in fields(ProbeRow) if column.name != "answers"]
REQUIRED_COLUMNS = [column.name for column in COLUMNS if column.name != "chance"]


def write_rows(path: Path, rows: Iterable[ProbeRow]) -> None:
    """Put rows into the file, sorted by epoch, and their answers into answers.csv. A row replaces one of the same key.

    The answers are written first, so that a killed process leaves no row without its answers. Raises InputError for a
    corrupt file, and for a task that another row of the file was scored on with other test items.
    """
    rows = list(rows)
    tests = {(row.suite, row.task): row.answers.test for row in rows if row.answers}
    replaced = {tuple(_key_values(row).values()) for row in rows}
    for old in (row for row in read_rows(path) if tuple(_key_values(row).values()) not in replaced):
        if old.answers and tests.get((old.suite, old.task), old.answers.test) != old.answers.test:
            problem = f"{old.task} was scored on other test items at epoch {old.epoch}"
            raise InputError(f"{path}: {problem}; write to another file, or remove this one and {ANSWERS_FILE}")
    if answers := [_key_values(row) | answers_to_text(row.answers) for row in rows if row.answers]:
        upsert_csv(path.with_name(ANSWERS_FILE), answers, KEY_COLUMNS, order=_epoch_of)
    upsert_csv(path, [row_to_text(row) for row in rows], KEY_COLUMNS, order=_epoch_of)


def refuse_scored(path: Path) -> None:
    """Raises InputError where a training that begins would leave later scores of another one next to its own."""
    if step := max((row.step for row in read_rows(path)), default=0):
        remedy = f"write to another file, or remove this one and {ANSWERS_FILE}"
        raise InputError(f"{path}: has scores of another training, until step {step}; {remedy}")


def read_rows(path: Path) -> list[ProbeRow]:
    """The rows of the file with their answers; none if it does not exist. Raises InputError naming file and line."""
    if not Path(path).exists():
        return []
    answers_file, answers = path.with_name(ANSWERS_FILE), dict[tuple[str, ...], Answers]()
    if answers_file.exists():
        for line, row in read_numbered_csv(answers_file, [*KEY_COLUMNS, "test", "right"], KEY_COLUMNS):
            answers[tuple(row[name] for name in KEY_COLUMNS)] = answers_from_text(answers_file, line, row)
    return [
        row_from_text(path, line, row, answers.get(tuple(row[name] for name in KEY_COLUMNS)))
        for line, row in read_numbered_csv(path, REQUIRED_COLUMNS, KEY_COLUMNS)
    ]


def is_valid_name(text: str) -> bool:
    """Whether probes.csv can hold a row with this name."""
    return len(text) <= MAX_NAME_LENGTH and not CONTROL_CHARACTER.search(text)


def seconds_by_suite(rows: Iterable[ProbeRow]) -> dict[str, float]:
    """The seconds of the rows of each suite; control tasks are in selectivity."""
    seconds: dict[str, float] = {}
    for row in rows:
        if row.suite != "control":
            seconds[row.suite] = seconds.get(row.suite, 0.0) + row.seconds
    return seconds


def chance_of(rows: Iterable[ProbeRow]) -> float | None:
    """The score without any knowledge, the mean over the rows that know it; None where none does."""
    chances = [row.chance for row in rows if row.chance is not None]
    return sum(chances) / len(chances) if chances else None


def pack_correct(correct: np.ndarray) -> str:
    """Which items (N,) are correct, or which answers (N, K) of each, as text."""
    return f"{'x'.join(map(str, correct.shape))}:{np.packbits(correct).tobytes().hex()}"


def unpack_correct(text: str) -> np.ndarray:
    """The inverse of `pack_correct`. Raises ValueError."""
    sizes, _, bits = text.partition(":")
    shape, packs = [int(size) for size in sizes.split("x")], np.frombuffer(bytes.fromhex(bits), np.uint8)
    if len(packs) != -(-math.prod(shape) // 8):
        raise ValueError(text)
    return np.unpackbits(packs, count=math.prod(shape)).astype(bool).reshape(shape)


def _epoch_of(row: Mapping[str, str]) -> Epoch:
    return read_epoch(row["epoch"])


def read_epoch(text: str) -> Epoch:
    """An epoch. Raises ValueError where it is written in another way than we write it: that would be another key."""
    value = int(text) if text.isdigit() else float(text)  # 5e-05 is one, too
    if str(value) != text or not 0 <= value <= MAX_NUMBER or (isinstance(value, float) and value.is_integer()):
        raise ValueError(text)
    return value


def _key_values(row: ProbeRow) -> dict[str, str]:
    return {name: str(getattr(row, name)) for name in KEY_COLUMNS}


def answers_to_text(answers: Answers) -> dict[str, str]:
    """The columns `test` and `right` of answers.csv."""
    return {"test": answers.test, "right": correlations.pack_domains(answers.domains) or pack_correct(answers.right)}


def answers_from_text(path: Path, line: int, row: Mapping[str, str]) -> Answers:
    """The inverse of `answers_to_text`, in a row with an epoch. Raises InputError naming file and line."""
    try:
        _epoch_of(row)
        if "." in row["right"]:  # a correlation
            return Answers(row["test"], np.empty(0, dtype=bool), correlations.unpack_domains(row["right"]))
        return Answers(row["test"], unpack_correct(row["right"]))
    except ValueError:
        raise InputError(f"{path}:{line}: not the answers of a score; remove the line, or the file") from None


def row_to_text(row: ProbeRow) -> dict[str, str]:
    """The columns of probes.csv."""
    return {column.name: _cell_text(getattr(row, column.name)) for column in COLUMNS} | _key_values(row)


def _cell_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.2f}"
    return json.dumps(value, sort_keys=True, separators=(",", ":")) if isinstance(value, dict) else str(value)


def row_from_text(path: Path, line: int, row: Mapping[str, str], answers: Answers | None = None) -> ProbeRow:
    """The inverse of `row_to_text`. Raises InputError naming file and line."""
    values = {}
    for column in COLUMNS:
        try:
            values[column.name] = _parse(column.type, row.get(column.name, ""))
        except (ValueError, RecursionError):
            seen = row[column.name]
            raise InputError(f"{path}:{line}: {column.name} is {seen[:40]!r}; fix or remove the line") from None
    if values["test_low"] > values["test_high"]:
        raise InputError(f"{path}:{line}: test_low is above test_high; fix or remove the line")
    return ProbeRow(**values, answers=answers)


def _parse(dtype: Any, text: str) -> Any:
    if dtype == Epoch:
        return read_epoch(text)
    if dtype == float | None:
        return _parse(float, text) if text else None
    if dtype in (int, float, str):
        value = dtype(text)
        if (dtype is str and not is_valid_name(text)) or (dtype is float and abs(value) > MAX_NUMBER):
            raise ValueError(text)
        if dtype is int and (str(value) != text or len(text) > MAX_DIGITS):  # two ways to write a number are two keys
            raise ValueError(text)
        return value
    value = parse_json(text)
    if not isinstance(value, dict):
        raise ValueError(text)
    return value
