"""Divides items among the processes that probe together."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

Part = TypeVar("Part", np.ndarray, list[Any])


class Share(NamedTuple):
    """A process among those that probe together: it does every `world`-th item."""

    rank: int
    world: int
    gather: Callable[[Any], list[Any]]  # all-gather: the objects of all processes, in the order of ranks

    @property
    def indices(self) -> slice:
        """The indices of its items among all items."""
        return slice(self.rank, None, self.world)

    def merge(self, local: Part) -> Part:
        """The results of all processes, in the order of the items; `local` are those of this one."""
        if self.world == 1:
            return local
        parts = self.gather(local)
        size = sum(map(len, parts))
        merged: Any = [None] * size if isinstance(local, list) else np.empty((size, *local.shape[1:]), local.dtype)
        for rank, part in enumerate(parts):
            merged[rank :: self.world] = part
        return merged


SINGLE_PROCESS = Share(0, 1, lambda part: [part])
