"""CSV files with a key: read with line numbers; a new row replaces the old row with the same key."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from encoder_lab.errors import InputError
from encoder_lab.storage.files import atomic_write
from encoder_lab.storage.text_files import compose_unicode, read_lines


def read_csv(path: Path, columns: Sequence[str] = (), key: Sequence[str] = ()) -> list[dict[str, str]]:
    """The rows of a CSV file by column name. Raises InputError as `read_numbered_csv` does."""
    return [row for _, row in read_numbered_csv(path, columns, key)]


def read_numbered_csv(
    path: Path, columns: Sequence[str] = (), key: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows with their line numbers, each on one line. Raises InputError naming a wrong line or header."""
    header: list[str] = []
    seen: dict[tuple[str, ...], int] = {}
    for number, line in read_lines(Path(path)):
        if not line:
            continue
        try:
            (cells,) = csv.reader([line], strict=True)
        except (csv.Error, ValueError) as error:
            raise InputError(f"{path}:{number}: not a line of CSV ({error}); fix or remove the line") from None
        if not header:
            if (missing := [name for name in columns if name not in cells]) or len(set(cells)) < len(cells):
                more = f" and {len(missing) - 3} others" * (len(missing) > 3)
                problem = f"no column {', '.join(missing[:3])}{more}" if missing else "a column twice"
                check = "is it the right file?" if "," in line else "save it with commas between columns"
                raise InputError(f"{path}:{number}: {problem} in the header; {check}")
            header = cells
            continue
        if len(cells) != len(header):
            raise InputError(f"{path}:{number}: expected {len(header)} columns; fix or remove the line")
        row = dict(zip(header, cells, strict=True))
        first = seen.setdefault(_row_key(row, key), number) if key else number
        if first != number:
            raise InputError(f"{path}:{number}: {' '.join(_row_key(row, key))} is already on line {first}; remove one")
        yield number, row


def upsert_csv(
    path: Path, rows: Iterable[Mapping[str, Any]], key: Sequence[str], order: Callable[..., Any] | None = None
) -> None:
    """Write rows in one step; each replaces that of the same `key`. `order` sorts them; ties keep theirs."""
    path = Path(path)
    merged = {_row_key(row, key): row for row in (read_csv(path, key=key) if path.exists() else [])}
    for row in rows:
        texts = {name: _cell_text(value) for name, value in row.items()}
        merged[_row_key(texts, key)] = texts
    ordered = sorted(merged.values(), key=order) if order else list(merged.values())
    columns = list(dict.fromkeys(name for row in merged.values() for name in row))
    with atomic_write(path) as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(ordered)


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


def _row_key(row: Mapping[str, str], key: Sequence[str]) -> tuple[str, ...]:
    return tuple(row.get(name, "") for name in key)


def _cell_text(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else compose_unicode(str(value))  # as it is read; 32 bits exactly
