"""Whether a published task has as many items as were published: a part of a file gives a score of another task."""

import sys
from collections.abc import Iterable, Mapping

from probes.task import Items


def warn_of_wrong_sizes(parts: Mapping[str, Iterable[Items]], published: Mapping[str, int]) -> None:
    """Print a line for each task of another size, by more than a tenth; those not published are the user's own."""
    for name in (name for name in parts if name in published):
        items, wanted = sum(len(part.gold) for part in parts[name]), published[name]
        if abs(items - wanted) > wanted / 10:
            line = f"{name}: {items:,} items, but {wanted:,} are published; its scores are not those of the task"
            print(f"warning: {line}", file=sys.stderr)
