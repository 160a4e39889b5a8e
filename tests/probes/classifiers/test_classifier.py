"""What holds for every classifier and both protocols."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count as counted
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from common.errors import InputError
from probes.classifiers import classifier
from probes.classifiers.cells import Cells, predict
from probes.classifiers.classifier import Grid, Labelled, as_tensors, probe, standardised
from probes.classifiers.curvature import chance, cholesky, covariance, curvature_of
from probes.classifiers.grid import Fitted, Tensors
from probes.classifiers.modern import _stages, successive_halving
from probes.classifiers.optimum import GAP, Optima, best_of_l2, cross_entropy, optimal, optimum

SMALL = Grid(widths=(4, 8), dropouts=(0.0, 0.1), l2=(1e-5, 1e-2))
GRIDS = {
    f"{protocol} {name}": replace(grid, protocol=protocol)
    for protocol in ("modern", "senteval")
    for name, grid in (("mlp", SMALL), ("logistic", SMALL.logistic()))
}


def random_labels(sentences: int, seed: int, classes: int) -> Labelled:
    random = np.random.default_rng(seed)
    return Labelled(random.normal(size=(sentences, 6)).astype(np.float32), random.integers(0, classes, sentences))


def separable(sentences: int, seed: int, classes: int) -> Labelled:
    vectors, labels = random_labels(sentences, seed, classes)
    return Labelled(vectors / 10 + 3 * np.eye(6, dtype=np.float32)[labels], labels)


def three(make, *sizes: int, classes: int) -> tuple[Labelled, Labelled, Labelled]:
    return tuple(make(size, seed, classes) for seed, size in enumerate(sizes))


@pytest.fixture(params=GRIDS.values(), ids=GRIDS.keys())
def grid(request: pytest.FixtureRequest) -> Grid:
    return request.param


def test_separable_classes_are_separated(grid: Grid) -> None:
    score = probe(*three(separable, 1000, 60, 60, classes=3), 3, grid, seed=1)
    assert (score.dev_accuracy, score.test_accuracy) == (100, 100)


@pytest.mark.parametrize("machine", [True, False])
def test_the_race_multiplies_in_bfloat16_where_the_machine_has_it(
    machine: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classifier, "multiplies_in_bfloat16", lambda _: machine)
    splits, fitted = three(separable, 300, 60, 60, classes=3), list[Fitted]()

    def race(*given: Any) -> Fitted:
        fitted.append(successive_halving(*given))
        return fitted[-1]

    monkeypatch.setattr(classifier, "successive_halving", race)
    wide, narrow = (probe(*splits, 3, SMALL, seed=1, bfloat16=wish) for wish in (False, True))
    assert wide.test_accuracy == narrow.test_accuracy == 100
    weights = [one.parameters[0] for one in fitted]
    assert (fitted[0].width != fitted[1].width or not torch.equal(*weights)) == machine


def test_the_rates_fall_with_the_root_of_the_sentences_beyond_4000() -> None:
    """At the rates of few sentences 20 classes of 100,000 were read 2 points too low."""
    few, same, many = (
        [stage.rate for stage, _ in _stages(sentences, 6, Grid(), 36, 1, torch.device("cpu"))]
        for sentences in (1000, 4000, 16_000)
    )
    assert few == same
    assert many == pytest.approx([rate / 2 for rate in few])


def test_random_labels_are_at_chance(grid: Grid) -> None:
    score = probe(*three(random_labels, 300, 100, 2000, classes=4), 4, grid, seed=1)
    assert 21 < score.test_accuracy < 29  # four standard errors of 25 %


def test_the_same_seed_gives_the_same_score(grid: Grid) -> None:
    splits = three(random_labels, 100, 50, 50, classes=3)
    first, second = (probe(*splits, 3, grid, seed=4) for _ in range(2))
    assert first[:2] == second[:2]
    assert first.hyperparameters == second.hyperparameters
    assert np.array_equal(first.test_correct, second.test_correct)


def test_the_number_of_threads_changes_no_score(grid: Grid) -> None:
    splits, threads = three(random_labels, 100, 50, 50, classes=3), torch.get_num_threads()
    scores = []
    for count in (1, 3):
        torch.set_num_threads(count)
        scores.append(probe(*splits, 3, grid, seed=4))
        assert torch.get_num_threads() == count
    torch.set_num_threads(threads)
    assert np.array_equal(scores[0].test_correct, scores[1].test_correct)


def test_the_global_random_state_is_not_changed(grid: Grid) -> None:
    torch.manual_seed(3)
    np.random.seed(3)  # noqa: NPY002 - it is the global state that is looked at
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    probe(*three(random_labels, 50, 20, 20, classes=2), 2, grid, seed=4)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002


def test_the_test_accuracy_is_the_share_of_correct_test_sentences(grid: Grid) -> None:
    score = probe(*three(random_labels, 100, 50, 70, classes=3), 3, grid, seed=4)
    assert score.test_correct.shape == (70,)
    assert score.test_accuracy == round(100 * score.test_correct.mean(), 2)


def test_vectors_that_are_all_the_same_give_the_majority() -> None:
    labels = np.array([0, 1, 1, 1, 2] * 20)
    same = Labelled(np.full((100, 5), 0.3, np.float32), labels)
    assert probe(same, same, same, 3, SMALL, seed=1).test_accuracy == 60


def test_modern_is_invariant_to_the_scale_of_the_vectors() -> None:
    splits = three(separable, 200, 60, 60, classes=3)
    shrunk = tuple(Labelled(1e-3 * part.vectors + 5, part.labels) for part in splits)
    assert probe(*shrunk, 3, SMALL, seed=1).test_accuracy == 100


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("l2", [1e-1, 1e-3, 1e-5])
def test_logistic_regression_reaches_the_optimum_of_scikit_learn(classes: int, l2: float) -> None:
    vectors, _ = random_labels(500, 1, classes)
    noise = np.random.default_rng(1).gumbel(size=(500, classes))
    labels = (vectors[:, :classes] * [3, 2, 1, 1, 1][:classes] + noise).argmax(1)
    (train,) = standardised(as_tensors(Labelled(vectors, labels), "cpu"))
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
    found = optimal(train, dev, 3, Grid(widths=(0,), l2=(0.1,)), "cpu")
    weight, bias = optimum(train, 3, 0.1, gap=1e-10)
    torch.testing.assert_close(found.parameters[0].t(), weight, atol=5e-3, rtol=1e-2)
    torch.testing.assert_close(found.parameters[1][:, 0], bias, atol=5e-3, rtol=1e-2)


def features_that_go_together(classes: int) -> tuple[Tensors, Tensors]:
    """Train and dev of 40 features, mixed of as many that matter alike but are smaller and smaller."""
    mixed, direct = (np.random.default_rng(seed).normal(size=(40, size)) for seed, size in ((2, 40), (3, classes)))
    random = np.random.default_rng(1)
    parts = []
    for size in (4000, 1000):
        hidden = random.normal(size=(size, 40))
        labels = (0.5 * hidden @ direct + random.gumbel(size=(size, classes))).argmax(1)
        parts.append(Labelled((hidden / np.arange(1, 41) @ mixed).astype(np.float32), labels))
    return tuple(standardised(*(as_tensors(part, "cpu") for part in parts)))


@pytest.mark.parametrize("classes", [2, 3])
def test_the_optimum_depends_neither_on_the_start_nor_on_the_curvature(classes: int) -> None:
    train, _ = features_that_go_together(classes)
    expected = optimum(train, classes, 1e-3, gap=1e-12)
    curvature = curvature_of(covariance(train.x), classes, 1e-1)
    found = optimum(train, classes, 1e-3, curvature, gap=1e-12, start=optimum(train, classes, 1e-1))
    ours, theirs = (torch.softmax(train.x @ weight + bias, 1) for weight, bias in (found, expected))
    torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=0)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("by_covariance", [True, False])
def test_a_search_ends_about_the_gap_above_the_optimum(classes: int, by_covariance: bool) -> None:
    train, _ = features_that_go_together(classes)

    def loss(gap: float) -> float:
        curvature = curvature_of(covariance(train.x) if by_covariance else None, classes, 1e-3)
        weight, bias = optimum(Tensors(train.x, train.y), classes, 1e-3, curvature, gap)
        return cross_entropy(train, weight, bias)[0] + 1e-3 / 2 * float(weight.square().sum())

    best = loss(1e-12)
    near, far = loss(1e-6) - best, loss(1e-3) - best
    assert near < (1e-5 if by_covariance else 1e-4)  # features that go together: only the covariance tells
    assert 2 * near < far < 1e-1


@pytest.mark.parametrize("by_covariance", [True, False])
def test_a_value_may_come_after_smaller_and_larger_ones(by_covariance: bool) -> None:
    train, _ = features_that_go_together(2)
    optima = Optima(train, 2, covariance(train.x) if by_covariance else None, gap=1e-9)
    for values in ([1e-3, 1e-2], [1e-1], [1e-4]):
        optima.add(values)
    for l2, found in optima.known.items():
        alone = optimum(train, 2, l2, gap=1e-10)
        ours, theirs = (torch.softmax(train.x @ weight + bias, 1) for weight, bias in (found, alone))
        torch.testing.assert_close(ours, theirs, atol=2e-3, rtol=0)


def test_features_beyond_32_bits_are_refused_where_no_covariance_is_made() -> None:
    x = torch.randn(12, 3)
    x[0, 0] = float("inf")
    with pytest.raises(InputError, match="beyond 32 bits"):
        optimal(Tensors(x, torch.arange(12) % 2), Tensors(x, torch.arange(12) % 2), 2, SMALL.logistic(), "cpu")


def test_two_classes_are_searched_as_one_difference() -> None:
    train, _ = features_that_go_together(2)
    both = Tensors(train.x, torch.eye(2)[train.y])  # distributions over the classes, which keep a column for each
    one, two = (optimum(some, 2, 1e-2, gap=1e-12) for some in (train, both))
    torch.testing.assert_close(one[0], two[0], atol=1e-3, rtol=0)
    torch.testing.assert_close(one[0][:, 0], -one[0][:, 1])


@pytest.mark.parametrize("classes", [2, 3])
def test_a_search_that_starts_at_the_optimum_stays_there(classes: int) -> None:
    train, _ = features_that_go_together(classes)
    expected = optimum(train, classes, 1e-3)
    found, cold = (optimum(train, classes, 1e-3, iterations=1, start=start) for start in (expected, None))
    torch.testing.assert_close(found, expected, atol=1e-2, rtol=1e-2)
    assert (cold[0] - expected[0]).abs().max() > 0.1


SEARCHES = {"optimum": optimal, "race": partial(successive_halving, seed=1)}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES.keys())
def test_the_dev_accuracy_of_logistic_regression_is_that_of_its_weights(search: Callable[..., Fitted]) -> None:
    train, dev = features_that_go_together(120)
    found = search(train, dev, 120, SMALL.logistic(), device="cpu")
    right = (predict(found.parameters, dev.x) == dev.y).double().mean()
    assert found.dev_accuracy == round(100 * float(right), 2)


def test_the_race_scores_its_last_weights_and_not_those_of_a_better_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    train, dev = features_that_go_together(3)
    grid = Grid(widths=(8,), dropouts=(0.0,), l2=(1e-3,))
    last = successive_halving(train, dev, 3, grid, 1, "cpu").parameters
    asked = counted(100, -1)
    monkeypatch.setattr(Cells, "accuracy", lambda *_: [float(next(asked))])  # the first pass is the best on dev
    for found, wanted in zip(successive_halving(train, dev, 3, grid, 1, "cpu").parameters, last, strict=True):
        torch.testing.assert_close(found, wanted, rtol=0, atol=0)


def test_a_matrix_that_is_not_definite_has_no_cholesky_factor() -> None:
    assert cholesky(torch.tensor([[1.0, 2.0], [2.0, 1.0]])) is None


def test_the_curvature_of_dependent_features_has_a_factor() -> None:
    x = torch.randn(40, 1).expand(-1, 5).contiguous()
    lower = curvature_of(covariance(x), 2, 0.0).factor
    torch.testing.assert_close(lower @ lower.t(), covariance(x) / 4, atol=1e-5, rtol=0)


def test_the_inverse_of_the_curvature_times_the_curvature_changes_no_weights() -> None:
    x, weight = torch.randn(40, 5), torch.randn(5, 3)
    spread = covariance(x)
    curvature = curvature_of(spread, 3, 1e-2)
    matrix = chance(3) * spread + 1e-2 * torch.eye(5)
    torch.testing.assert_close(curvature.solved(matrix @ weight), weight, atol=1e-4, rtol=0)
    assert curvature.bias**2 == pytest.approx(chance(3))


def test_features_with_products_beyond_32_bits_are_refused() -> None:
    with pytest.raises(InputError, match="beyond 32 bits"):
        covariance(torch.full((3, 2), 1e20))


def test_successive_halving_of_logistic_regression_comes_near_the_optimum() -> None:
    train, dev = features_that_go_together(120)
    race, best = (SEARCHES[name](train, dev, 120, SMALL.logistic(), device="cpu") for name in ("race", "optimum"))
    assert race.dev_accuracy > best.dev_accuracy - 10


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"reduction": "max"}, "mean or sum"),
        ({"l2": 0.01}, "l2=0.01: give a"),
        ({"l2": [0.01, 0.01]}, "l2=.*: give each value once"),
        ({"dropouts": (0.1, 0.1)}, "dropouts=.*: give each value once"),
        ({"widths": (50, 100, 50)}, "widths=.*: give each value once"),
        ({"widths": (0, 50)}, "widths=.*: 0 is logistic regression"),
        ({"batch": 32}, "batch= is a setting of protocol=senteval"),
    ],
)
def test_an_invalid_grid_is_refused(setting: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Grid(**setting)


@pytest.mark.parametrize(
    ("peak", "chosen", "tried"), [(1.0, 1.0, 7), (1e-7, 1e-7, 7), (1e-3, 1e-3, 4), (1e9, 100.0, 8)]
)
def test_default_l2_values_are_continued_where_the_best_is_at_their_end(peak: float, chosen: float, tried: int) -> None:
    asked: list[float] = []

    def score(values: list[float]) -> list[float]:
        asked.extend(values)
        return [-abs(np.log10(value) - np.log10(peak)) for value in values]

    best, _ = best_of_l2(Grid(), score, float)
    assert best == pytest.approx(chosen)
    assert len(asked) == tried


def test_l2_values_of_the_user_are_all_that_is_tried() -> None:
    assert best_of_l2(Grid(l2=(1e-3, 1e-2)), lambda values: values, float)[0] == 1e-2


def test_equal_scores_at_the_end_are_no_reason_to_go_further() -> None:
    assert best_of_l2(Grid(), lambda values: [1.0] * len(values), float)[0] == 1e-5


def test_with_a_weak_l2_the_search_predicts_as_the_optimum_does() -> None:
    """All training sentences are right there: a loss near its minimum could have other weights."""
    random, known, features, classes = np.random.default_rng(1), 400, 100, 30
    mixed = random.normal(size=(features, features)) / np.sqrt(np.arange(1, features + 1))
    vectors = (random.normal(size=(known + 2000, features)) @ mixed).astype(np.float32)
    noise = 3 * random.normal(size=(known + 2000, classes))
    labels = (vectors @ random.normal(size=(features, classes)) + noise).argmax(1)
    parts = np.split(vectors, [known]), np.split(labels, [known])
    train, others = standardised(*(as_tensors(Labelled(*part), "cpu") for part in zip(*parts, strict=True)))
    found, exact = (Optima(train, classes, covariance(train.x), gap) for gap in (GAP, 1e-9))
    predicted = []
    for optima in (found, exact):
        optima.add([1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
        weight, bias = optima.known[1e-6]
        assert ((train.x @ weight + bias).argmax(1) == train.y).all()
        predicted.append((others.x @ weight + bias).argmax(1))
    assert (predicted[0] == predicted[1]).double().mean() > 0.95
