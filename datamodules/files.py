"""Files that are either whole or not there."""

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from datamodules.errors import InputError


@contextmanager
def atomic_write(path: Path, binary: bool = False) -> Iterator[IO[Any]]:
    """Open a file beside `path` for writing; when the block ends well it takes the place of `path`."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with beside.open("wb") if binary else beside.open("w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file by column name. Raises InputError where a row is too short or too long."""
    return [row for _, row in numbered_csv(path)]


def numbered_csv(path: Path) -> list[tuple[int, dict[str, str]]]:
    """The same, each row with the number of its last line in the file."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        try:
            rows = [(reader.line_num, row) for row in reader]
        except (csv.Error, UnicodeDecodeError) as error:
            raise InputError(f"{path}:{reader.line_num + 1}: not CSV text ({error}); mend the line") from None
        for line, row in rows:
            if None in row or None in row.values():
                raise InputError(f"{path}:{line}: expected {len(reader.fieldnames or [])} columns; mend or remove it")
    return rows


def upsert_csv(
    path: Path,
    rows: Iterable[Mapping[str, Any]],
    key: Sequence[str],
    order: Callable[[Mapping[str, str]], Any] | None = None,
) -> None:
    """Put rows into a CSV file: a row whose `key` columns equal an old one's takes its place.

    The file is rewritten as a whole, so that a kill leaves the old or the new one. Columns may be added; a row
    without one has an empty cell there. `order` sorts the rows; equal ones stay in the order of their arrival.
    """
    path = Path(path)
    kept = {_key(row, key): row for row in (read_csv(path) if path.exists() else [])}
    for row in rows:
        texts = {name: _text(value) for name, value in row.items()}
        kept[_key(texts, key)] = texts
    ordered = sorted(kept.values(), key=order) if order else list(kept.values())
    columns = list(dict.fromkeys(name for row in kept.values() for name in row))
    with atomic_write(path) as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(ordered)


def _key(row: Mapping[str, str], key: Sequence[str]) -> tuple[str, ...]:
    return tuple(row.get(name, "") for name in key)


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
