"""The published protocol as in the published toolkit: one classifier after another, in plain torch.

The reference of benchmarks/probing.py and downstream.py, and of the tests. Rules: SentEval
@5d6dc11, senteval/tools/classifier.py and validation.py.
"""

import copy
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.stats import pearsonr
from sklearn.model_selection import StratifiedKFold
from torch import Tensor, nn

from probes.classifiers.classifier import Grid


class TrainedClassifier(NamedTuple):
    """One classifier, trained by itself."""

    dev_accuracy: float  # percent
    model: nn.Module  # the best on dev
    evaluations: int
    passes: int


def network(inputs: int, classes: int, width: int, dropout: float) -> nn.Module:
    """Logistic regression for `width=0`, else one sigmoid layer."""
    if width == 0:
        return nn.Linear(inputs, classes)
    return nn.Sequential(nn.Linear(inputs, width), nn.Dropout(dropout), nn.Sigmoid(), nn.Linear(width, classes))


def accuracy(model: nn.Module, x: Tensor, y: Tensor) -> float:
    """Accuracy on `x (N, D)` in percent."""
    model.eval()
    with torch.no_grad():
        correct = sum(int((model(a).argmax(1) == b).sum()) for a, b in zip(x.split(64), y.split(64), strict=True))
    return 100 * (correct / len(y))


def train_alone(
    train: tuple[Any, Tensor],
    dev: tuple[Any, Tensor],
    classes: int,
    cell: tuple[int, float, float],
    grid: Grid,
    seed: int,
    order: np.random.RandomState | None = None,
) -> TrainedClassifier:
    """Train one cell (width, dropout, L2). Seeds and uses the global generator of torch, like the toolkit."""
    (x, y), (width, dropout, l2) = train, cell
    order = order or np.random.RandomState(seed)
    torch.manual_seed(seed)
    model = network(x.shape[1], classes, width, dropout).to(x.device)
    optimizer_class = torch.optim.RMSprop if grid.optimiser == "rmsprop" else torch.optim.Adam
    optimizer = optimizer_class(model.parameters(), weight_decay=l2)
    loss = nn.CrossEntropyLoss(reduction=grid.reduction)
    best, best_model, failures, stop, passes, evaluations = -1.0, model, 0, False, 0, 0
    while not stop and passes <= grid.max_passes:
        model.train()
        for _ in range(grid.block):
            rows = torch.from_numpy(order.permutation(len(x))).to(x.device)
            for start in range(0, len(x), grid.batch):
                batch = rows[start : start + grid.batch]
                optimizer.zero_grad()
                loss(model(x[batch]), y[batch]).backward()
                optimizer.step()
        passes += grid.block
        evaluations += 1
        score = accuracy(model, *dev)
        if score > best:
            best, best_model = score, copy.deepcopy(model)
        else:
            stop = failures >= grid.tenacity
            failures += 1
    return TrainedClassifier(best, best_model, evaluations, passes)


def train_grid_alone(
    train: tuple[Any, Tensor], dev: tuple[Any, Tensor], test: tuple[Any, Tensor], classes: int, grid: Grid, seed: int
) -> tuple[float, float, int]:
    """Dev accuracy, test accuracy and the number of passes over the training data.

    For each width and dropout the toolkit tries every L2, then trains the best one again. The caller takes the best
    pair.
    """
    best, passes = (-1.0, -1.0), 0
    for width, dropout in grid.settings():
        trained = [train_alone(train, dev, classes, (width, dropout, l2), grid, seed) for l2 in grid.l2]
        winner = int(np.argmax([round(classifier.dev_accuracy, 2) for classifier in trained]))
        final = train_alone(train, dev, classes, (width, dropout, grid.l2[winner]), grid, seed)
        passes += sum(classifier.passes for classifier in [*trained, final])
        dev_accuracy = round(final.dev_accuracy, 2)
        if dev_accuracy > best[0]:
            best = dev_accuracy, round(accuracy(final.model, *test), 2)
    return *best, passes


def nested_folds(
    items: tuple[Any, Tensor], classes: int, folds: int, grid: Grid, seed: int, only: int | None = None
) -> tuple[float, float]:
    """Dev and test accuracy of a task without official splits: k * (k * L2 values) + k fits (InnerKFoldClassifier).

    `only`: use only this many outer folds.
    """
    x, y = items

    def fit(train: np.ndarray, dev: np.ndarray, l2: float, order: Any = None) -> TrainedClassifier:
        return train_alone((x[train], y[train]), (x[dev], y[dev]), classes, (0, 0.0, l2), grid, seed, order)

    splits = StratifiedKFold(folds, shuffle=True, random_state=1111)
    devs, tests = [], []
    for outer, test in islice(splits.split(x, y), only):
        inner = [(outer[train], outer[dev]) for train, dev in splits.split(x[outer], y[outer])]
        scores = []
        for l2 in grid.l2:
            scores.append(round(float(np.mean([fit(train, dev, l2).dev_accuracy for train, dev in inner])), 2))
        best = grid.l2[int(np.argmax(scores))]
        order = np.random.RandomState(seed)
        shuffled = outer[order.permutation(len(outer))]
        dev_size = int(0.05 * len(outer))
        final = fit(shuffled[dev_size:], shuffled[:dev_size], best, order)
        devs.append(max(scores))
        tests.append(round(accuracy(final.model, x[test], y[test]), 2))
    return round(float(np.mean(devs)), 2), round(float(np.mean(tests)), 2)


def relatedness(
    train: tuple[Any, Tensor], dev: tuple[Any, Tensor], test: tuple[Any, Tensor], seed: int, most: int = 1000
) -> tuple[float, np.ndarray]:
    """Pearson's r on dev and the scores (N_test,) predicted (senteval/tools/relatedness.py). `most`: passes."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(train[0].shape[1], 5), nn.Softmax(dim=-1))
    optimizer, loss, order = torch.optim.Adam(model.parameters()), nn.MSELoss(), np.random.RandomState(seed)
    ratings = torch.arange(1.0, 6.0)
    targets = (1 - (train[1][:, None] - ratings).abs()).clamp_min(0).float()
    best, best_predicted, failures, passes = -1.0, np.zeros(len(test[1])), 0, 0
    while failures <= 3 and passes <= most:
        for _ in range(50):
            rows = order.permutation(len(targets))
            for start in range(0, len(rows), 64):
                batch = rows[start : start + 64]
                optimizer.zero_grad()
                loss(model(train[0][batch]), targets[batch]).backward()
                optimizer.step()
        passes += 50
        with torch.no_grad():
            dev_predicted, predicted = ((model(part[0]) @ ratings).numpy() for part in (dev, test))
        score = float(pearsonr(dev_predicted, dev[1].numpy())[0])
        if score > best:
            best, best_predicted = score, predicted
        else:
            failures += 1
    return best, best_predicted
