"""Confidence intervals of scores, and tests whether two scores differ."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # which imports its parts at their first use

Z95 = 1.959963984540054
RESAMPLES = 10_000
MIN_P_VALUE = 1e-12  # the smallest p-value that is written

TIE_DIGITS = 9  # after the point: the sum of the same scores in another order differs beyond, which would break ties

Interval = tuple[float, float, float]  # a score, the low and the high end of its 95% interval


class StandardError(NamedTuple):
    """A standard error and its degrees of freedom."""

    deviation: float
    degrees_of_freedom: float


class PairedComparison(NamedTuple):
    """Two models; `compare`: on the same test sentences."""

    difference: float  # first minus second, percentage points
    low: float  # 95% interval of the difference; `compare`: by paired bootstrap (Efron and Tibshirani 1993)
    high: float
    p_value: float  # null hypothesis: no difference; `compare`: exact McNemar test


def wilson_interval(correct: float, total: int) -> tuple[float, float]:
    """The 95% interval, in percent, of an accuracy of `correct` out of `total` (Wilson 1927)."""
    if total == 0:
        return 0.0, 100.0
    share, weight = correct / total, Z95**2 / total
    half = math.sqrt(weight * (share * (1 - share) + weight / 4))
    low, high = ((share + weight / 2 + sign * half) / (1 + weight) for sign in (-1, 1))
    return 100 * max(low, 0.0), 100 * min(high, 1.0)


def interval_with_ties(holds: float, total: int) -> tuple[float, float]:
    """Wilson's 95% interval in percent; if ties leave a half, it covers the intervals of both neighbouring counts."""
    return wilson_interval(math.floor(holds), total)[0], wilson_interval(math.ceil(holds), total)[1]


def fisher_interval(r: float, pairs: int) -> tuple[float, float]:
    """The 95% interval of a Pearson correlation over `pairs` pairs (Fisher 1915)."""
    if pairs < 4:
        return -1.0, 1.0
    if abs(r) >= 1:
        return r, r
    margin = Z95 / math.sqrt(pairs - 3)
    return math.tanh(math.atanh(r) - margin), math.tanh(math.atanh(r) + margin)


def mean_of_runs(runs: Sequence[Interval]) -> Interval:
    """The mean over runs with different seeds, and its 95% interval; a single run is unchanged.

    Half of its width is the root of a sum of squares: half of the interval of one run, as all seeds may have the same
    test items, and half of Student's t interval over the seeds.
    """
    scores, lows, highs = np.array(runs, dtype=float).T
    if len(runs) == 1 or np.ptp(scores) == 0:
        return round(float(scores[0]), TIE_DIGITS), float(lows.mean()), float(highs.mean())
    mean, seeds = round(float(scores.mean()), TIE_DIGITS), half_width([errors_of(runs)[1]])
    low, high = math.hypot(mean - lows.mean(), seeds), math.hypot(highs.mean() - mean, seeds)
    return mean, float(mean - low), float(mean + high)


def bounded_mean_of_runs(runs: Sequence[Interval], highest: float = 100.0, lowest: float = 0.0) -> Interval:
    """`mean_of_runs` of scores from `lowest` to `highest`, which also bound its interval."""
    mean, low, high = mean_of_runs(runs)
    return mean, max(low, min(lowest, mean)), min(high, max(highest, mean))


def mean_of_tasks(tasks: Sequence[Sequence[Interval]]) -> list[Interval]:
    """The mean over tasks in each run: tasks have their own items, but share the training of a seed.

    One run, the mean of all, where a task has fewer runs than another. `mean_of_runs` makes one interval of it.
    """
    if len({len(runs) for runs in tasks}) > 1:
        tasks = [[mean_of_runs(runs)] for runs in tasks]
    scores, lows, highs = np.moveaxis(np.array(tasks, dtype=float), 2, 0)  # (tasks, runs)
    means, halves = scores.mean(0), np.sqrt(((highs - lows) ** 2).sum(0)) / 2 / len(tasks)
    return [(float(mean), float(mean - half), float(mean + half)) for mean, half in zip(means, halves, strict=True)]


def errors_of(runs: Sequence[Interval]) -> list[StandardError]:
    """The errors of a mean over runs: of the test items and, with several runs, of the seeds."""
    scores, lows, highs = np.array(runs, dtype=float).T
    items = StandardError(float((highs - lows).mean()) / 2 / Z95, math.inf)
    if len(runs) == 1:
        return [items]
    return [items, StandardError(float(scores.std(ddof=1)) / math.sqrt(len(runs)), len(runs) - 1)]


def half_width(errors: Sequence[StandardError], level: float = 0.05) -> float:
    """Half of the interval of a sum with these independent errors, at 1 - `level`."""
    tails = (-float(scipy.special.stdtrit(error.degrees_of_freedom, level / 2)) for error in errors)  # of Student's t
    return math.hypot(*(error.deviation * tail for error, tail in zip(errors, tails, strict=True)))


def p_value(difference: float, errors: Sequence[StandardError]) -> float:
    """The level at which the interval of a difference reaches 0; two-sided, null hypothesis: no difference."""
    if difference == 0:
        return 1.0
    if abs(difference) >= half_width(errors, MIN_P_VALUE):
        return MIN_P_VALUE

    def excess(log: float) -> float:
        return half_width(errors, math.exp(log)) - abs(difference)

    return math.exp(scipy.optimize.brentq(excess, math.log(MIN_P_VALUE), 0.0))


def compare_over_seeds(seeds: Sequence[PairedComparison]) -> PairedComparison:
    """Two models with several seeds, compared seed by seed; one seed is unchanged.

    The test respects both samples, the items and the seeds: a test over the items alone would hold for these weights
    only, one over the seeds alone for these items only (Clark 1973). Its p-value is never below the exact one of the
    clearest seed.
    """
    if len(seeds) == 1:
        return seeds[0]
    runs = [(seed.difference, seed.low, seed.high) for seed in seeds]
    exact = min(seed.p_value for seed in seeds)
    return PairedComparison(*mean_of_runs(runs), max(p_value(mean_of_runs(runs)[0], errors_of(runs)), exact))


def compare_unpaired(first: Sequence[Interval], second: Sequence[Interval]) -> PairedComparison:
    """Two models by the intervals of their runs alone (Zou 2007, for independent scores).

    Scores of the same items are usually positively correlated; then the interval is too wide, never too narrow.
    """
    (a, a_low, a_high), (b, b_low, b_high) = mean_of_runs(first), mean_of_runs(second)
    low, high = math.hypot(a - a_low, b_high - b), math.hypot(a_high - a, b - b_low)
    p = p_value(a - b, [*errors_of(first), *errors_of(second)])
    return PairedComparison(a - b, a - b - low, a - b + high, p)


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided exact p-value of equal error rates, from the items that only one model has right (McNemar 1947)."""
    tail = scipy.special.bdtr(min(only_first, only_second), only_first + only_second, 0.5)
    return min(1.0, 2 * float(tail))  # binomtest takes a thousand times as long


def compare(first: np.ndarray, second: np.ndarray) -> PairedComparison:
    """Accuracy of `first` minus that of `second`: (N,) or (N, K) bool, what of the same N test items each has right.

    Of items with K answers the test is of those that one model has right more often. Raises ValueError where the shapes
    differ or N is 0.
    """
    if first.shape != second.shape or not len(first):
        raise ValueError(f"the same sentences for both, not {first.shape} and {second.shape}")
    answers, more = first.size // len(first), (first.astype(int) - second).reshape(len(first), -1).sum(1)
    # Only the difference of an item matters, so a bootstrap sample is a draw of how many have each one.
    values = np.array([*(value for value in range(answers, -answers - 1, -1) if value), 0])
    shares = (more[:, None] == values).mean(0)
    differences = np.random.default_rng(0).multinomial(len(first), shares, RESAMPLES) @ values
    low, high = np.quantile(100 * differences / first.size, (0.025, 0.975))
    p = mcnemar(int((more > 0).sum()), int((more < 0).sum()))
    return PairedComparison(100 * int(more.sum()) / first.size, float(low), float(high), p)
