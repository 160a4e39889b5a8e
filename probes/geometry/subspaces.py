"""The subspace in which a linear probe reads a task, and how near two subspaces are (Müller-Eberstein et al. 2023)."""

from functools import cache

import numpy as np
import scipy  # which imports its parts at their first use

from probes.shrinkage import shrinkage

SUBSPACE, HALVES = "subspace of ", ("first half of ", "second half of ")  # how the names of saved ones begin
RANDOM_DRAWS = 50  # of random subspaces
RELATIVE_TOLERANCE = 1e-6  # of the largest number of a matrix: nearer vectors are one, also for measures.py
RANK_TOLERANCE = 1e-5  # of the largest singular value: a direction with less is none


def probe_subspace(vectors: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """An orthonormal basis (D, k) of the weights of the least-squares probe of classes `gold` (N,) on vectors (N, D).

    k is the number of classes less one, at most D. The weights span what linear discriminant analysis spans. The
    covariance is shrunk as Ledoit and Wolf (2004) say, so that N may be smaller than D. Equal vectors have k = 0.
    """
    x = vectors.astype(np.float64) - vectors.mean(0, dtype=np.float64)
    x[:, np.abs(x).max(0) <= RELATIVE_TOLERANCE * np.abs(vectors).max(0)] = 0
    classes = np.eye(int(gold.max()) + 1)[gold]
    classes = classes[:, classes.any(0)] - classes[:, classes.any(0)].mean(0)
    size, width = x.shape
    squared_norms = (x**2).sum(1)
    if not squared_norms.any():
        return np.zeros((width, 0), dtype=np.float32)
    few = size < width  # the same weights, by a system of N equations
    product = x @ x.T if few else x.T @ x
    weight = shrinkage(squared_norms, float((product**2).sum()), width)
    product *= (1 - weight) / size
    product[np.diag_indices(len(product))] += weight * squared_norms.sum() / size / width
    weights = x.T @ _solve(product, classes) if few else _solve(product, x.T @ classes)
    axes, scales, _ = np.linalg.svd(weights, full_matrices=False)
    rank = int((scales > RANK_TOLERANCE * scales[0]).sum())
    return axes[:, : min(rank, classes.shape[1] - 1, width)].astype(np.float32)


def principal_angles(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(min(k, l),) in degrees, the smallest first, of the subspaces of two orthonormal bases (D, k) and (D, l)."""
    return np.degrees(scipy.linalg.subspace_angles(first, second))[::-1]


def overlap(first: np.ndarray, second: np.ndarray) -> float:
    """The mean squared cosine of the principal angles, in percent; k and l are at least 1."""
    return 100 * float((np.cos(np.radians(principal_angles(first, second))) ** 2).mean())


@cache
def random_overlap(rank: int, other_rank: int, width: int) -> tuple[float, float]:
    """The mean overlap of random subspaces of these ranks, which is the larger rank / D, and the highest of 97.5%."""
    random = np.random.default_rng(0)
    bases = (np.linalg.qr(random.normal(size=(width, other_rank)))[0] for _ in range(RANDOM_DRAWS))
    # with the subspace of the first axes: the squared cosines of all angles are the squares of the first rows
    overlaps = [100 * np.square(axes[:rank]).sum() / min(rank, other_rank) for axes in bases]
    return 100 * max(rank, other_rank) / width, float(np.quantile(overlaps, 0.975))


def _solve(matrix: np.ndarray, right_side: np.ndarray) -> np.ndarray:
    """The solution of a linear system, by least squares where the matrix has no inverse."""
    try:
        return scipy.linalg.solve(matrix, right_side, assume_a="pos")
    except (np.linalg.LinAlgError, scipy.linalg.LinAlgWarning):
        return np.linalg.lstsq(matrix, right_side, rcond=None)[0]
