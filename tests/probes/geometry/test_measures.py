"""Each measure has its known value on a distribution that has one."""

from itertools import permutations

import numpy as np
import pytest
import torch
from scipy.stats import t
from torch import Tensor

from probes.geometry import measures
from probes.statistics import Interval

SIZE = 1000


def rotated(vectors: Tensor, width: int) -> Tensor:
    """The same shape in a space of more dimensions, far from its origin."""
    return vectors @ torch.linalg.qr(torch.randn(width, width)).Q[: vectors.shape[1]] + 5


def gaussian(*scales: float, size: int = SIZE) -> Tensor:
    return torch.randn(size, len(scales), dtype=torch.double) * torch.tensor(scales, dtype=torch.double)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(1)
    torch.set_default_dtype(torch.double)
    yield
    torch.set_default_dtype(torch.float32)


def holds(interval: Interval, value: float, within: float) -> bool:
    """The measure is near the known value, and its interval is about as wide as its error."""
    measured, low, high = interval
    return low <= measured <= high and abs(measured - value) <= within and high - low < 4 * within


def iso_score_as_published(vectors: np.ndarray) -> float:
    """Algorithm 1 of Rudman et al. 2022, step by step."""
    width = vectors.shape[1]
    covariance = np.cov(vectors, rowvar=False)
    variances = np.diag(np.linalg.eigh(covariance)[1].T @ covariance @ np.linalg.eigh(covariance)[1])
    normalised = np.sqrt(width) * variances / np.linalg.norm(variances)
    defect = np.linalg.norm(normalised - np.ones(width)) / np.sqrt(2 * (width - np.sqrt(width)))
    uniform = (width - defect**2 * (width - np.sqrt(width))) ** 2 / width**2
    return (width * uniform - 1) / (width - 1)


# a sphere of four dimensions; variances 9, 1, 1: (9 + 1 + 1)^2 / (81 + 1 + 1)
SHAPES = {"sphere": (4, gaussian, (1, 1, 1, 1), 4.0), "ellipsoid": (10, gaussian, (3, 1, 1), 121 / 83)}
SHAPES |= {"line": (6, gaussian, (2,), 1.0)}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_participation_ratio_counts_the_directions_of_equal_variance(shape) -> None:
    width, draw, scales, ratio = SHAPES[shape]
    vectors = rotated(draw(*scales), width)
    assert holds(measures.participation_ratio(vectors), ratio, 0.15)
    assert holds(measures.iso_score(vectors), 100 * (ratio - 1) / (width - 1), 5)


def test_iso_score_is_the_published_one_where_there_are_many_vectors() -> None:
    vectors = gaussian(3, 2, 1, 1, 0.5, size=3000)
    assert measures.iso_score(vectors)[0] == pytest.approx(100 * iso_score_as_published(vectors.numpy()), abs=0.2)


def test_fewer_vectors_than_dimensions_do_not_bias_what_is_estimated_without_bias() -> None:
    vectors = torch.randn(200, 400)
    assert holds(measures.participation_ratio(vectors), 400, 12)
    assert holds(measures.iso_score(vectors), 100, 3)
    assert holds(measures.linear_cka(vectors, torch.randn(200, 400)), 0, 2)


def test_the_effective_rank_is_that_of_the_singular_values() -> None:
    cross = torch.eye(3).repeat(50, 1) * torch.tensor([4.0, 2.0, 2.0])
    crossed = rotated(torch.cat([cross, -cross]), 7)
    assert measures.effective_rank(crossed)[0] == pytest.approx(2**1.5)  # entropy of 1/2, 1/4, 1/4 is 1.5 bits
    assert holds(measures.effective_rank(gaussian(*[1] * 8)), 8, 0.05)
    assert measures.effective_rank(torch.randn(20, 300))[0] == pytest.approx(19, abs=0.2)


@pytest.mark.parametrize(("vectors", "cosine"), [
    (torch.tensor([[1.0, 0], [0, 2], [3, 0], [0, 4]]).repeat(5, 1), 100 * 9 / 19),  # of 19 others 9 are parallel
    (torch.full((20, 3), 1e-20), 100),
    (torch.zeros(20, 3), 0),
])  # fmt: skip
def test_the_mean_cosine_is_that_of_all_pairs(vectors, cosine) -> None:
    assert measures.mean_cosine(vectors)[0] == pytest.approx(cosine)


def test_the_mean_cosine_of_a_sphere_around_the_origin_is_nothing() -> None:
    assert holds(measures.mean_cosine(torch.randn(SIZE, 20)), 0, 1)


@pytest.mark.parametrize("dimensions", [1, 2, 5])
def test_two_nn_is_the_dimension_of_a_cube_in_a_wider_space(dimensions) -> None:
    cube = rotated(torch.rand(SIZE, dimensions), 30)
    assert holds(measures.two_nn(cube), dimensions, 0.08 * dimensions + 0.05)
    assert measures.two_nn(torch.cat([cube, cube[:300]]))[0] == pytest.approx(measures.two_nn(cube)[0], abs=1e-3)


def test_a_curved_sheet_has_two_dimensions_and_takes_more_directions() -> None:
    turn, height = 9 * torch.rand(SIZE), 9 * torch.rand(SIZE)
    roll = torch.stack([turn * turn.cos(), turn * turn.sin(), height], 1)
    assert holds(measures.two_nn(roll), 2, 0.2)
    assert measures.participation_ratio(roll)[0] > 2.5


def test_cka_sees_through_rotation_scale_and_shift_and_nothing_else() -> None:
    vectors = torch.randn(200, 6)
    assert measures.linear_cka(vectors, 3 * rotated(vectors, 9)) == pytest.approx((100, 100, 100))
    half = torch.cat([vectors[:, :3], torch.randn(200, 3)], 1)
    # covariances I and, of the shared half, I: 3 / sqrt(6 * 6)
    assert holds(measures.linear_cka(vectors, half), 50, 8)


def test_no_value_or_interval_is_beyond_the_bounds_of_its_measure() -> None:
    tails, outlier = torch.randn(60, 3) ** 5, torch.randn(40, 5) / 50
    outlier[0] += 1  # which an estimate without bias of the ratio takes for more than a hundred dimensions
    line = torch.randn(60, 1) ** 3 * torch.ones(4) + torch.randn(60, 4) / 10
    _, low, high = measures.linear_cka(tails, tails + 0.4 * torch.randn(60, 3) ** 5)
    assert (low > -100, high) == (True, 100)
    assert measures.participation_ratio(outlier) == (5, 0, 5)
    assert measures.iso_score(outlier) == (100, 0, 100)
    assert measures.iso_score(line)[1] == 0
    assert measures.effective_rank(torch.randn(21, 400))[2] == 20


def test_cka_is_the_published_one_where_there_are_many_vectors() -> None:
    first = gaussian(2, 1, 1, size=2000)
    other = first[:, :2] @ torch.randn(2, 4) + torch.randn(2000, 4)
    x, y = first - first.mean(0), other - other.mean(0)
    plain = (y.T @ x).norm() ** 2 / ((x.T @ x).norm() * (y.T @ y).norm())
    assert measures.linear_cka(first, other)[0] == pytest.approx(100 * float(plain), abs=0.5)


def test_hsic_is_the_mean_over_all_quadruples_of_items() -> None:
    first, second = (measures.gram_matrix(torch.randn(10, 3)) for _ in range(2))
    i, j, q, r = torch.tensor(list(permutations(range(10), 4))).T
    mean = (first[i, j] * (second[i, j] + second[q, r] - 2 * second[i, q])).mean()  # Song et al. 2012, equation 4
    assert float(measures.hsic(first, second)[0]) == pytest.approx(float(mean))


def test_the_jackknife_of_a_mean_has_students_interval() -> None:
    items = torch.randn(measures.GROUPS)
    means = torch.cat([items.mean()[None], (items.sum() - items) / (len(items) - 1)])
    expected = t.interval(0.95, len(items) - 1, items.mean(), items.std() / len(items) ** 0.5)
    assert measures._jackknife_interval(means)[1:] == pytest.approx(expected, abs=1e-3)


def test_two_nn_is_the_estimate_of_the_paper() -> None:
    vectors = np.random.default_rng(2).normal(size=(50, 3))
    distances = np.sort(np.linalg.norm(vectors[:, None] - vectors, axis=2), 1)
    expected = (50 - 1) / np.log(distances[:, 2] / distances[:, 1]).sum()
    assert measures.two_nn(torch.from_numpy(vectors))[0] == pytest.approx(expected)


def test_the_jackknife_of_hsic_is_hsic_without_each_group() -> None:
    first, second = (measures.gram_matrix(torch.randn(47, 5)) for _ in range(2))
    whole = measures.hsic(first, second)
    for group in range(measures.GROUPS):
        left = torch.arange(47) % measures.GROUPS != group
        without = measures.hsic(first[left][:, left], second[left][:, left])
        assert whole[1 + group] == pytest.approx(float(without[0]), abs=1e-12)


@pytest.mark.parametrize("measure", ["effective_rank", "participation_ratio", "iso_score", "two_nn"])
def test_equal_vectors_have_no_dimensions(measure) -> None:
    assert getattr(measures, measure)(torch.full((40, 5), 0.1, dtype=torch.float32)) == pytest.approx((0, 0, 0))
    assert measures.linear_cka(torch.ones(40, 5), torch.randn(40, 5)) == pytest.approx((0, 0, 0))


def test_a_large_constant_feature_hides_no_others_and_one_other_vector_has_a_bounded_ratio() -> None:
    vectors = gaussian(3, 1, 1, size=100)
    more = torch.cat([vectors, torch.full((100, 1), 1e9)], 1)
    assert measures.participation_ratio(more) == pytest.approx(measures.participation_ratio(vectors))
    assert measures.linear_cka(more, vectors) == pytest.approx((100, 100, 100))
    outlier = torch.zeros(60, 5)
    outlier[-1] = 1
    assert measures.participation_ratio(outlier)[0] <= 5
