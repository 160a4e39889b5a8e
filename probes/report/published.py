"""The papers' own numbers (probes/published/README.md names the tables)."""

from pathlib import Path
from typing import NamedTuple

from datamodules.errors import InputError
from datamodules.files import read_csv

SCORES = Path(__file__).parents[1] / "published" / "scores.csv"


class Published(NamedTuple):
    """One score as printed."""

    table: str  # e.g. conneau2018_table2
    kind: str  # "", "baseline" or "other"
    encoder: str
    model: str
    task: str
    score: float


def published_tables() -> list[str]:
    return list(dict.fromkeys(row["table"] for row in read_csv(SCORES)))


def published(table: str) -> list[Published]:
    """The scores of one table. Raises InputError with the choices."""
    rows = [row for row in read_csv(SCORES) if row["table"] == table]
    if not rows:
        raise InputError(f"no published table {table!r}; there are {', '.join(published_tables())}")
    return [Published(r["table"], r["kind"], r["encoder"], r["model"], r["task"], float(r["score"])) for r in rows]
