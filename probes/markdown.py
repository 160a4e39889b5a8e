"""The reports that the builders of tasks write: pages and tables."""

from collections.abc import Iterable, Sequence

import numpy as np

from probes.classification import Classification

MAX_CLASS_ROWS = 24


def page(*blocks: str | Sequence[str]) -> str:
    """A page of texts and lists of lines, with a blank line between two; empty ones are left out."""
    return "\n\n".join(block if isinstance(block, str) else "\n".join(block) for block in blocks if block) + "\n"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """The lines of a Markdown table; whole numbers with commas, others with one decimal. None without rows."""
    cells = [[_cell_text(value) for value in row] for row in rows]
    return ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *cells)] if rows else []


def size_table(tasks: Iterable[Classification]) -> list[str]:
    """How many items and classes each task has."""
    rows = [(task.name, *(len(part.gold) for part in task.parts), len(task.classes)) for task in tasks]
    return markdown_table(("task", "train", "dev", "test", "classes"), rows)


def class_table(task: Classification) -> list[str]:
    """How often train, dev and test have each class; of many classes the first."""
    counts = [np.bincount(part.gold, minlength=len(task.classes)) for part in task.parts]
    rows = [(f"`{label}`", *numbers) for label, *numbers in zip(task.classes, *counts, strict=True)]
    remainder = [f"and {len(rows) - MAX_CLASS_ROWS} more classes"] if len(rows) > MAX_CLASS_ROWS else []
    return [*markdown_table(("class", "train", "dev", "test"), rows[:MAX_CLASS_ROWS]), *remainder]


def _cell_text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int | np.integer) else str(value)
