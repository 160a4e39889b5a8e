"""Whether a published task has as many items as were published: a part of a file gives a score of another task."""

import sys
from collections.abc import Iterable, Mapping

from probes.task import Items


def wrong_size(name: str, items: int, published: int) -> str:
    """How many items a task has, where they are not as many as were published, within a tenth; else nothing."""
    if abs(items - published) <= published / 10:
        return ""
    return f"{name}: {items:,} items, but {published:,} are published; its scores are not those of the task"


def warn_of_wrong_sizes(parts: Mapping[str, Iterable[Items]], published: Mapping[str, int]) -> None:
    """Print a line for each task of another size; tasks that were not published are the user's own."""
    for name in (name for name in parts if name in published):
        if line := wrong_size(name, sum(len(part.gold) for part in parts[name]), published[name]):
            print(f"warning: {line}", file=sys.stderr)
