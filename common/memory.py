"""Memory that is given back to the system, so that a long run holds no more than a short one."""

import ctypes
import os
from contextlib import suppress

LARGE = 1 << 20  # bytes
M_MMAP_THRESHOLD = -3  # the name of this setting in glibc's malloc.h


def give_back_large_blocks() -> None:
    """From now on every block of at least `LARGE` bytes has pages of its own, which its end gives back to the system.

    Otherwise glibc raises this limit to 32 MB: tensors share the heap with small things that live long, such as the
    kernels that oneDNN keeps, and what is free between these is lost for larger tensors. The limit costs 2% of the
    time at most. Nothing changes under another C library, or where `MALLOC_MMAP_THRESHOLD_` is set.
    """
    if "MALLOC_MMAP_THRESHOLD_" not in os.environ:
        with suppress(AttributeError, OSError, TypeError):  # no such function, or no such library
            ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE)
