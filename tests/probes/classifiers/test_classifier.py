"""What holds for every classifier and both protocols."""

from dataclasses import replace
from functools import partial
from itertools import count as counted
from typing import Any

import numpy as np
import pytest
import torch

from encoder_lab.errors import InputError
from probes.classifiers import classifier
from probes.classifiers.cells import Cells, predict_classes
from probes.classifiers.classifier import CHUNK_ROWS, Grid, Labelled, best_logistic_cell, deviation_and_mean, probe
from probes.classifiers.examples import Fitted
from probes.classifiers.modern import _make_stages, successive_halving
from tests.labelled_vectors import features_that_go_together, random_labels, separable, three

SMALL = Grid(widths=(4, 8), dropouts=(0.0, 0.1), l2=(1e-5, 1e-2))
BOTH = (("mlp", SMALL), ("logistic", SMALL.logistic()))
PROTOCOLS = ("modern", "senteval")
GRIDS = {f"{protocol} {name}": replace(grid, protocol=protocol) for protocol in PROTOCOLS for name, grid in BOTH}
SEARCHES = {"optimum": best_logistic_cell, "race": partial(successive_halving, seed=1)}


@pytest.fixture(params=GRIDS.values(), ids=GRIDS.keys())
def grid(request) -> Grid:
    return request.param


def test_separable_classes_are_separated(grid) -> None:
    score = probe(*three(separable, 1000, 60, 60, classes=3), 3, grid, seed=1)
    assert (score.dev_accuracy, score.test_accuracy) == (100, 100)


@pytest.mark.parametrize("machine", [True, False])
def test_the_race_multiplies_in_bfloat16_where_the_machine_has_it(machine, monkeypatch) -> None:
    monkeypatch.setattr(classifier, "multiplies_in_bfloat16", lambda _: machine)
    splits, fitted = three(separable, 300, 60, 60, classes=3), list[Fitted]()

    def race(*arguments: Any) -> Fitted:
        fitted.append(successive_halving(*arguments))
        return fitted[-1]

    monkeypatch.setattr(classifier, "successive_halving", race)
    wide, narrow = (probe(*splits, 3, SMALL, seed=1, bfloat16=wish) for wish in (False, True))
    assert wide.test_accuracy == narrow.test_accuracy == 100
    weights = [cell.parameters[0] for cell in fitted]
    assert (fitted[0].width != fitted[1].width or not torch.equal(*weights)) == machine


def test_the_rates_fall_with_the_root_of_the_sentences_beyond_4000() -> None:
    """At the rates of few sentences 20 classes of 100,000 were read 2 points too low."""
    stages = [_make_stages(sentences, 6, Grid(), 36, 1, torch.device("cpu")) for sentences in (1000, 4000, 16_000)]
    few, same, many = ([stage.rate for stage, _ in of_size] for of_size in stages)
    assert few == same
    assert many == pytest.approx([rate / 2 for rate in few])


def test_random_labels_are_at_chance(grid) -> None:
    score = probe(*three(random_labels, 300, 100, 2000, classes=4), 4, grid, seed=1)
    assert 21 < score.test_accuracy < 29  # four standard errors of 25 %


def test_the_same_seed_gives_the_same_score_and_the_global_random_state_is_not_changed(grid) -> None:
    splits = three(random_labels, 100, 50, 70, classes=3)
    torch.manual_seed(3)
    np.random.seed(3)  # noqa: NPY002 - it is the global state that is looked at
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = (probe(*splits, 3, grid, seed=4) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
    assert (first[:2], first.hyperparameters) == (second[:2], second.hyperparameters)
    assert np.array_equal(first.test_correct, second.test_correct)
    assert first.test_correct.shape == (70,)
    assert first.test_accuracy == round(100 * first.test_correct.mean(), 2)


def test_the_number_of_threads_changes_no_score(grid) -> None:
    splits, threads = three(random_labels, 100, 50, 50, classes=3), torch.get_num_threads()
    scores = []
    for count in (1, 3):
        torch.set_num_threads(count)
        scores.append(probe(*splits, 3, grid, seed=4))
        assert torch.get_num_threads() == count
    torch.set_num_threads(threads)
    assert np.array_equal(scores[0].test_correct, scores[1].test_correct)


def test_vectors_that_are_all_the_same_give_the_majority() -> None:
    same = Labelled(np.full((100, 5), 0.3, np.float32), np.array([0, 1, 1, 1, 2] * 20))
    assert probe(same, same, same, 3, SMALL, seed=1).test_accuracy == 60


@pytest.mark.parametrize(("scale", "shift"), [(1e-3, 5), (1e-14, 0), (1e17, 0)])
@pytest.mark.parametrize("grid", [SMALL, SMALL.logistic()], ids=["mlp", "logreg"])
def test_modern_is_invariant_to_the_scale_of_the_vectors(grid, scale, shift) -> None:
    splits = three(separable, 200, 60, 60, classes=3)
    scaled = tuple(Labelled(np.float32(scale) * part.vectors + np.float32(shift), part.labels) for part in splits)
    assert probe(*scaled, 3, grid, seed=1).test_accuracy == 100


def test_deviations_are_those_of_all_rows_also_where_the_first_are_zero() -> None:
    x = torch.cat([torch.zeros(CHUNK_ROWS, 3), torch.randn(500, 3)])
    for got, expected in zip(deviation_and_mean(x), torch.std_mean(x, 0, correction=0), strict=True):
        torch.testing.assert_close(got, expected)


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES.keys())
def test_the_dev_accuracy_of_logistic_regression_is_that_of_its_weights(search) -> None:
    train, dev = features_that_go_together(120)
    cell = search(train, dev, 120, SMALL.logistic(), device="cpu")
    right = (predict_classes(cell.parameters, dev.x) == dev.y).double().mean()
    assert cell.dev_accuracy == round(100 * float(right), 2)


def test_the_race_scores_its_last_weights_and_not_those_of_a_better_pass(monkeypatch) -> None:
    train, dev = features_that_go_together(3)
    grid = Grid(widths=(8,), dropouts=(0.0,), l2=(1e-3,))
    last = successive_halving(train, dev, 3, grid, 1, "cpu").parameters
    asked = counted(100, -1)
    monkeypatch.setattr(Cells, "accuracy", lambda *_: [float(next(asked))])  # the first pass is the best on dev
    for weights, expected in zip(successive_halving(train, dev, 3, grid, 1, "cpu").parameters, last, strict=True):
        torch.testing.assert_close(weights, expected, rtol=0, atol=0)


def test_successive_halving_of_logistic_regression_comes_near_the_optimum() -> None:
    train, dev = features_that_go_together(120)
    race, best = (SEARCHES[name](train, dev, 120, SMALL.logistic(), device="cpu") for name in ("race", "optimum"))
    assert race.dev_accuracy > best.dev_accuracy - 10


@pytest.mark.parametrize(("setting", "message"), [
    ({"reduction": "max"}, "mean or sum"),
    ({"l2": 0.01}, "l2=0.01: give a"),
    ({"l2": (1e300,)}, "l2=.*: give a list in brackets, each a number from 0 to"),
    ({"l2": [0.01, 0.01]}, "l2=.*: give each value once"),
    ({"widths": (50, 100, 50)}, "widths=.*: give each value once"),
    ({"dropouts": (0, 0.0)}, "dropouts=.*: give each value once"),
    ({"widths": (0, 50)}, "widths=.*: 0 is logistic regression"),
    ({"batch": 32}, "batch= is a setting of protocol=senteval"),
])  # fmt: skip
def test_an_invalid_grid_is_refused(setting, message) -> None:
    with pytest.raises(InputError, match=message):
        Grid(**setting)
