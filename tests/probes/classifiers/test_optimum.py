"""Logistic regression at its optimum, and the curvature by which it is found."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch.nn import functional

from encoder_lab.errors import InputError
from probes.classifiers.classifier import Grid, Labelled, as_tensors, best_logistic_cell, standardise
from probes.classifiers.examples import Tensors
from probes.classifiers.grid import best_of_l2
from probes.classifiers.optimum import LOSS_TOLERANCE, Optima, covariance, cross_entropy, curvature_factor, optimum
from tests.labelled_vectors import features_that_go_together, random_labels

LOGISTIC = Grid(widths=(0,), l2=(1e-5, 1e-2))


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("l2", [1e-1, 1e-3, 1e-5])
def test_logistic_regression_reaches_the_optimum_of_scikit_learn(classes, l2) -> None:
    vectors, _ = random_labels(500, 1, classes)
    noise = np.random.default_rng(1).gumbel(size=(500, classes))
    labels = (vectors[:, :classes] * [3, 2, 1, 1, 1][:classes] + noise).argmax(1)
    (train,) = standardise(as_tensors(Labelled(vectors, labels), "cpu"))
    weight, bias = optimum(train, classes, l2, gap=1e-12)
    # With two classes scikit-learn has one weight, the difference of ours, under twice the penalty.
    strength = (2 if classes == 2 else 1) / (l2 * 500)
    theirs = LogisticRegression(C=strength, tol=1e-8, max_iter=5000).fit(train.x.double(), labels)
    ours = torch.softmax(train.x @ weight + bias, 1)
    np.testing.assert_allclose(ours, theirs.predict_proba(train.x.double()), atol=2e-4)


def test_fewer_vectors_than_features_have_the_same_optimum() -> None:
    random = np.random.default_rng(1)
    train, dev = (
        Tensors(torch.from_numpy(random.normal(size=(size, 60)).astype(np.float32)), torch.arange(size) % 3)
        for size in (40, 300)
    )
    cell = best_logistic_cell(train, dev, 3, Grid(widths=(0,), l2=(0.1,)), "cpu")
    weight, bias = optimum(train, 3, 0.1, gap=1e-10)
    torch.testing.assert_close(cell.parameters[0].t(), weight, atol=5e-3, rtol=1e-2)
    torch.testing.assert_close(cell.parameters[1][:, 0], bias, atol=5e-3, rtol=1e-2)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_optimum_depends_neither_on_the_start_nor_on_the_curvature(classes) -> None:
    train, _ = features_that_go_together(classes)
    expected = optimum(train, classes, 1e-3, gap=1e-12)
    other = curvature_factor(covariance(train.x), classes, 1e-1)
    restarted = optimum(train, classes, 1e-3, other, gap=1e-12, start=optimum(train, classes, 1e-1))
    ours, theirs = (torch.softmax(train.x @ weight + bias, 1) for weight, bias in (restarted, expected))
    torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=0)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_search_ends_about_the_gap_above_the_optimum(classes) -> None:
    train, _ = features_that_go_together(classes)

    def loss(gap: float) -> float:
        weight, bias = optimum(train, classes, 1e-3, gap=gap)
        return cross_entropy(train, weight, bias)[0] + 1e-3 / 2 * float(weight.square().sum())

    best = loss(1e-12)
    near, far = loss(1e-6) - best, loss(1e-3) - best
    assert near < 1e-5
    assert 2 * near < far < 1e-1


def test_a_value_may_come_after_smaller_and_larger_ones() -> None:
    train, _ = features_that_go_together(2)
    optima = Optima(train, 2, gap=1e-9)
    for values in ([1e-3, 1e-2], [1e-1], [1e-4]):
        optima.add(values)
    for l2, weights in optima.weights.items():
        alone = optimum(train, 2, l2, gap=1e-10)
        ours, theirs = (torch.softmax(train.x @ weight + bias, 1) for weight, bias in (weights, alone))
        torch.testing.assert_close(ours, theirs, atol=2e-3, rtol=0)


def test_features_or_products_beyond_32_bits_are_refused() -> None:
    with pytest.raises(InputError, match="beyond 32 bits"):
        covariance(torch.full((3, 2), 1e20))
    x = torch.randn(40, 3)
    x[-1, 0] = float("inf")
    data = Tensors(x, torch.arange(40) % 2)
    with pytest.raises(InputError, match="features are beyond 32 bits"):
        best_logistic_cell(data, data, 2, LOGISTIC, "cpu")


def test_two_classes_are_searched_as_one_difference() -> None:
    train, _ = features_that_go_together(2)
    both = Tensors(train.x, torch.eye(2)[train.y])  # distributions over the classes, which keep a column for each
    difference, both_columns = (optimum(some, 2, 1e-2, gap=1e-12) for some in (train, both))
    torch.testing.assert_close(difference[0], both_columns[0], atol=1e-3, rtol=0)
    torch.testing.assert_close(difference[0][:, 0], -difference[0][:, 1])


@pytest.mark.parametrize("classes", [2, 3])
def test_a_search_that_starts_at_the_optimum_stays_there(classes) -> None:
    train, _ = features_that_go_together(classes)
    expected = optimum(train, classes, 1e-3)
    warm, cold = (optimum(train, classes, 1e-3, iterations=1, start=start) for start in (expected, None))
    torch.testing.assert_close(warm, expected, atol=1e-2, rtol=1e-2)
    assert (cold[0] - expected[0]).abs().max() > 0.1


def test_the_curvature_of_dependent_features_or_of_one_without_variance_and_l2_has_a_factor() -> None:
    assert curvature_factor(torch.zeros(2, 2), 3, 0.0).diagonal().min() > 0
    x = torch.randn(40, 1).expand(-1, 5).contiguous()
    lower = curvature_factor(covariance(x), 2, 0.0)
    torch.testing.assert_close((lower @ lower.t())[:5, :5], covariance(x) / 4, atol=1e-5, rtol=0)


def test_the_curvature_is_that_of_the_loss_at_equally_likely_classes() -> None:
    train, _ = features_that_go_together(2)

    def loss(point: torch.Tensor) -> torch.Tensor:  # of one class's weights and bias, the other's being zero
        scores = train.x.double() @ point[:-1] + point[-1]
        penalty = 1e-2 / 4 * point[:-1].square().sum()
        return functional.binary_cross_entropy_with_logits(scores, train.y.double()) + penalty

    exact = torch.autograd.functional.hessian(loss, torch.zeros(41, dtype=torch.double))
    factor = curvature_factor(train.x.t() @ train.x / len(train.x), 2, 1e-2).double()
    torch.testing.assert_close(factor @ factor.t(), exact, atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    ("peak", "chosen", "tried"), [(1.0, 1.0, 7), (1e-7, 1e-7, 7), (1e-9, 1e-9, 8), (1e-3, 1e-3, 4), (1e9, 1e2, 8)]
)
def test_default_l2_values_are_continued_where_the_best_is_at_their_end(peak, chosen, tried) -> None:
    asked: list[float] = []

    def score(values: list[float]) -> list[float]:
        asked.extend(values)
        return [-abs(np.log10(value) - np.log10(peak)) for value in values]

    best, _ = best_of_l2(Grid(), score, float)
    assert best == chosen  # as a table of scores is searched for it
    assert len(asked) == tried


def test_l2_values_of_the_user_are_all_that_is_tried_and_equal_scores_are_no_reason_to_go_further() -> None:
    assert best_of_l2(Grid(l2=(1e-3, 1e-2)), lambda values: values, float)[0] == 1e-2
    assert best_of_l2(Grid(), lambda values: [1.0] * len(values), float)[0] == 1e-5


def test_with_a_weak_l2_the_search_predicts_as_the_optimum_does() -> None:
    """All training sentences are right there: a loss near its minimum could have other weights."""
    random, size, features, classes = np.random.default_rng(1), 400, 100, 30
    mixed = random.normal(size=(features, features)) / np.sqrt(np.arange(1, features + 1))
    vectors = (random.normal(size=(size + 2000, features)) @ mixed).astype(np.float32)
    noise = 3 * random.normal(size=(size + 2000, classes))
    labels = (vectors @ random.normal(size=(features, classes)) + noise).argmax(1)
    parts = np.split(vectors, [size]), np.split(labels, [size])
    train, others = standardise(*(as_tensors(Labelled(*part), "cpu") for part in zip(*parts, strict=True)))
    loose, exact = (Optima(train, classes, gap) for gap in (LOSS_TOLERANCE, 1e-9))
    predicted = []
    for optima in (loose, exact):
        optima.add([1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
        weight, bias = optima.weights[1e-6]
        assert ((train.x @ weight + bias).argmax(1) == train.y).all()
        predicted.append((others.x @ weight + bias).argmax(1))
    assert (predicted[0] == predicted[1]).double().mean() > 0.9  # with 30 times the gap 0.82 to 0.88
