"""The table of a run of `make gpu`: on the terminal and as a page."""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.tables import Table, markdown_rows, wrap_text

COLUMN_HEADS = ["part", "what", "result", "others", "products", "memory"]
TITLE = "# On a GPU: all measurements"
NOT_RUN_MESSAGE = (
    "Not run yet: no GPU was available. On a machine with one `make gpu` writes this page ([how](../gpu.md))."
)
COLUMN_MEANINGS = """Result: the largest difference, as a part of the largest number, of what is allowed; or seconds.
Others: how many times as long they take. Products and memory: the share of the machine's measured rate of matrix
products in that precision, and of its bandwidth."""


def table(record: Mapping[str, Any]) -> Table:
    """A row for each check and each time, and one for each part that did not end."""
    return Table("", [dict(zip(COLUMN_HEADS, cells, strict=True)) for cells in _table_rows(record)])


def _table_rows(record: Mapping[str, Any]) -> Iterator[list[str]]:
    for part in record["parts"]:
        for row in part["rows"]:
            cells = _difference_row(row) if "tolerance" in row else _time_row(row, record["hardware"])
            yield [part["name"], row["what"], *cells]
        if part["error"]:
            yield [part["name"], "FAILED", part["error"], "", "", ""]


def _difference_row(row: Mapping[str, Any]) -> list[str]:
    verdict = "" if row["passes"] else "FAILED: "
    return [f"{verdict}{row['largest']:.2g} of {row['tolerance']:g}", "", "", ""]


def _time_row(row: Mapping[str, Any], limits: Mapping[str, float]) -> list[str]:
    others = ", ".join(f"{seconds / row['seconds']:.2f} {name}" for name, seconds in row["others"].items())
    rate = "matrix_gflop_per_second" if row["precision"] == "32-true" else "bf16_matrix_gflop_per_second"
    amounts = (row["gflop"], limits.get(rate)), (row["gigabytes"], limits.get("memory_gb_per_second"))
    shares = [f"{n / row['seconds'] / most:.0%}" if n and most else "" for n, most in amounts]
    precision = "" if row["precision"] == "32-true" else f", {row['precision']}"
    return [f"{row['seconds']:.3g} s{precision}", others, *shares]


def count_failures(record: Mapping[str, Any]) -> int:
    """How many parts did not end, and how many differences are above their tolerance."""
    rows = [row for part in record["parts"] for row in part["rows"]]
    return sum(bool(part["error"]) for part in record["parts"]) + sum(not row.get("passes", True) for row in rows)


def as_page(record: Mapping[str, Any]) -> str:
    """The page in Markdown; without a record it says that nothing was run."""
    if not record:
        return f"{TITLE}\n\n{wrap_text(NOT_RUN_MESSAGE)}\n"
    hardware = record["hardware"]
    conditions = (
        f"`{record['command']}`, {hardware.get('date', '')}: {hardware.get('machine', record['device'])}, "
        f"torch {hardware.get('torch', '')}, {record['seconds']:.0f} s; {count_failures(record)} failed."
    )
    rates = [f"* {name.replace('_', ' ')}: {hardware[name]:,}" for name in hardware if name.endswith("per_second")]
    parts = TITLE, wrap_text(conditions), wrap_text(COLUMN_MEANINGS), "\n".join(rates), markdown_rows(table(record))
    return "\n\n".join(parts) + "\n"
