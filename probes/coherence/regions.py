"""From the surprisals of tokens to those of regions, by the characters where tokens start."""

from collections.abc import Sequence

import numpy as np


def text_of(regions: Sequence[str]) -> str:
    """The text of a condition: its regions that are not empty, with one space between them."""
    return " ".join(region for region in regions if region)


def regions_of(starts: np.ndarray, regions: Sequence[str]) -> np.ndarray:
    """The region, from 0, of each token of `text_of(regions)`, (T,).

    A token belongs to the region in which it starts, also if it ends in a later one. The space between two regions
    belongs to the later one, so that a token which begins with that space is the later one's.
    """
    filled = np.array([number for number, region in enumerate(regions) if region])
    lengths = np.array([len(region) for region in regions if region])
    edges = np.concatenate([[0], np.cumsum(lengths[:-1] + 1) - 1]).astype(int)  # a space before all but the first
    return filled[np.maximum(np.searchsorted(edges, starts, side="right") - 1, 0)]


def segment_values(metric: str, surprisals: np.ndarray, segments: np.ndarray, count: int) -> np.ndarray:
    """One value for each of `count` segments, (count,): sum, mean, median, range, max or min of its surprisals.

    `segments (T,)` says which segment each of the `surprisals (T,)` belongs to. A segment without a token has the
    sum 0, and NaN for all the others.
    """
    sizes = np.bincount(segments, minlength=count)
    # The order of a sum is that of the sizes, so that the same tokens in another order have the same sum.
    ordered = surprisals[np.lexsort((surprisals, segments))].astype(np.float64)
    out, non_empty = np.full(count, 0.0 if metric == "sum" else np.nan), sizes > 0
    if non_empty.any():
        size, last = sizes[non_empty], np.cumsum(sizes)[non_empty] - 1
        first = last - size + 1
        sums = np.add.reduceat(ordered, first)
        values = {
            "sum": sums,
            "mean": sums / size,
            "median": (ordered[first + (size - 1) // 2] + ordered[first + size // 2]) / 2,
            "range": ordered[last] - ordered[first],
            "max": ordered[last],
            "min": ordered[first],
        }
        out[non_empty] = values[metric]
    return out
