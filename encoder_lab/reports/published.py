"""The papers' own numbers (probes/published/README.md names the tables)."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from encoder_lab.errors import InputError
from encoder_lab.storage.csv_files import read_csv
from probes.facts import facts_of

FOLDER = Path(__file__).parents[2] / "probes" / "published"
SCORES_FILE = FOLDER / "scores.csv"
TABLES = read_csv(FOLDER / "tables.csv")
SOURCES = {row["table"]: row["source"] for row in TABLES}
TABLE_NOTES = {row["table"]: row["note"] for row in TABLES if row["note"]}
PUBLISHED_TEST_ITEMS = {row["task"]: int(row["items"]) for row in read_csv(FOLDER / "test_items.csv")}
TRAINING_TABLE = "conneau2018_table3"  # the objectives' own scores


class Published(NamedTuple):
    """One score as printed."""

    table: str  # e.g. conneau2018_table2
    kind: str  # "", "baseline" or "other"
    encoder: str
    model: str
    task: str
    score: float


def fitting(suite: str, classifier: str) -> list[str]:
    """The published tables of a suite by this classifier, and those of human scores; or none."""
    facts = facts_of(suite)
    table = facts.published.get(classifier, facts.published.get(""))
    return [*([table] if table else []), *facts.reference]


@cache
def published(table: str) -> list[Published]:
    """The scores of one table. Raises InputError with the choices."""
    rows = [row for row in read_csv(SCORES_FILE) if row["table"] == table]
    if not rows:
        raise InputError(f"no published table {table!r}; there are {', '.join(SOURCES)}")
    return [Published(r["table"], r["kind"], r["encoder"], r["model"], r["task"], float(r["score"])) for r in rows]


def requested_tables(chosen: str | None) -> list[str] | None:
    """The requested published table; None leaves the choice to the table. Raises InputError for an unknown one."""
    if chosen == "paper":
        return None
    if chosen:
        published(chosen)
    return [chosen] if chosen else []
