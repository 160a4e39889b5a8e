"""How a run takes memory from the system and gives it back, so that a long run holds no more than a short one."""

import ctypes
import os
from contextlib import suppress

LARGE_BLOCK_BYTES = 16 << 20
FREE_HEAP_BYTES = 256 << 20  # at the end of the heap, reused by the next tensors
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # names of these settings in glibc's malloc.h


def give_back_large_blocks() -> None:
    """From now on blocks of 16 MB and more have pages of their own, which their end gives back to the system.

    Otherwise glibc raises the limit to 32 MB: tensors share the heap with small things that live long, and what is
    free between these is lost for larger tensors. A lower limit costs time, because new pages are cleared by the
    system: with 1 MB a training step takes a fifth to a third longer. Nothing changes under another C library, or where
    `MALLOC_MMAP_THRESHOLD_` is set.
    """
    if "MALLOC_MMAP_THRESHOLD_" in os.environ:
        return
    with suppress(AttributeError, OSError, TypeError):  # no such function, or no such library
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES)
        library.mallopt(M_TRIM_THRESHOLD, FREE_HEAP_BYTES)
