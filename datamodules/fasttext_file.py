"""The layout of a fastText `.bin`, walked through before fastText reads it: on a cut one it hangs, or reads garbage."""

import mmap
import struct
from pathlib import Path

from datamodules.errors import InputError

MAGIC, NEWEST = 793712314, 12
CENTROIDS = 256  # of each part of a product quantiser
BEHIND_WORD = 1 + 8 + 1  # the null byte, the count, the type: 0 for words, which come first, and 1 for labels


def check_bin(path: Path) -> None:
    """Raises InputError where a file is no fastText model, or not as long as its own numbers say."""
    size = path.stat().st_size
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            end = _Reader(data).end()
    except (
        struct.error,
        ValueError,
        OverflowError,
        IndexError,
    ):  # beyond the end, in the dictionary or after; empty files map nowhere
        raise InputError(
            f"{path}: cut off after {size:,} bytes; delete it, and get or make the fastText model again"
        ) from None
    if end is None:
        raise InputError(f"{path}: not a fastText model, or damaged; delete it, and get or make it again")
    if end != size:
        raise InputError(
            f"{path}: {size:,} bytes instead of {end:,}; delete it, and get or make the fastText model again"
        )


class _Reader:
    """Finds where a model ends: settings, dictionary, input matrix, output matrix."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data, self.at = data, 0

    def end(self) -> int | None:
        """The offset behind the model, which may be beyond the file; None if the numbers make no sense."""
        magic, version, dim, *_, bucket, _, _, _, _ = self._take("<14id")
        if magic != MAGIC or version > NEWEST or dim < 1:
            return None
        entries, words, labels, _, pruned = self._take("<3i2q")
        if entries < 1 or words < 0 or words + labels != entries:
            return None
        for place in range(entries):
            if (null := self.data.find(b"\0", self.at)) < 0:
                raise ValueError("a word without an end")
            self.at = null + BEHIND_WORD
            if self.data[self.at - 1] != (place >= words):  # fastText would count other words than it says
                return None
        self.at += 8 * max(0, pruned)
        (quantised,) = self._take("<?")
        rows, columns = self._matrix(quantised)
        if columns != dim or rows != words + (bucket if pruned < 0 else pruned):
            return None
        (output_quantised,) = self._take("<?")
        return self.at if self._matrix(quantised and output_quantised)[1] == dim else None

    def _take(self, form: str) -> tuple:
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values

    def _matrix(self, quantised: bool) -> tuple[int, int]:
        """Steps over a matrix; its rows and columns."""
        (with_norm,) = self._take("<?") if quantised else (False,)
        rows, columns = self._take("<2q")
        if not quantised:
            self.at += 4 * max(0, rows) * max(0, columns)
            return rows, columns
        (codes,) = self._take("<i")
        self._quantiser(codes)
        if with_norm:
            self._quantiser(rows)
        return rows, columns

    def _quantiser(self, codes: int) -> None:
        """Steps over so many codes of one byte and the centroids that they stand for."""
        self.at += max(0, codes)
        dim, *_ = self._take("<4i")
        self.at += 4 * max(0, dim) * CENTROIDS
