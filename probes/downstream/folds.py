"""Tasks without an official dev part: L2 is chosen by folds (SentEval, senteval/tools/validation.py).

`senteval` stops each logistic regression early on the very fold that scores it and holds 5% of train back to stop the
last one, as published; `modern` standardises the features on train and solves each one to its optimum.
"""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np
import torch
from sklearn.model_selection import StratifiedKFold
from torch import Tensor
from tqdm import tqdm

from datamodules.errors import InputError
from probes.classifier import standardised
from probes.classifiers.blocks import on_all_cores
from probes.classifiers.folded import Fold, train_folds
from probes.classifiers.grid import Grid, Tensors
from probes.classifiers.optimum import optimum, spread

NESTED_SEED = 1111  # of the published nested folds, whatever the user's seed
HELD_BACK = 0.05  # of train, to stop the last fit of the published protocol

Rows = tuple[np.ndarray, np.ndarray]  # to train on, to score


class Chosen(NamedTuple):
    """Logistic regression with the L2 value that folds of the training part chose."""

    l2: float
    dev_accuracy: float  # percent, the mean over the folds
    weights: Tensor  # (C, D + 1), the bias last


class Folded(NamedTuple):
    """What the folds found out."""

    dev_accuracy: float  # percent
    test_accuracy: float
    predicted: np.ndarray  # (N_test,) classes, in the order of the test part
    l2: list[float]  # one for each outer fold


def by_folds(train: Tensors, test: Tensors, classes: int, folds: int, grid: Grid, seed: int) -> Folded:
    """Choose L2 by folds of `train`, score `test` (KFoldClassifier)."""
    chosen, predicted = _choose_and_predict(train, test, classes, folds, grid, seed, seed)
    accuracy = float((predicted == test.y.cpu().numpy()).mean())
    return Folded(chosen.dev_accuracy, round(100 * accuracy, 2), predicted, [chosen.l2])


def nested(items: Tensors, classes: int, folds: int, grid: Grid, seed: int, title: str = "") -> Folded:
    """Every fold is once the test part; its L2 is chosen by folds of the others (InnerKFoldClassifier)."""
    split_seed = NESTED_SEED if grid.protocol == "senteval" else seed
    predicted = np.empty(len(items.y), dtype=np.int64)
    chosen, scores = [], []
    for outer in tqdm(_stratified(items.y, folds, split_seed), title, disable=None, leave=False, unit=" folds"):
        train, test = (Tensors(items.x[rows], items.y[rows]) for rows in outer)
        found, predicted[outer[1]] = _choose_and_predict(train, test, classes, folds, grid, seed, split_seed)
        chosen.append(found)
        scores.append(round(100 * float((predicted[outer[1]] == test.y.cpu().numpy()).mean()), 2))
    dev = float(np.mean([found.dev_accuracy for found in chosen]))
    return Folded(round(dev, 2), round(float(np.mean(scores)), 2), predicted, [found.l2 for found in chosen])


def _choose_and_predict(
    train: Tensors, test: Tensors, classes: int, folds: int, grid: Grid, seed: int, split_seed: int
) -> tuple[Chosen, np.ndarray]:
    inner = _stratified(train.y, folds, split_seed)
    if grid.protocol == "modern":
        train, test = standardised(train, test)
        found = _choose_at_optimum(train, classes, inner, grid)
    else:
        found = _choose_as_published(train, classes, inner, grid, seed)
    scores = test.x @ found.weights[:, :-1].t() + found.weights[:, -1]
    return found, scores.argmax(1).cpu().numpy()


def _stratified(y: Tensor, folds: int, seed: int) -> list[Rows]:
    labels = y.cpu().numpy()
    fewest = int(np.unique(labels, return_counts=True)[1].min())
    if fewest < folds:
        raise InputError(f"{folds} folds, but a class has only {fewest} items; give a smaller downstream.kfold")
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return list(splits.split(np.zeros(len(labels)), labels))


def _choose_as_published(train: Tensors, classes: int, inner: Sequence[Rows], grid: Grid, seed: int) -> Chosen:
    started = [Fold(*rows, np.random.RandomState(seed)) for rows in inner]
    size = ceil(len(started) / torch.get_num_threads())
    groups = [started[first : first + size] for first in range(0, len(started), size)]
    l2 = np.array(grid.l2)

    def accuracies(group: Sequence[Fold]) -> np.ndarray:
        return train_folds(train, classes, group, np.tile(l2, (len(group), 1)), grid, seed).accuracies

    device = train.x.device.type
    means = np.concatenate(on_all_cores(accuracies, groups, device)).mean(0)
    dev = [round(100 * float(mean), 2) for mean in means]
    best = float(l2[int(np.argmax(dev))])
    order = np.random.RandomState(seed)
    shuffled = order.permutation(len(train.y))
    held = int(HELD_BACK * len(shuffled))
    whole = Fold(shuffled[held:], shuffled[:held], order)
    weights = train_folds(train, classes, [whole], np.array([[best]]), grid, seed).weights[0, 0]
    return Chosen(best, max(dev), weights)


def _choose_at_optimum(train: Tensors, classes: int, inner: Sequence[Rows], grid: Grid) -> Chosen:
    within = spread(train.x)
    values = sorted(grid.l2)

    def fitted(rows: np.ndarray, l2: float) -> tuple[Tensor, Tensor]:
        some = torch.from_numpy(rows).to(train.y.device)
        return optimum(Tensors(train.x[some], train.y[some]), classes, l2, within)

    def accuracy(job: tuple[Rows, float]) -> float:
        (rows, scored), l2 = job
        weight, bias = fitted(rows, l2)
        where = torch.from_numpy(scored).to(train.y.device)
        return float(((train.x[where] @ weight + bias).argmax(1) == train.y[where]).float().mean())

    jobs = [(rows, l2) for rows in inner for l2 in values]
    means = np.array(on_all_cores(accuracy, jobs, train.x.device.type)).reshape(len(inner), -1).mean(0)
    dev = [round(100 * float(mean), 2) for mean in means]
    best = values[int(np.argmax(dev))]
    weight, bias = fitted(np.arange(len(train.y)), best)
    return Chosen(best, max(dev), torch.cat([weight.t(), bias[:, None]], 1))
