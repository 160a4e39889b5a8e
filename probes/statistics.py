"""Confidence intervals of scores, and tests whether two scores differ."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest

Z95 = 1.959963984540054
DRAWS = 10_000
ENOUGH = 5  # seeds


class PairedComparison(NamedTuple):
    """Two models on the same test sentences."""

    difference: float  # first minus second, percentage points
    low: float  # 95% interval of the difference, by paired bootstrap (Efron and Tibshirani 1993)
    high: float
    p_value: float  # exact McNemar test; null hypothesis: equal error rates


def wilson(correct: int, total: int) -> tuple[float, float]:
    """The 95% interval, in percent, of an accuracy of `correct` out of `total` (Wilson 1927)."""
    if total == 0:
        return 0.0, 100.0
    test = binomtest(correct, total, correct / total)  # no other rate is as fast; the interval ignores it
    interval = test.proportion_ci(method="wilson")
    return 100 * float(interval.low), 100 * float(interval.high)


def fisher(r: float, pairs: int) -> tuple[float, float]:
    """The 95% interval of a Pearson correlation over `pairs` pairs (Fisher 1915)."""
    if pairs < 4:
        return -1.0, 1.0
    if abs(r) >= 1:
        return r, r
    half = Z95 / math.sqrt(pairs - 3)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def over_seeds(accuracies: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """The 95% interval of the mean over runs with different seeds: percentile bootstrap.

    If all runs share the same test sentences, the interval excludes test-set sampling variance. With fewer than ENOUGH
    runs it is too narrow; with two or three it is just their range.
    """
    scores = np.asarray(accuracies, dtype=float)
    drawn = np.random.default_rng(seed).choice(scores, (DRAWS, len(scores))).mean(1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)


def mean_of_runs(runs: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
    """`(score, low, high)` over runs with different seeds: their mean and its interval; a single run is unchanged."""
    if len(runs) == 1:
        return runs[0]
    scores = [score for score, _, _ in runs]
    return sum(scores) / len(scores), *over_seeds(scores)


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided exact p-value of equal error rates, from the items that only one model has right (McNemar 1947)."""
    differing = only_first + only_second
    if differing == 0:
        return 1.0
    return float(binomtest(only_first, differing).pvalue)


def compare(first: np.ndarray, second: np.ndarray, seed: int = 0) -> PairedComparison:
    """Compare two models on the same N sentences; `first (N,)`, `second (N,)`: which are correct."""
    if first.shape != second.shape or not len(first):
        raise ValueError(f"the same sentences for both, not {first.shape} and {second.shape}")
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    total = len(first)
    # Sentences on which both agree do not matter, so a bootstrap sample is a draw of three counts.
    shares = np.array([only_first, only_second, total - only_first - only_second]) / total
    drawn = np.random.default_rng(seed).multinomial(total, shares, DRAWS)
    low, high = np.quantile(100 * (drawn[:, 0] - drawn[:, 1]) / total, (0.025, 0.975))
    difference = 100 * (only_first - only_second) / total
    return PairedComparison(difference, float(low), float(high), mcnemar(only_first, only_second))
