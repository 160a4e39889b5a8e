"""The published protocol: its stop rule, its caps and its ties, next to an independent run of it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from benchmarks.sequential import train_grid_alone
from probes.classifiers import senteval
from probes.classifiers.blocks import split_into_blocks
from probes.classifiers.cells import Cell, Cells
from probes.classifiers.classifier import Grid, Labelled, as_tensors, probe
from probes.classifiers.examples import Tensors

GRID = Grid(widths=(3, 5), dropouts=(0.0, 0.2), l2=(1e-4, 1e-2), protocol="senteval")
LOGISTIC = GRID.logistic()


def labelled(sentences: int, seed: int, classes: int = 3) -> Labelled:
    random = np.random.default_rng(seed)
    x = random.normal(size=(sentences, 8)).astype(np.float32)
    return Labelled(x, (2 * x[:, :classes] + random.gumbel(size=(sentences, classes))).argmax(1))


@pytest.mark.parametrize("grid", [
    *(GRID, LOGISTIC, replace(GRID, reduction="sum", widths=(3,))),
    replace(GRID, optimiser="rmsprop", batch=128, tenacity=3, widths=(5,)),
])  # fmt: skip
def test_each_cell_scores_like_the_toolkit(grid) -> None:
    parts = labelled(150, 1), labelled(90, 2), labelled(80, 3)
    expected = train_grid_alone(*(as_tensors(part, "cpu") for part in parts), 3, grid, seed=7)
    score = probe(*parts, 3, grid, seed=7)
    assert (score.dev_accuracy, score.test_accuracy) == expected[:2]


def test_the_grid_as_one_model_equals_its_blocks() -> None:
    train, dev = as_tensors(labelled(150, 1), "cpu"), as_tensors(labelled(90, 2), "cpu")
    (cells,) = split_into_blocks(8, 3, GRID, device="cuda")
    together = senteval.train_with_early_stopping(Cells(8, 3, cells, seed=7), train, dev, GRID, seed=7)
    apart = senteval.train_grid(train, dev, 3, GRID, 7, "cpu")
    assert [cell[:3] for cell in together] == [cell[:3] for cell in apart]  # width, dropout and L2
    assert [cell.dev_accuracy for cell in together] == pytest.approx([cell.dev_accuracy for cell in apart], abs=1.2)


class Scripted(Cells):
    """One cell that learns nothing and has the dev accuracies it is given."""

    def __init__(self, accuracies: list[float]) -> None:
        super().__init__(1, 2, [Cell(0, 0.0, 1e-5)], seed=0)
        self.script, self.evaluations = accuracies, 0

    def accuracy(self, x: torch.Tensor, y: torch.Tensor) -> list[float]:
        self.evaluations += 1
        return [self.script[min(self.evaluations, len(self.script)) - 1]]

    def step(self, *batch: object, **options: object) -> None:
        """Stay."""


def evaluations(script: list[float], grid: Grid) -> int:
    item = Tensors(torch.zeros(1, 1), torch.zeros(1, dtype=torch.long))
    cells = Scripted(script)
    senteval.train_with_early_stopping(cells, item, item, grid, seed=0)
    return cells.evaluations


@pytest.mark.parametrize(("cap", "block", "expected"), [(200, 4, 51), (200, 2, 101), (200, 15, 14), (15, 1, 16)])
def test_the_cap_is_exceeded_as_published(cap, block, expected) -> None:
    assert evaluations([float(i) for i in range(200)], replace(LOGISTIC, max_passes=cap, block=block)) == expected


@pytest.mark.parametrize(("script", "expected"), [
    ([50.0], 1 + 6),
    ([50, 40, 40, 40, 40, 40, 60, 61, 62, 61], 10),
    ([50, 60, 60, 60, 60, 60, 60, 60, 70], 8),
], ids=["no improvement", "an improvement does not reset the patience", "a tie is no improvement"])  # fmt: skip
def test_training_ends_at_the_sixth_evaluation_that_does_not_improve(script, expected) -> None:
    assert evaluations(script, LOGISTIC) == expected


def test_among_equals_the_first_of_the_grid_wins() -> None:
    same = Labelled(np.zeros((20, 4), np.float32), np.zeros(20, np.int64))
    first = {"width": 3, "dropout": 0.0, "l2": 1e-4, "front": [[0, 100.0]]}
    assert probe(same, same, same, 2, GRID, seed=1).hyperparameters == first


def test_accuracies_are_equal_when_they_are_equal_to_two_decimals(monkeypatch) -> None:
    scores = {1e-4: 70.001, 1e-2: 70.004}
    monkeypatch.setattr(Cells, "accuracy", lambda cells, *_: [scores[cell.l2] for cell in cells.cells])
    data = labelled(10, 1)
    assert probe(data, data, data, 3, LOGISTIC, seed=1).hyperparameters["l2"] == 1e-4
