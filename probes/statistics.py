"""How sure a score is, and whether two scores differ."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

Z95 = 1.959963984540054
DRAWS = 10_000
ENOUGH = 5  # seeds


class Comparison(NamedTuple):
    """A first model against a second on the same test sentences."""

    difference: float  # first minus second, percentage points
    low: float  # 95% interval of the difference, by paired bootstrap (Efron and Tibshirani 1993)
    high: float
    p_value: float  # exact McNemar test that they err alike


def wilson(correct: int, total: int) -> tuple[float, float]:
    """The 95% interval, in percent, of an accuracy of `correct` out of `total` (Wilson 1927)."""
    if total == 0:
        return 0.0, 100.0
    share = correct / total
    middle = share + Z95**2 / (2 * total)
    half = Z95 * math.sqrt(share * (1 - share) / total + Z95**2 / (4 * total**2))
    scale = 100 / (1 + Z95**2 / total)
    return max(0.0, scale * (middle - half)), min(100.0, scale * (middle + half))


def fisher(r: float, pairs: int) -> tuple[float, float]:
    """The 95% interval of a Pearson correlation over `pairs` pairs (Fisher 1915)."""
    if pairs < 4:
        return -1.0, 1.0
    if abs(r) >= 1:
        return r, r
    half = Z95 / math.sqrt(pairs - 3)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def over_seeds(accuracies: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """The 95% interval of the mean over runs that differ in their seed: percentiles of the bootstrap.

    Where all seeds have the same test sentences it does not know of their luck; of fewer than ENOUGH runs it is too
    narrow, and of two or three it spans them.
    """
    scores = np.asarray(accuracies, dtype=float)
    drawn = np.random.default_rng(seed).choice(scores, (DRAWS, len(scores))).mean(1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)


def mean_of_runs(runs: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
    """`(score, low, high)` of runs that differ in their seed: one as it is, several as their mean and its interval."""
    if len(runs) == 1:
        return runs[0]
    scores = [score for score, _, _ in runs]
    return sum(scores) / len(scores), *over_seeds(scores)


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided exact p-value that two models err alike, from the items that just one has right (McNemar 1947)."""
    differing = only_first + only_second
    if differing == 0:
        return 1.0
    return min(1.0, 2 * float(binom.cdf(min(only_first, only_second), differing, 0.5)))


def compare(first: np.ndarray, second: np.ndarray, seed: int = 0) -> Comparison:
    """Two models on the same N sentences: `first (N,)` and `second (N,)` tell which each has right."""
    if first.shape != second.shape or not len(first):
        raise ValueError(f"the same sentences for both, not {first.shape} and {second.shape}")
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    total = len(first)
    # Sentences on which both agree add nothing, so drawing sentences is drawing three counts.
    shares = np.array([only_first, only_second, total - only_first - only_second]) / total
    drawn = np.random.default_rng(seed).multinomial(total, shares, DRAWS)
    low, high = np.quantile(100 * (drawn[:, 0] - drawn[:, 1]) / total, (0.025, 0.975))
    difference = 100 * (only_first - only_second) / total
    return Comparison(difference, float(low), float(high), mcnemar(only_first, only_second))
