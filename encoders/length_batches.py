"""Batches of similar length, for models that read padded texts."""

from collections.abc import Iterator, Sequence

import numpy as np


def length_batches(
    order: np.ndarray, lengths: Sequence[int] | np.ndarray, budget: int, max_rows: int | None = None
) -> Iterator[np.ndarray]:
    """The rows of `order`, the longest first: at most `budget` padded tokens and `max_rows` rows in a batch, or one."""
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, int(lengths[order[start]])))
        batch = order[start : start + min(size, max_rows or size)]
        yield batch
        start += len(batch)
