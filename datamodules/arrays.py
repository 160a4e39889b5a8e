"""Arrays on disk: many id sequences in one array (ragged), and numeric .npy files."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from encoder_lab.errors import InputError
from encoder_lab.storage.files import refuse_special

CHUNK_ROWS = 1 << 14  # sequences in memory at a time


class Ragged(NamedTuple):
    """Many id sequences in one array: sequence i is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: np.ndarray  # (total,) int32
    offsets: np.ndarray  # (N + 1,) int64


def make_ragged(rows: Iterable[Sequence[int]]) -> Ragged:
    """Pack id sequences into one array."""
    arrays = [np.array(row, dtype=np.int32) for row in rows]
    offsets = np.concatenate([[0], np.cumsum([len(a) for a in arrays], dtype=np.int64)]).astype(np.int64)
    return Ragged(np.concatenate(arrays) if arrays else np.empty(0, np.int32), offsets)


def chunks(rows: Iterable, size: int = CHUNK_ROWS) -> Iterator[list]:
    """Lists of `size` rows; the last may be shorter."""
    stream = iter(rows)
    while chunk := list(islice(stream, size)):
        yield chunk


def save_ragged(stem: Path, rows: Iterable[Sequence[int]]) -> None:
    """Write sequences to `<stem>.ids.npy` and `<stem>.offsets.npy` in chunks; memory stays flat."""
    with (
        ArrayFile(Path(f"{stem}.ids.npy"), np.int32) as ids,
        ArrayFile(Path(f"{stem}.offsets.npy"), np.int64) as offsets,
    ):
        end = 0
        offsets.append(np.zeros(1, np.int64))
        for chunk in chunks(rows, CHUNK_ROWS):
            lengths = np.fromiter(map(len, chunk), np.int64, len(chunk))
            ends = end + lengths.cumsum()
            ids.append(np.fromiter(chain.from_iterable(chunk), np.int32, int(lengths.sum())))
            offsets.append(ends)
            end = int(ends[-1])


def load_ragged(stem: Path) -> Ragged:
    """Memory-map what `save_ragged` wrote."""
    return Ragged(*(np.load(f"{stem}.{part}.npy", mmap_mode="r") for part in ("ids", "offsets")))


class ArrayFile:
    """Writes a .npy file in pieces; its length is known only at the end. Each entry has the shape `item`."""

    def __init__(self, path: Path, dtype: type[np.generic], item: tuple[int, ...] = ()) -> None:
        self.path, self.dtype, self.item, self.length = path, np.dtype(dtype), item, 0

    def __enter__(self) -> "ArrayFile":
        self.file: IO[bytes] = self.path.open("wb")
        self._write_header()
        self.begin = self.file.tell()
        return self

    def append(self, values: np.ndarray) -> None:
        self.file.write(np.ascontiguousarray(values, self.dtype).tobytes())
        self.length += len(values)

    def __exit__(self, *_: object) -> None:
        self.file.seek(0)
        self._write_header()
        assert self.file.tell() == self.begin  # numpy pads the header, so a longer array still fits
        self.file.close()

    def _write_header(self) -> None:
        description = np.lib.format.dtype_to_descr(self.dtype)
        header = {"shape": (self.length, *self.item), "fortran_order": False, "descr": description}
        np.lib.format.write_array_header_1_0(self.file, header)


def read_numbers(path: Path) -> np.memmap:
    """The numeric array of a .npy file, memory-mapped. Raises InputError for other content or a wrong file size."""
    refuse_special(path)
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except Exception as error:  # a corrupt header fails in many ways
        raise InputError(f"{path}: not a .npy file of numbers ({' '.join(str(error).split())})") from None
    if not isinstance(array, np.memmap) or array.dtype.kind not in "fiu":
        raise InputError(f"{path}: not a .npy file of numbers")
    if (size := path.stat().st_size) != array.offset + array.nbytes:
        raise InputError(f"{path}: {size:,} bytes instead of {array.offset + array.nbytes:,}; make or copy it again")
    return array
