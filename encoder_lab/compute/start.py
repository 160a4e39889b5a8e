"""What a process of a run sets up: how memory goes back to the system, libraries in two thirds of their time.

Lightning's import takes a third of the processor time: a fifth of it is saved by the garbage collector, the rest by
metrics that are not imported (`python benchmarks/start_up.py` with this block and without).
"""

import ctypes
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

LARGE_BLOCK_BYTES = 16 << 20
FREE_HEAP_BYTES = 256 << 20  # at the end of the heap, reused by the next tensors
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # names of these settings in glibc's malloc.h
# of single metrics: of sound, of text by BERT, plots
UNUSED_LIBRARIES = ("scipy", "transformers", "matplotlib")


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


@contextmanager
def quick_imports(own_parts: bool = False) -> Iterator[None]:
    """Imports in the block are done without the garbage collector, which searches the new modules again and again.

    Lightning imports torchmetrics, which imports UNUSED_LIBRARIES if it finds them: half of Lightning's time. We
    use none of these metrics. Parts of the user may (`own_parts`); then torchmetrics is imported whole.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        if not own_parts:
            _import_lightning()
        yield
    finally:
        gc.freeze()  # a million objects that stay: no later search reads them
        if was_on:
            gc.enable()


def _import_lightning() -> None:
    """Import Lightning; its torchmetrics finds no UNUSED_LIBRARIES."""
    if "torchmetrics" not in sys.modules:
        from lightning_utilities.core import imports as lightning_imports

        imports: Any = lightning_imports
        package_available, holds = imports.package_available, imports.RequirementCache.__bool__
        seen: Any = lambda name: name not in UNUSED_LIBRARIES  # noqa: E731
        imports.package_available = lambda name: seen(name) and package_available(name)
        name_of: Any = lambda cache: (cache.requirement or "").partition(">")[0]  # noqa: E731
        imports.RequirementCache.__bool__ = lambda cache: seen(name_of(cache)) and holds(cache)
        try:
            import torchmetrics  # noqa: F401
        finally:
            imports.package_available, imports.RequirementCache.__bool__ = package_available, holds
    import pytorch_lightning  # noqa: F401
