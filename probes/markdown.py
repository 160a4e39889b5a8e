"""Tables of the reports that the builders of tasks write."""

from collections.abc import Sequence

import numpy as np


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """The lines of a Markdown table; whole numbers with commas, others with one decimal. None without rows."""
    cells = [[_cell(value) for value in row] for row in rows]
    return ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *cells)] if rows else []


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int | np.integer) else str(value)
