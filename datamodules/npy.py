"""Numbers in .npy files: all of them, or one line that says what is wrong. Pickled objects are never loaded."""

from pathlib import Path

import numpy as np

from datamodules.errors import InputError


def read_numbers(path: Path) -> np.memmap:
    """The array of a file, memory-mapped. Raises InputError where it holds anything else, or more or less than that."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except Exception as error:  # a damaged header fails in many ways
        raise InputError(f"{path}: not a .npy file of numbers ({' '.join(str(error).split())})") from None
    if not isinstance(array, np.memmap) or array.dtype.kind not in "fiu":
        raise InputError(f"{path}: not a .npy file of numbers")
    if (size := path.stat().st_size) != array.offset + array.nbytes:
        raise InputError(f"{path}: {size:,} bytes instead of {array.offset + array.nbytes:,}; make or copy it again")
    return array
