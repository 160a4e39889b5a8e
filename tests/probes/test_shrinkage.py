"""The shrinkage of a covariance, against scikit-learn's."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf_shrinkage

from probes.shrinkage import shrinkage


@pytest.mark.parametrize(("items", "width"), [(5, 40), (40, 40), (400, 7), (2, 3)])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_shrinkage_is_that_of_scikit_learn_and_the_same_by_either_product(items, width, scale) -> None:
    x = scale * np.random.default_rng(items).normal(size=(items, width)) @ np.diag(np.linspace(0.1, 3, width))
    x -= x.mean(0)
    expected = ledoit_wolf_shrinkage(x, assume_centered=True)
    for product in (x.T @ x, x @ x.T):
        assert shrinkage((x**2).sum(1), float((product**2).sum()), width) == pytest.approx(expected, rel=1e-6)


def test_one_vector_and_vectors_without_variance_have_a_shrinkage() -> None:
    assert shrinkage(np.array([4.0]), 16.0, 2) == 0.0
    assert shrinkage(np.zeros(3), 0.0, 2) == 0.0
