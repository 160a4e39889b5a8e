"""What the hardware can do, next to which the times of all parts stand."""

from collections.abc import Iterator
from typing import Any

from benchmarks.gpu.rows import Row
from benchmarks.gpu.sizes import Sizes
from benchmarks.gpu.speed import rates
from benchmarks.machine import hardware


def limits(sizes: Sizes) -> Iterator[dict[str, Any] | Row]:
    """The hardware with its rates of products and its bandwidth, then what it does with copies and an LSTM."""
    machine = hardware(sizes.product, sizes.megabytes)
    yield {name: machine[name] for name in machine if name != "command"}  # the whole record has that of all parts
    yield from rates(sizes)
