"""Columns of plain text."""

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """A line for each row; the first `left` columns are aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    signs = ["<" if index < left else ">" for index in range(len(widths))]
    return ["  ".join(map("{:{}{}}".format, row, signs, widths)).rstrip() for row in rows]
