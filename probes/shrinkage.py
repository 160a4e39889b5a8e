"""How much of a covariance is noise: the estimate of Ledoit and Wolf (2004)."""

import numpy as np

# Gain over scikit-learn's ledoit_wolf_shrinkage: 2.2 times for a subspace of 1,200 vectors, one core, by
# python -m timeit -s "import numpy as np; from probes.geometry.subspaces import probe_subspace" \
#     -s "x = np.random.randn(1200, 512); y = np.arange(1200) % 5" "probe_subspace(x, y)"


def shrinkage(squared_norms: np.ndarray, product_norm: float, width: int) -> float:
    """The weight, 0 to 1, of the mean variance times the identity, next to the covariance of centred vectors X (N, D).

    `squared_norms (N,)`: of the vectors; `product_norm`: the sum of the squares of X'X, which is that of XX'.
    """
    size = len(squared_norms)
    covariance_norm = product_norm / size**2
    mean_variance = float(squared_norms.sum()) / size / width
    distance = covariance_norm / width - mean_variance**2
    noise = (float((squared_norms**2).sum()) / size - covariance_norm) / size / width
    return min(1.0, noise / distance) if distance > 0 and noise > 0 else 0.0
