"""Downstream tasks: the toolkit's folds and regressions, and what the modern protocol changes."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import pearsonr
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from benchmarks import sequential
from benchmarks.sequential import nested_folds
from encoder_lab.errors import InputError
from encoder_lab.model import Model
from probes.classifiers.classifier import Grid
from probes.classifiers.examples import Tensors
from probes.downstream import relatedness
from probes.downstream.data import TASKS, read_downstream
from probes.downstream.folds import folds_per_model, score_by_folds, score_nested
from probes.downstream.relatedness import fit_regression, rating_targets
from probes.downstream.scoring import Downstream, _similarity_outcome, cosines, similarity_measures
from probes.downstream.tasks import DownstreamSettings
from probes.downstream.tasks import tasks as downstream_tasks
from probes.evaluation import Evaluation
from probes.suites import Context
from probes.task import Items
from probes.vectors import Vectors, pair_features, sentence_vector
from tests.probes.downstream.small_files import folder_of_tasks
from tests.tiny_corpus import TinyCorpus

MODERN = Grid().logistic()
PUBLISHED = Grid(l2=(1e-4, 1e-2), protocol="senteval", max_passes=12).logistic()


def separable(size: int, classes: int = 2, seed: int = 0) -> Tensors:
    random = torch.Generator().manual_seed(seed)
    x = torch.randn(size, 5, generator=random)
    return Tensors(x, (2 * x[:, :classes] + torch.randn(size, classes, generator=random)).argmax(1))


def related(size: int, seed: int, low: float = 0) -> Tensors:
    x = torch.rand(size, 4, generator=torch.Generator().manual_seed(seed))
    return Tensors(x, low + (5 - low) * (0.7 * x[:, 0] + 0.3 * x[:, 1]).double())


def test_nested_folds_score_what_the_toolkit_would_score_fit_by_fit() -> None:
    items = separable(130)
    scores = score_nested(items, 2, 3, PUBLISHED, seed=5)
    dev, test = nested_folds(items, 2, 3, PUBLISHED, seed=5)
    assert (scores.dev_accuracy, scores.test_accuracy) == (dev, test)


def test_modern_nested_folds_agree_with_scikit_learn() -> None:
    items = separable(150, classes=3)
    scores = score_nested(items, 3, 3, Grid(l2=(1e-3, 1e-1)).logistic(), seed=5)
    right = 0
    folds = StratifiedKFold(3, shuffle=True, random_state=5).split(items.x, items.y)
    for (train, test), l2 in zip(folds, scores.l2, strict=True):
        x, y = items.x.numpy(), items.y.numpy()
        mean, deviation = x[train].mean(0), x[train].std(0)
        best = LogisticRegression(C=1 / (l2 * len(train)), tol=1e-8, max_iter=1000)
        best.fit((x[train] - mean) / deviation, y[train])
        right += int((best.predict((x[test] - mean) / deviation) == y[test]).sum())
    assert abs(int((scores.predicted == items.y.numpy()).sum()) - right) <= 1


def test_modern_folds_choose_the_l2_that_is_best_on_held_out_items_and_read_rare_classes() -> None:
    """A quarter of the items are of the second class; with a high L2 all are taken for the first."""
    x = separable(300).x
    scores = score_nested(Tensors(x, (x[:, 0] > 0.7).long()), 2, 3, Grid(l2=(1e-3, 1e3)).logistic(), seed=5)
    assert max(scores.l2) < 0.1
    assert min(scores.dev_accuracy, scores.test_accuracy) > 90


@pytest.mark.parametrize("grid", [MODERN, PUBLISHED])
def test_labels_that_are_noise_stay_at_chance(grid) -> None:
    noise = Tensors(separable(300).x, torch.randint(2, (300,), generator=torch.Generator().manual_seed(1)))
    assert score_nested(noise, 2, 3, grid, seed=1).test_accuracy == pytest.approx(50, abs=9)


@pytest.mark.parametrize("grid", [MODERN, PUBLISHED])
def test_the_test_part_never_reaches_the_choice(grid) -> None:
    train, test = separable(120), separable(40, seed=9)
    flipped = Tensors(test.x, 1 - test.y)
    scores, mirrored = (score_by_folds(train, part, 2, 3, grid, seed=1) for part in (test, flipped))
    assert (scores.l2, scores.dev_accuracy) == (mirrored.l2, mirrored.dev_accuracy)
    assert scores.test_accuracy + mirrored.test_accuracy == pytest.approx(100)


def test_too_few_items_of_a_class_or_to_hold_some_back_are_refused() -> None:
    with pytest.raises(InputError, match="only 1 items; give a smaller"):
        score_nested(Tensors(separable(30).x, torch.tensor([1] + [0] * 29)), 2, 5, MODERN, seed=1)
    items = Tensors(torch.randn(18, 5), torch.arange(18) % 2)
    with pytest.raises(InputError, match="5% of the training items, and of 18 that is none"):
        score_by_folds(items, items, 2, 3, PUBLISHED, seed=1)


def test_targets_lie_on_the_neighbouring_ratings() -> None:
    ratings = torch.arange(1.0, 6.0)
    shares = rating_targets(torch.tensor([3.6, 5.0, 1.0]), ratings)
    torch.testing.assert_close(shares, torch.tensor([[0, 0, 0.4, 0.6, 0], [0, 0, 0, 0, 1], [1, 0, 0, 0, 0]]))
    torch.testing.assert_close(shares @ ratings, torch.tensor([3.6, 5.0, 1.0]))
    zero = torch.tensor([0.0])  # no target in the published regression, and one in the modern
    assert float(rating_targets(zero, ratings).sum()) == 0
    assert rating_targets(zero, torch.arange(0.0, 6.0))[0].tolist() == [1, 0, 0, 0, 0, 0]


@pytest.fixture
def few_passes(monkeypatch) -> None:
    """At most four blocks of the published regression."""
    monkeypatch.setattr(relatedness, "MAX_PASSES", 150)


@pytest.mark.usefixtures("few_passes")
@pytest.mark.parametrize("grid", [MODERN, PUBLISHED])
def test_relatedness_is_learnt_where_the_vectors_have_it(grid) -> None:
    _, predicted, _ = fit_regression(related(300, 1, 1), related(60, 2, 1), related(80, 3, 1), (1, 5), grid, seed=1)
    assert pearsonr(predicted, related(80, 3, 1).y.numpy())[0] > 0.8


@pytest.mark.usefixtures("few_passes")
def test_the_published_regression_scores_what_the_toolkit_would() -> None:
    parts = related(150, 1), related(60, 2), related(80, 3)
    dev, predicted, _ = fit_regression(*parts, (0, 5), PUBLISHED, seed=3)
    expected, toolkit = sequential.relatedness(*parts, seed=3, most=150)
    assert dev == pytest.approx(expected, abs=1e-6)
    np.testing.assert_allclose(predicted, toolkit, atol=1e-4)


@pytest.mark.usefixtures("few_passes")
def test_only_the_modern_regression_predicts_below_one_and_the_random_state_stays() -> None:
    parts, before = (related(300, 1), related(60, 2), related(80, 3)), torch.random.get_rng_state()
    assert fit_regression(*parts, (0, 5), PUBLISHED, seed=1)[1].min() >= 1
    assert torch.equal(before, torch.random.get_rng_state())
    assert fit_regression(*parts, (0, 5), MODERN, seed=1)[1].min() < 1


def test_the_interval_of_a_mean_over_unequal_domains_covers_it_in_95_percent() -> None:
    random, covered = np.random.default_rng(1), 0
    for _ in range(200):
        domains = {f"{n}": random.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], n).T for n in (20, 400)}
        outcome = _similarity_outcome({name: tuple(pair) for name, pair in domains.items()})
        covered += outcome.low <= 50 <= outcome.high
    assert 184 <= covered <= 197  # of one correlation over all pairs: 124


def test_similarity_sums_up_in_three_ways() -> None:
    up, down = np.arange(4.0), np.arange(4.0)[::-1]
    measures = similarity_measures({"a": (up, up), "b": (np.tile(down, 2), np.tile(up, 2))})
    assert measures["a pearson"] == pytest.approx(100)
    assert measures["b spearman"] == pytest.approx(-100)
    assert measures["mean pearson"] == pytest.approx(0, abs=1e-9)
    assert measures["wmean pearson"] == pytest.approx((4 - 8) / 12 * 100)
    assert measures["all pearson"] == pytest.approx(100 * pearsonr(np.r_[up, down, down], np.tile(up, 3))[0])


@pytest.mark.parametrize("scale", [1e-25, 1, 1e25])
def test_cosines_are_those_of_directions(scale) -> None:
    """Vectors of one direction of any lengths tie, so that a model without others has no correlation."""
    lengths, other = np.linspace(0.5, 2, 50)[:, None], np.random.default_rng(0).normal(size=(2, 300))
    first, second = (np.float32(scale * lengths * direction) for direction in other)
    assert (cosines(first, first[::-1]) == 1).all()
    assert cosines(first, second) == pytest.approx(np.full(50, cosines(*other[:, None])[0]))
    assert cosines(np.array([[3.0, 4.0], [0.0, 0.0]]), np.array([[6.0, 8.0], [1.0, 1.0]])).tolist() == [1, 0]


def test_features_of_a_pair_are_difference_and_product() -> None:
    vectors = Vectors(np.array([[1.0, 2.0], [3.0, -1.0]]), ["a", "b"])
    assert vectors.features(Items((["a"], ["b"]), np.array([1])), pair_features).tolist() == [[2, 3, 3, -2]]
    assert vectors.features(Items((["b"],), np.array([1])), sentence_vector).tolist() == [[3, -1]]


def words_as_vectors(sentences: list[str]) -> np.ndarray:
    return np.array([[len(s), s.count("a"), s.count("o"), s.count("l")] for s in sentences], dtype=np.float32)


@pytest.mark.parametrize("grid", [MODERN, PUBLISHED], ids=["modern", "senteval"])
def test_every_task_is_read_and_scored(tmp_path, grid) -> None:
    context = Context(replace(grid, l2=(1e-3,)), 1, tmp_path, TinyCorpus())
    tasks = downstream_tasks(context, DownstreamSettings(str(folder_of_tasks(tmp_path)), list(TASKS), kfold=2))
    assert [task.name for task in tasks] == list(TASKS)
    model = Model("words", "callable", words_as_vectors)
    scores, again = (Evaluation(model, tasks, cache=tmp_path / "cache").scores() for _ in range(2))
    assert [e.row.task for e in scores] == list(TASKS)
    assert all(e.row.test_low <= e.row.test_accuracy <= e.row.test_high for e in scores)
    assert [e.row for e in again] == [e.row for e in scores]


@pytest.mark.parametrize("name", ["SICK-R", "STSB"])
def test_relatedness_without_training_is_the_correlation_of_cosines(name, tmp_path) -> None:
    (trained, cosine), _ = read_downstream(folder_of_tasks(tmp_path), [name, f"{name}-cosine"])
    first, second = (words_as_vectors(column) for column in trained.parts["test"].texts)
    expected = 100 * pearsonr(cosines(first, second), trained.parts["test"].gold)[0]
    sentences = list(dict.fromkeys(cosine.sentences))
    outcome = cosine.score(Vectors(words_as_vectors(sentences), sentences), "cpu")
    assert outcome.test == pytest.approx(expected, abs=1e-4)


def test_the_majority_vote_is_the_share_of_the_most_frequent_class_and_no_correlation(tmp_path) -> None:
    items = Items((["a", "b", "c"],), np.array([1, 0, 1]))
    fewer = items._replace(gold=np.array([0, 0, 1]))
    outcome = Downstream("x", "folds", {"train": items, "test": fewer}, classes=2, positive=1).baseline("majority")
    assert (outcome.dev, outcome.test) == pytest.approx((200 / 3, 100 / 3))
    assert outcome.details["f1"] == pytest.approx(50)
    tasks, _ = read_downstream(folder_of_tasks(tmp_path), ["SICK-R", "STS12"])
    assert [task.baseline("majority").test for task in tasks] == [0, 0]


def test_scores_do_not_depend_on_the_number_of_cores() -> None:
    cores, predicted = torch.get_num_threads(), []
    try:
        for number in (1, 2):
            torch.set_num_threads(number)
            predicted.append(score_nested(separable(130), 2, 3, PUBLISHED, seed=5).predicted)
    finally:
        torch.set_num_threads(cores)
    assert np.array_equal(*predicted)


def test_folds_are_one_model_on_a_gpu_that_holds_their_batches_and_a_few_for_each_core_on_the_cpu() -> None:
    assert [folds_per_model(folds, 64 * 4096, "cuda") for folds in (100, 10_000)] == [100, 1024]
    assert folds_per_model(100, 64 * 4096, "cpu") < 100
