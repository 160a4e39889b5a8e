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


def apart(first: Tensor, second: Tensor) -> float:
    """The largest difference, as a part of the largest number of the second."""
    first, second = (tensor.detach().to("cpu", torch.double) for tensor in (first, second))
    return float((first - second).abs().max() / second.abs().max().clamp_min(1e-12))
