"""All folds as one model: each is what it would be alone."""

from dataclasses import replace
from unittest.mock import MagicMock

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from probes.classifiers.cells import Cell, Cells
from probes.classifiers.examples import Fitted, Tensors
from probes.classifiers.folded import Fold, train_folds
from probes.classifiers.grid import Grid
from probes.classifiers.recorded import WARM_UP_CALLS, StepGraphs
from probes.classifiers.senteval import train_with_early_stopping

GRID = Grid(l2=(1e-5, 1e-3, 1e-1), protocol="senteval", max_passes=24).logistic()


def data(size: int, classes: int, seed: int) -> Tensors:
    random = torch.Generator().manual_seed(seed)
    x = torch.randn(size, 6, generator=random)
    return Tensors(x, (x[:, :classes] + torch.randn(size, classes, generator=random)).argmax(1))


def alone(items: Tensors, fold: Fold, classes: int, grid: Grid, seed: int) -> list[Fitted]:
    train, dev = (Tensors(items.x[rows], items.y[rows]) for rows in (fold.train, fold.dev))
    cells = Cells(items.x.shape[1], classes, [Cell(0, 0.0, l2) for l2 in grid.l2], seed, optimiser=grid.optimiser)
    return sorted(train_with_early_stopping(cells, train, dev, grid, seed), key=lambda cell: cell.l2)


@settings(max_examples=10)
@given(
    sizes=st.lists(st.integers(20, 140), min_size=1, max_size=4),
    classes=st.integers(2, 4),
    seed=st.integers(0, 99),
    reduction=st.sampled_from(["mean", "sum"]),
    optimiser=st.sampled_from(["adam", "rmsprop"]),
)
def test_each_fold_equals_the_fold_alone_for_any_sizes(sizes, classes, seed, reduction, optimiser) -> None:
    items, grid = data(200, classes, seed), replace(GRID, reduction=reduction, optimiser=optimiser)
    rows = np.random.default_rng(seed)
    drawn = [rows.permutation(200) for _ in sizes]
    folds = [Fold(d[:n], d[150:], np.random.RandomState(seed)) for n, d in zip(sizes, drawn, strict=True)]
    accuracies, weights = train_folds(items, classes, folds, np.tile(grid.l2, (len(folds), 1)), grid, seed)
    for place, fold in enumerate(folds):
        for cell, expected in enumerate(alone(items, fold, classes, grid, seed)):
            assert 100 * accuracies[place, cell] == pytest.approx(expected.dev_accuracy)
            weight, bias = expected.parameters
            torch.testing.assert_close(weights[place, cell, :, :-1], weight, rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(weights[place, cell, :, -1:], bias, rtol=1e-4, atol=1e-5)


def test_each_fold_may_have_its_own_l2() -> None:
    items, rows = data(120, 2, 0), np.arange(120)

    def fold() -> Fold:
        return Fold(rows[:100], rows[100:], np.random.RandomState(3))

    both = train_folds(items, 2, [fold(), fold()], np.array([[1e-5], [5.0]]), GRID, seed=3)[1]
    for place, l2 in enumerate((1e-5, 5.0)):
        single = train_folds(items, 2, [fold()], np.array([[l2]]), GRID, seed=3)[1]
        torch.testing.assert_close(both[place], single[0])
    assert not torch.allclose(both[0], both[1])


@pytest.fixture
def graph(monkeypatch) -> MagicMock:
    """What stands for a graph of the GPU."""
    graph = MagicMock()
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: graph)
    for name in ("Stream", "stream", "current_stream"):
        monkeypatch.setattr(torch.cuda, name, MagicMock())
    return graph


def test_a_step_is_recorded_after_a_few_plain_calls_and_replayed(graph) -> None:
    calls, recorded = [], StepGraphs()
    for _ in range(WARM_UP_CALLS + 3):
        recorded(lambda *tensors: calls.append(tensors), torch.ones(2))
    assert (len(calls), graph.capture_begin.call_count, graph.replay.call_count) == (WARM_UP_CALLS + 1, 1, 3)


def test_an_error_ends_the_recording_of_its_step(graph) -> None:
    recorded = StepGraphs()
    for _ in range(WARM_UP_CALLS):
        recorded(lambda _: None, torch.ones(2))
    with pytest.raises(torch.OutOfMemoryError):
        recorded(MagicMock(side_effect=torch.OutOfMemoryError), torch.ones(2))
    graph.capture_end.assert_called_once()
