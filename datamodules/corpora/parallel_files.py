"""Parallel text: line i of two files is the same sentence in two languages."""

from collections.abc import Iterator
from pathlib import Path

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_lines


def aligned(english: Path, other: Path) -> Iterator[tuple[str, str]]:
    """Pairs of raw lines. Raises InputError naming both files and their lengths if these differ."""
    sources, targets = read_lines(english), read_lines(other)
    count = 0
    for count, (_, source) in enumerate(sources, start=1):
        target = next(targets, None)
        if target is None:
            raise _unequal(english, count + sum(1 for _ in sources), other, count - 1)
        yield source, target[1]
    extra = sum(1 for _ in targets)
    if extra:
        raise _unequal(english, count, other, count + extra)


def _unequal(english: Path, lines: int, other: Path, other_lines: int) -> InputError:
    return InputError(f"{english} has {lines} lines but {other} has {other_lines}; get both files again")
