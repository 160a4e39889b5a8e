"""The libraries of a run, imported in two thirds of the time.

Lightning's import takes a third of the processor time: a fifth of it is saved by the garbage collector, the rest by
metrics that are not imported (`python benchmarks/start_up.py` with this block and without).
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# of single metrics: of sound, of text by BERT, plots
UNUSED_LIBRARIES = ("scipy", "transformers", "matplotlib")


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
        imports.RequirementCache.__bool__ = lambda cache: (
            seen((cache.requirement or "").partition(">")[0]) and holds(cache)
        )
        try:
            import torchmetrics  # noqa: F401
        finally:
            imports.package_available, imports.RequirementCache.__bool__ = package_available, holds
    import pytorch_lightning  # noqa: F401
