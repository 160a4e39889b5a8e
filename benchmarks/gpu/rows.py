"""What the parts of `make gpu` find."""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor


class Difference(NamedTuple):
    """How far a result on the device is from that of the CPU, or of another run."""

    what: str
    largest: float
    tolerance: float

    @property
    def passes(self) -> bool:
        return self.largest <= self.tolerance  # NaN does not


class Time(NamedTuple):
    """What a piece of work takes."""

    what: str
    seconds: float
    others: Mapping[str, float] = {}  # seconds of other ways to do the same work
    gflop: float = 0.0  # of its matrix products
    gigabytes: float = 0.0  # that it moves at least
    precision: str = "32-true"


Row = Difference | Time


def difference(what: str, result: Tensor, expected: Tensor, tolerance: float) -> Difference:
    """The largest difference, as a part of the largest number that is expected."""
    result, expected = (tensor.detach().to("cpu", torch.double) for tensor in (result, expected))
    largest = (result - expected).abs().max() / expected.abs().max().clamp_min(1e-12)
    return Difference(what, float(largest), tolerance)
