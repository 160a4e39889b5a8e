"""Tables of the reports that the builders of tasks write."""

from collections.abc import Sequence

import numpy as np

MOST_CLASSES = 24


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """The lines of a Markdown table; whole numbers with commas, others with one decimal. None without rows."""
    cells = [[_cell(value) for value in row] for row in rows]
    return ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *cells)] if rows else []


def class_table(counts: Sequence[Sequence[object]]) -> list[str]:
    """How often train, dev and test have each class; of many classes the first."""
    remainder = [f"and {len(counts) - MOST_CLASSES} more classes"] if len(counts) > MOST_CLASSES else []
    return [*table(("class", "train", "dev", "test"), counts[:MOST_CLASSES]), *remainder]


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int | np.integer) else str(value)
