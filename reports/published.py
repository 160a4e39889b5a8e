"""The papers' own numbers (probes/published/README.md names the tables)."""

from pathlib import Path
from typing import NamedTuple

from common.csv_files import read_csv
from common.errors import InputError

SCORES = Path(__file__).parents[1] / "probes" / "published" / "scores.csv"
SOURCES = {
    "conneau2018_table2": "Conneau et al. 2018, Table 2",
    "conneau2018_table3": "Conneau et al. 2018, Table 3",
    "conneau2018_table4": "Conneau et al. 2018, Table 4",
    "conneau2018_table5": "Conneau et al. 2018, Table 5",
    "chen2019_table2": "Chen et al. 2019, Table 2",
    "chen2019_figure8": "Chen et al. 2019, Figure 8",
    "beyer2021_tables1to5": "Beyer et al. 2021, Tables 1 to 5",
}
TRAINING = "conneau2018_table3"  # the objectives' own scores


class Published(NamedTuple):
    """One score as printed."""

    table: str  # e.g. conneau2018_table2
    kind: str  # "", "baseline" or "other"
    encoder: str
    model: str
    task: str
    score: float


def fitting(suite: str, classifier: str) -> list[str]:
    """The table that has the papers' scores of a suite, of probing tasks as read by the classifier; or none."""
    probing = "conneau2018_table4" if classifier == "logreg" else "conneau2018_table2"
    tables = {"probing": probing, "downstream": "conneau2018_table5", "discoeval": "chen2019_table2"}
    return [tables[suite]] if suite in tables else []


def published(table: str) -> list[Published]:
    """The scores of one table. Raises InputError with the choices."""
    rows = [row for row in read_csv(SCORES) if row["table"] == table]
    if not rows:
        raise InputError(f"no published table {table!r}; there are {', '.join(SOURCES)}")
    return [Published(r["table"], r["kind"], r["encoder"], r["model"], r["task"], float(r["score"])) for r in rows]
