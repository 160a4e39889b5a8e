"""Correlations with gold scores, of two models over the same items: SICK-R and STS.

Both share the gold scores, so they depend on each other, the more, the more the predictions agree. The p-value is
Steiger's (1980, equation 14), the usual test of two correlations that share a variable: it keeps its level where their
mean is far from 0, as here. The interval is Zou's (2007) for this case. Neither needs more than three correlations.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # which imports its parts at their first use

from probes.statistics import PairedComparison, fisher_interval

PREDICTION_STEPS = 255  # predictions are stored as bytes: their correlations change in the fifth decimal
MAX_AGREEMENT = 1 - 1e-4  # two models are never taken to agree more: bytes do not tell


class Domain(NamedTuple):
    """The test items of a correlation, all or one domain of several with equal weights."""

    r: float  # Pearson's, of predicted and gold scores
    predicted: np.ndarray  # (N,) uint8


def make_domain(r: float, predicted: np.ndarray) -> Domain:
    """A correlation with its predictions `(N,)`, from the lowest to the highest in PREDICTION_STEPS."""
    shifted = predicted - predicted.min(initial=np.inf)
    return Domain(r, np.rint(PREDICTION_STEPS * shifted / (shifted.max(initial=0) or 1)).astype(np.uint8))


def pack_domains(domains: Sequence[Domain]) -> str:
    """Domains as text: the correlation and the predictions of each."""
    return " ".join(f"{part.r:.6f}:{part.predicted.tobytes().hex()}" for part in domains)


def unpack_domains(text: str) -> tuple[Domain, ...]:
    """The inverse of `pack_domains`. Raises ValueError."""
    parts = [part.partition(":")[::2] for part in text.split()]
    domains = tuple(Domain(float(r), np.frombuffer(bytes.fromhex(bits), np.uint8)) for r, bits in parts)
    if not all(abs(part.r) <= 1 and len(part.predicted) for part in domains):  # nor NaN
        raise ValueError(text[:40])
    return domains


def compare_correlations(first: Sequence[Domain], second: Sequence[Domain]) -> PairedComparison:
    """The mean correlation over domains of `first` minus that of `second`, times 100.

    The domains have different items, so their errors add as independent ones. Differences of Fisher's z are weighted
    by the slope of the correlation, so that the test, too, is of the mean.
    """
    pairs = [(a.r, b.r, _prediction_correlation(a, b), len(a.predicted)) for a, b in zip(first, second, strict=True)]
    difference = float(np.mean([a - b for a, b, _, _ in pairs]))
    low, high = (math.hypot(*parts) / len(pairs) for parts in zip(*(_zou_reach(*pair) for pair in pairs), strict=True))
    steps, variances = np.array([_steiger_difference(*pair) for pair in pairs]).T
    p = float(2 * scipy.stats.norm.sf(abs(steps.sum()) / math.sqrt(variances.sum()))) if difference else 1.0
    return PairedComparison(100 * difference, 100 * (difference - low), 100 * (difference + high), p)


def _prediction_correlation(a: Domain, b: Domain) -> float:
    """The correlation of the predictions of two models; 0 where one side is constant."""
    if not np.ptp(a.predicted) or not np.ptp(b.predicted):
        return 0.0
    return float(np.corrcoef(a.predicted, b.predicted)[0, 1])


def _agreement(a: float, b: float, between: float) -> float:
    """The correlation of two correlations with a shared variable (Pearson and Filon 1898; Steiger 1980)."""
    covariance = between * (1 - a * a - b * b) - a * b * (1 - a * a - b * b - between * between) / 2
    return min(covariance / ((1 - a * a) * (1 - b * b)), MAX_AGREEMENT) if max(abs(a), abs(b)) < 1 else 0.0


def _steiger_difference(a: float, b: float, between: float, pairs: int) -> tuple[float, float]:
    """The difference of two correlations by Fisher's z, and its variance, on the scale of correlations."""
    mean = min(abs(a + b) / 2, MAX_AGREEMENT)
    slope = 1 - mean * mean
    first, second = (math.atanh(max(min(r, MAX_AGREEMENT), -MAX_AGREEMENT)) for r in (a, b))
    variance = (2 - 2 * _agreement(mean, mean, between)) / max(pairs - 3, 1)
    return slope * (first - second), slope * slope * variance


def _zou_reach(a: float, b: float, between: float, pairs: int) -> tuple[float, float]:
    """How far the 95% interval of a - b reaches below and above it (Zou 2007, equation 15)."""
    (a_low, a_high), (b_low, b_high) = fisher_interval(a, pairs), fisher_interval(b, pairs)
    agreement = _agreement(a, b, between)

    def distance(x: float, y: float) -> float:
        return math.sqrt(max(x * x + y * y - 2 * agreement * x * y, 0.0))

    return distance(a - a_low, b_high - b), distance(a_high - a, b - b_low)
