"""Batches of similar length, for models that read padded texts."""

from collections.abc import Iterator, Sequence

import numpy as np


def length_batches(
    order: np.ndarray, lengths: Sequence[int] | np.ndarray, budget: int, most: int | None = None
) -> Iterator[np.ndarray]:
    """The rows of `order`, the longest first: at most `budget` padded tokens and `most` rows in a batch, or one row."""
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, int(lengths[order[start]])))
        batch = order[start : start + min(size, most or size)]
        yield batch
        start += len(batch)
