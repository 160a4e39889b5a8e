"""Measures of the shape of N vectors, each with its 95% interval: a jackknife over ten groups of sentences.

Products of covariances are estimated without bias (`hsic`), so that N may be smaller than the width. Vectors that are
all equal have no shape: 0 dimensions, isotropy 0, and no similarity to others.
"""

from collections.abc import Callable
from math import inf, sqrt

import numpy as np
import torch
from torch import Tensor

from probes.geometry.subspaces import RELATIVE_TOLERANCE
from probes.statistics import Interval

GROUPS = 10
STUDENT_QUANTILE = 2.262  # of 9 degrees of freedom, 95%


def effective_rank(vectors: Tensor) -> Interval:
    """Exponential of the entropy of the singular values of centred (N, D) (Roy and Vetterli 2007); at most N - 1."""

    def rank(rows: Tensor) -> float:
        rows = rows - rows.mean(0)
        square = rows.T @ rows if len(rows) > rows.shape[1] else rows @ rows.T  # as large as the smaller side
        sizes = torch.linalg.eigvalsh(square).clamp(min=0).sqrt()
        parts = sizes / sizes.sum()
        return float(torch.special.entr(parts).sum().exp()) if sizes.sum() > 0 else 0.0

    return _jackknife(rank, vectors.double(), min(vectors.shape[0] - 1, vectors.shape[1]))


def participation_ratio(vectors: Tensor) -> Interval:
    """How many directions share the variance of (N, D): (sum of eigenvalues)^2 / sum of their squares.

    The eigenvalues are those of the covariance, of which both sums are estimated without bias.
    """
    return _jackknife_interval(_participation_ratios(vectors), 0, vectors.shape[1])


def iso_score(vectors: Tensor) -> Interval:
    """IsoScore (Rudman et al. 2022) in percent: 0 one direction, 100 all alike.

    Steps 3 to 7 of the paper's Algorithm 1 come to (P - 1) / (D - 1), where P is the participation ratio.
    """
    width = vectors.shape[1]
    return _jackknife_interval(100 * (_participation_ratios(vectors) - 1) / max(1, width - 1), 0)


def mean_cosine(vectors: Tensor) -> Interval:
    """The mean cosine of two of the vectors (N, D), in percent (Ethayarajh 2019); zero vectors have cosine 0."""
    unit = torch.nn.functional.normalize(vectors.double(), eps=1e-300)
    sizes, lengths = _leave_out_sizes(len(unit)), _leave_out_sums(unit.square().sum(1))
    return _jackknife_interval(100 * (_leave_out_sums(unit).square().sum(1) - lengths) / (sizes * (sizes - 1)))


def two_nn(vectors: Tensor) -> Interval:
    """The intrinsic dimension by the two nearest neighbours of each vector (N, D) (Facco et al. 2017).

    The maximum likelihood estimate without bias, (N - 1) / sum of log(r2 / r1); of equal vectors one is taken.
    """
    distances = torch.cdist(vectors.double(), vectors.double(), compute_mode="donot_use_mm_for_euclid_dist")
    tolerance = RELATIVE_TOLERANCE * float(vectors.abs().max())
    first = ~(torch.tril(distances <= tolerance, diagonal=-1).any(1))

    def dimension(indices: Tensor) -> float:
        indices = indices[first[indices]]
        if len(indices) < 3:
            return 0.0
        nearest = distances[indices][:, indices].topk(3, largest=False).values  # itself, r1, r2
        logs = (nearest[:, 2] / nearest[:, 1]).log().sum()
        return float((len(indices) - 1) / logs) if logs > 0 else 0.0

    return _jackknife(dimension, torch.arange(len(vectors)), inf)


def linear_cka(a: Tensor, b: Tensor) -> Interval:
    """Linear CKA of the same N items in two spaces (N, D1) and (N, D2), in percent (Kornblith et al. 2019).

    Without bias (Nguyen et al. 2021): unrelated spaces have 0, however wide they are.
    """
    first, second = gram_matrix(a), gram_matrix(b)
    scale = (hsic(first, first) * hsic(second, second)).clamp(min=0).sqrt()
    return _jackknife_interval(100 * torch.where(scale > 0, hsic(first, second) / scale, 0))


def gram_matrix(vectors: Tensor) -> Tensor:
    """The products (N, N) of centred vectors (N, D) with each other; 0 with themselves."""
    centred = vectors.double() - vectors.double().mean(0)
    constant = centred.abs().amax(0) <= RELATIVE_TOLERANCE * vectors.abs().amax(0)
    centred[:, constant] = 0  # what rounding leaves of it
    return (centred @ centred.T).fill_diagonal_(0)


def hsic(a: Tensor, b: Tensor) -> Tensor:
    """The squared norm of the covariance of two spaces, without bias (Song et al. 2012, equation 5).

    `a`, `b` (N, N) of `gram_matrix`. (1 + G,): of all N items, then without each group.
    """
    sizes, groups = _leave_out_sizes(len(a)), _group_indicators(len(a))
    present = torch.cat([torch.ones(1, len(a), dtype=torch.double), 1 - groups])
    blocks = groups @ (a * b) @ groups.T
    traces = torch.cat([blocks.sum()[None], blocks.sum() - blocks.sum(0) - blocks.sum(1) + blocks.diagonal()])
    first, second = _leave_out_sums(a), _leave_out_sums(b)  # the sum of each row, (1 + G, N)
    sums = (present * first).sum(1) * (present * second).sum(1) / ((sizes - 1) * (sizes - 2))
    products = (present * first * second).sum(1) / (sizes - 2)
    return (traces + sums - 2 * products) / (sizes * (sizes - 3))


def _participation_ratios(vectors: Tensor) -> Tensor:
    """The participation ratio of all vectors, then without each group; 0 where all are equal."""
    k = gram_matrix(vectors)
    squares = hsic(k, k)
    if not float(k.abs().max()):
        return torch.zeros_like(squares)
    centred, sizes = vectors.double() - vectors.double().mean(0), _leave_out_sizes(len(vectors))
    lengths = _leave_out_sums(centred.square().sum(1)) - _leave_out_sums(centred).square().sum(1) / sizes
    variance = lengths / (sizes - 1)
    significant = squares > RELATIVE_TOLERANCE * variance.square()  # not what rounding leaves of zero
    return torch.where(significant, variance.square() / squares, vectors.shape[1])


def _group_indicators(size: int) -> Tensor:
    """Which of N items are in each group (G, N), as ones and zeros: every tenth one."""
    return torch.nn.functional.one_hot(torch.arange(size) % GROUPS, GROUPS).double().T


def _leave_out_sums(values: Tensor) -> Tensor:
    """The sum of the values (N, ...) of all items, then without each group, (1 + G, ...)."""
    total = values.sum(0)
    return torch.cat([total[None], total - _group_indicators(len(values)) @ values])


def _leave_out_sizes(size: int) -> Tensor:
    return _leave_out_sums(torch.ones(size, dtype=torch.double))


def _jackknife(measure: Callable[[Tensor], float], items: Tensor, highest: float) -> Interval:
    groups = torch.arange(len(items)) % GROUPS
    parts = [measure(items), *(measure(items[groups != group]) for group in range(GROUPS))]
    return _jackknife_interval(torch.tensor(parts, dtype=torch.double), 0, highest)


def _jackknife_interval(values: Tensor, lowest: float = -100, highest: float = 100) -> Interval:
    """A value with its jackknife interval within bounds; `values (1 + G,)`: of all items, then without each group."""
    value, *replicates = values.tolist()
    half_width = STUDENT_QUANTILE * sqrt(GROUPS - 1) * float(np.std(replicates))
    value, low, high = np.clip([value, value - half_width, value + half_width], lowest, highest).tolist()
    return value, low, high
