"""The word lists of the demo world: one entry per line of a text file, in named sections."""

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent


@cache
def sections(name: str) -> dict[str, str]:
    """The sections `[NAME]` of `NAME.txt` in order, each as its lines; lines with # are comments."""
    lists: dict[str, list[str]] = {}
    for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            lists[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            list(lists.values())[-1].append(line)
    return {section: "\n".join(lines) for section, lines in lists.items()}
