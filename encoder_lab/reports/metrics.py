"""metrics.csv and test.csv: the objective's own scores, one row per epoch."""

from pathlib import Path

from encoder_lab.errors import InputError
from encoder_lab.storage.csv_files import read_numbered_csv
from probes.results import read_epoch


def read_metrics(path: Path) -> list[dict[str, str]]:
    """The rows of the file, cells numbers or empty; none if it does not exist. Raises InputError naming the line."""
    if not path.exists():
        return []
    return [checked_metrics(path, line, row) for line, row in read_numbered_csv(path, ("epoch",), ("epoch",))]


def checked_metrics(path: Path, line: int, row: dict[str, str]) -> dict[str, str]:
    """A row, if its cells are numbers or empty. Raises InputError naming file and line."""
    for name, text in row.items():
        try:
            _ = read_epoch(text) if name == "epoch" else float(text or 0)
        except ValueError:
            raise InputError(f"{path}:{line}: {name} is {text[:40]!r}; fix or remove the line") from None
    return row
