"""Erasing a property: nothing linear is left of it, and nothing else is taken."""

import numpy as np
import pytest
import torch
from concept_erasure import LeaceEraser
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from probes.statistics import wilson_interval
from probes.use.eraser import Eraser, RotatingErasers, Whitening, erase_classes, erase_random

SIZES = st.tuples(st.integers(12, 200), st.integers(2, 40), st.integers(2, 5), st.integers(0, 10_000))


def drawn(size: int, width: int, classes: int, seed: int) -> tuple[Tensor, np.ndarray]:
    """Correlated vectors (N, D) with the classes in several of their directions."""
    random = np.random.default_rng(seed)
    gold = np.concatenate([np.arange(classes), random.integers(0, classes, size - classes)])
    signal = np.eye(classes)[gold] @ random.normal(size=(classes, width))
    noise = random.normal(size=(size, width)) @ random.normal(size=(width, width))
    return torch.from_numpy(3 + 2 * signal + noise).float(), gold


def leace(vectors: Tensor, gold: np.ndarray) -> Eraser:
    return erase_classes(vectors, gold, Whitening.of(vectors))


@given(SIZES)
def test_the_covariance_with_every_class_is_zero_and_the_mean_stays(sizes) -> None:
    """Also with fewer vectors than dimensions."""
    vectors, gold = drawn(*sizes)
    erased = leace(vectors.double(), gold)(vectors.double())
    centred = torch.eye(sizes[2], dtype=torch.double)[gold] - np.bincount(gold) / len(gold)
    assert float((centred.T @ erased).abs().max()) < 1e-6 * len(gold) * float(vectors.abs().max())
    torch.testing.assert_close(erased.mean(0), vectors.double().mean(0))


@settings(max_examples=10)
@given(st.integers(0, 10_000))
def test_no_linear_probe_is_above_the_majority_class_beyond_its_interval(seed) -> None:
    vectors, gold = drawn(900, 12, 3, seed)
    train, test = slice(500), slice(500, None)
    *_, second, first = sorted(np.bincount(gold[train]))
    assume(first - second >= 10)  # of two equal classes rounding decides which one is predicted
    erased = leace(vectors[train], gold[train])(vectors)
    right = LogisticRegression(C=1e4, max_iter=5000).fit(erased[train], gold[train]).predict(erased[test]) == gold[test]
    majority = 100 * (gold[test] == np.bincount(gold[train]).argmax()).mean()
    assert wilson_interval(int(right.sum()), len(right))[0] <= majority + 1e-9


def test_a_linear_probe_reads_the_property_before_it_is_erased() -> None:
    vectors, gold = drawn(900, 12, 3, 0)
    assert LogisticRegression(max_iter=5000).fit(vectors[:500], gold[:500]).score(vectors[500:], gold[500:]) > 0.45


def test_it_is_the_eraser_of_the_library_with_the_covariance_that_the_library_has() -> None:
    vectors, gold = drawn(500, 6, 3, 1)
    wide, classes = vectors.double(), torch.eye(3, dtype=torch.double)[gold]
    plain = {"svd_tol": 1e-9, "shrinkage": False, "constrain_cov_trace": False}
    ours = erase_classes(wide, gold, Whitening(wide.mean(0), torch.linalg.cholesky(torch.cov(wide.T))))
    torch.testing.assert_close(ours(wide), LeaceEraser.fit(wide, classes, **plain)(wide))
    assert ours.rank == 2


def test_of_all_maps_that_erase_it_changes_the_vectors_least() -> None:
    """An orthogonal projection away from the same directions erases as much and changes more."""
    vectors, gold = drawn(5000, 6, 2, 3)
    ours = leace(vectors.double(), gold)
    directions = torch.linalg.qr(ours.left.T).Q
    orthogonal = Eraser(ours.mean, directions, directions.T)
    inverse = torch.linalg.inv(torch.cov(vectors.double().T))

    def change(eraser: Eraser) -> float:
        moved = vectors.double() - eraser(vectors.double())
        return float((moved @ inverse * moved).sum())

    assert change(ours) < change(orthogonal)


@given(SIZES)
def test_random_directions_take_their_rank_and_all_of_them_take_everything(sizes) -> None:
    vectors, _ = drawn(*sizes)
    whitening, width = Whitening.of(vectors.double()), sizes[1]
    some = erase_random(whitening, sizes[2] - 1, draw=1)
    once = some(vectors.double())
    torch.testing.assert_close(some(once), once)
    assert int(torch.linalg.matrix_rank(some.right @ some.left)) == min(width, sizes[2] - 1)
    everything = erase_random(whitening, width + 3, draw=1)(vectors.double())
    torch.testing.assert_close(everything, whitening.mean.expand_as(vectors), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("vectors", "gold"), [
    (torch.randn(20, 5), np.zeros(20, np.int64)), (torch.randn(20, 5), np.full(20, 2)),
    (torch.ones(20, 5), np.arange(20) % 2),
], ids=["one class", "a class without items", "equal vectors"])  # fmt: skip
def test_where_nothing_tells_classes_apart_nothing_is_erased_bit_for_bit(vectors, gold) -> None:
    eraser = leace(vectors, gold)
    assert eraser.rank == 0
    assert eraser(vectors) is vectors


def test_erasers_in_turn_change_each_row_by_its_own() -> None:
    vectors = torch.randn(7, 4, dtype=torch.double)
    erasers = [erase_random(Whitening.of(vectors), 1, draw) for draw in range(3)]
    expected = [erasers[row % 3](vectors[row : row + 1]) for row in range(7)]
    torch.testing.assert_close(RotatingErasers(erasers)(vectors), torch.cat(expected))
