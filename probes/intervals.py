"""How sure a score is."""

import math

from scipy.stats import binom

Z95 = 1.959963984540054


def wilson(correct: int, total: int) -> tuple[float, float]:
    """The 95% interval, in percent, of an accuracy of `correct` out of `total` (Wilson 1927)."""
    share = correct / total
    middle = share + Z95**2 / (2 * total)
    half = Z95 * math.sqrt(share * (1 - share) / total + Z95**2 / (4 * total**2))
    scale = 100 / (1 + Z95**2 / total)
    return max(0.0, scale * (middle - half)), min(100.0, scale * (middle + half))


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided exact p-value that two models err alike, from the items that just one has right (McNemar 1947)."""
    differing = only_first + only_second
    if differing == 0:
        return 1.0
    return min(1.0, 2 * float(binom.cdf(min(only_first, only_second), differing, 0.5)))
