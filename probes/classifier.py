"""The probing classifier: a grid of small networks on frozen vectors, the best on dev scored on test.

`senteval` is the published protocol (SentEval; Conneau et al. 2018, appendix). `modern`, the default for
curves, standardises the vectors, takes larger batches, drops cells that fall behind, and solves logistic
regression to its optimum. docs/probing_protocol.md lists the differences.
"""

import time
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import torch

from probes.cells import Cell, Cells
from probes.logistic import regularisation_path


class Labelled(NamedTuple):
    """Vectors (N, D) float32 with labels (N,) int64."""

    vectors: np.ndarray
    labels: np.ndarray


@dataclass(frozen=True)
class Grid:
    """The cells that compete on dev, and how they are trained."""

    widths: tuple[int, ...] = (50, 100, 200)  # sigmoid units; (0,) is logistic regression
    dropouts: tuple[float, ...] = (0.0, 0.1, 0.2)
    l2: tuple[float, ...] = (1e-5, 1e-4, 1e-3, 1e-2)
    protocol: Literal["modern", "senteval"] = "modern"
    max_passes: int = 40  # modern only: passes over the training vectors at most

    @property
    def is_logistic(self) -> bool:
        return tuple(self.widths) == (0,)

    def logistic(self) -> "Grid":
        """Logistic regression over the same L2 values."""
        return replace(self, widths=(0,), dropouts=(0.0,))

    def cells(self) -> list[Cell]:
        """In the order in which ties are decided: the first wins."""
        return [Cell(w, d, l2) for w in self.widths for d in self.dropouts for l2 in self.l2]


class Score(NamedTuple):
    """The result of one task. Accuracies in percent."""

    dev_accuracy: float
    test_accuracy: float
    test_correct: np.ndarray  # (N_test,) bool
    hyperparameters: dict[str, float | int | str]
    seconds: float


def probe(
    train: Labelled, dev: Labelled, test: Labelled, classes: int, grid: Grid, seed: int, device: str = "cpu"
) -> Score:
    """Train every cell of the grid at once, choose on dev, score on test. Leaves global random state alone."""
    started = time.monotonic()
    x, y = (torch.as_tensor(np.asarray(part), device=device) for part in train)
    others = [torch.as_tensor(np.asarray(part.vectors), device=device) for part in (dev, test)]
    if grid.protocol == "modern":
        mean, scale = x.mean(0), x.std(0).clamp_min(1e-6)
        x, *others = [(part - mean) / scale for part in (x, *others)]
    dev_labels = torch.as_tensor(dev.labels, device=device)
    if grid.protocol == "senteval":
        cell, dev_accuracy, predicted = _senteval(x, y, others[0], dev_labels, others[1], classes, grid, seed)
    elif grid.is_logistic:
        cell, dev_accuracy, predicted = _optimum(x, y, others[0], dev_labels, others[1], classes, grid)
    else:
        cell, dev_accuracy, predicted = _race(x, y, others[0], dev_labels, others[1], classes, grid, seed)
    correct = predicted.cpu().numpy() == test.labels
    return Score(dev_accuracy, 100 * float(correct.mean()), correct, cell._asdict(), time.monotonic() - started)


Found = tuple[Cell, float, torch.Tensor]  # the winner, its dev accuracy, its predictions on test


def _senteval(x, y, dev, dev_labels, test, classes: int, grid: Grid, seed: int) -> Found:
    """Blocks of 4 passes in batches of 64; a cell stops at its 6th block without a better dev accuracy."""
    tenacity, passes_per_block, cap = 5, 4, 200
    cells = Cells(x.shape[1], classes, grid.cells(), seed, x.device)
    order = np.random.RandomState(seed)
    best = dict.fromkeys(cells.cells, -1.0)
    failures = dict.fromkeys(cells.cells, 0)
    kept: dict[Cell, torch.Tensor] = {}
    passes = 0
    while cells.cells and passes <= cap:
        for _ in range(passes_per_block):
            cells.pass_over(x, y, torch.from_numpy(order.permutation(len(x))), batch=64)
        passes += passes_per_block
        accuracies, predicted = cells.accuracy(dev, dev_labels), cells.predict(test)
        going = []
        for i, cell in enumerate(cells.cells):
            if accuracies[i] > best[cell]:
                best[cell], kept[cell] = accuracies[i], predicted[i].clone()
            else:
                if failures[cell] >= tenacity:
                    continue
                failures[cell] += 1
            going.append(i)
        cells.keep(going)
    winner = max(grid.cells(), key=lambda cell: round(best[cell], 2))
    return winner, round(best[winner], 2), kept[winner]


ROUNDS = {1: 1 / 3, 3: 1 / 3, 6: 1 / 2}  # after so many passes, so large a part of the cells goes on


def _race(x, y, dev, dev_labels, test, classes: int, grid: Grid, seed: int) -> Found:
    """All cells start; those behind on dev leave in three rounds; the rest train until none improves."""
    cells = Cells(x.shape[1], classes, grid.cells(), seed, x.device, learning_rate=3e-3)
    batch = int(np.clip(len(x) // 32, 64, 512))
    order = np.random.default_rng(seed)
    best: Found = (cells.cells[0], -1.0, torch.empty(0))
    stale = 0
    for passes in range(1, grid.max_passes + 1):
        cells.pass_over(x, y, torch.from_numpy(order.permutation(len(x))), batch)
        accuracies = cells.accuracy(dev, dev_labels)
        leader = int(np.argmax(accuracies))
        stale += 1
        if accuracies[leader] > best[1]:
            best = (cells.cells[leader], accuracies[leader], cells.predict(test)[leader].clone())
            stale = 0
        if passes in ROUNDS:
            ranked = np.argsort(-np.array(accuracies), kind="stable")
            cells.keep(sorted(ranked[: max(2, round(len(ranked) * ROUNDS[passes]))].tolist()))
        elif stale >= 5:
            break
    return best


def _optimum(x, y, dev, dev_labels, test, classes: int, grid: Grid) -> Found:
    """Logistic regression at the optimum for each L2 value, each started from the one before."""
    best: Found = (Cell(0, 0.0, grid.l2[0]), -1.0, torch.empty(0))
    for l2, weight, bias in regularisation_path(x, y, classes, sorted(grid.l2, reverse=True)):
        right = int(((dev @ weight + bias).argmax(1) == dev_labels).sum())
        accuracy = 100 * right / len(dev_labels)
        if accuracy >= best[1]:  # a tie goes to the weaker regularisation, as published
            best = (Cell(0, 0.0, l2), accuracy, (test @ weight + bias).argmax(1))
    return best
