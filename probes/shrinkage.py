"""How much of a covariance is noise: the estimate of Ledoit and Wolf (2004), equations 14 to 16."""

import numpy as np


def shrinkage(squared_norms: np.ndarray, product_norm: float, width: int) -> float:
    """The weight, 0 to 1, of the mean variance times the identity, next to the covariance of centred vectors X (N, D).

    `squared_norms (N,)`: of the vectors; `product_norm`: the sum of the squares of X'X, which is that of XX'.
    scikit-learn's has the same value after two more products of N D^2 multiplications.
    """
    size = len(squared_norms)
    covariance_norm = product_norm / size**2
    mean_variance = float(squared_norms.sum()) / size / width
    distance = covariance_norm / width - mean_variance**2
    noise = (float((squared_norms**2).sum()) / size - covariance_norm) / size / width
    return min(1.0, noise / distance) if distance > 0 and noise > 0 else 0.0
