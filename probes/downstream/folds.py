"""Tasks without an official dev part: L2 is chosen by folds (SentEval, senteval/tools/validation.py).

`senteval`, as published, stops each logistic regression early on the same fold that scores it, and the last one on 5%
of train. All folds and L2 values of a task are trained as one model, and so are the last fits of all outer folds
(docs/downstream_protocol.md, "How it is computed"). `modern` standardises the features on train and solves each fit to
its optimum.
"""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np
import torch
from sklearn.model_selection import StratifiedKFold
from torch import Tensor

from encoder_lab.errors import InputError
from encoder_lab.progress import Progress
from probes.classifiers.blocks import map_on_cores
from probes.classifiers.classifier import standardise
from probes.classifiers.examples import Tensors
from probes.classifiers.folded import Fold, train_folds
from probes.classifiers.grid import Grid, best_of_l2
from probes.classifiers.optimum import covariance, curvature_factor, optimum

NESTED_SEED = 1111  # of the published nested folds, with any seed of the user
HELD_OUT_SHARE = 0.05  # of train, to stop the last fit of the published protocol
MAX_CPU_FOLDS = 10  # trained together on one core; more are not faster and leave cores idle at the end
MAX_BATCH_NUMBERS = 2**28  # numbers (1 GB) in the batches of all folds trained together on a GPU, at one step

FoldRows = tuple[np.ndarray, np.ndarray]  # to train on, to score
# the L2 value that folds of the training part chose, its mean accuracy over them in percent, the predicted classes
ChosenL2 = tuple[float, float, np.ndarray]


class OuterSplit(NamedTuple):
    """Logistic regression is trained on `train` and scored on `test`."""

    train: np.ndarray  # rows of the data
    test: np.ndarray
    inner: list[FoldRows]  # folds of `train`, as positions in it, that choose L2


class FoldScores(NamedTuple):
    """The scores by folds."""

    dev_accuracy: float  # percent
    test_accuracy: float
    predicted: np.ndarray  # (N_test,) classes, in the order of the test part
    l2: list[float]  # one for each outer fold


def score_by_folds(
    train: Tensors, test: Tensors, classes: int, folds: int, grid: Grid, seed: int, title: str = ""
) -> FoldScores:
    """Choose L2 by folds of `train`, score `test` (KFoldClassifier)."""
    data = Tensors(torch.cat([train.x, test.x]), torch.cat([train.y, test.y]))
    train_rows, test_rows = np.split(np.arange(len(data.y)), [len(train.y)])
    return _score_splits(
        data, [OuterSplit(train_rows, test_rows, _stratified_folds(train.y, folds, seed))], classes, grid, seed, title
    )


def score_nested(items: Tensors, classes: int, folds: int, grid: Grid, seed: int, title: str = "") -> FoldScores:
    """Each fold is the test part once; L2 is chosen by folds of the others (InnerKFoldClassifier)."""
    split_seed = NESTED_SEED if grid.protocol == "senteval" else seed
    outer = _stratified_folds(items.y, folds, split_seed)
    parts = [OuterSplit(train, test, _stratified_folds(items.y[train], folds, split_seed)) for train, test in outer]
    return _score_splits(items, parts, classes, grid, seed, title)


def _score_splits(
    data: Tensors, parts: Sequence[OuterSplit], classes: int, grid: Grid, seed: int, title: str
) -> FoldScores:
    if grid.protocol == "modern":
        progress = Progress(parts, title, leave=False, unit=" folds")
        chosen = [_choose_at_optimum(data, part, classes, grid) for part in progress]
    else:
        chosen = _choose_as_published(data, parts, classes, grid, seed, title)
    y, order = data.y.cpu().numpy(), np.argsort(np.concatenate([part.test for part in parts]))
    l2, dev, predicted = zip(*chosen, strict=True)
    accuracies = [float((fit == y[part.test]).mean()) for fit, part in zip(predicted, parts, strict=True)]
    test = np.mean([round(100 * share, 2) for share in accuracies])
    return FoldScores(round(float(np.mean(dev)), 2), round(float(test), 2), np.concatenate(predicted)[order], list(l2))


def _stratified_folds(y: Tensor, folds: int, seed: int) -> list[FoldRows]:
    labels = y.cpu().numpy()
    fewest = int(np.unique(labels, return_counts=True)[1].min())
    if fewest < folds:
        raise InputError(f"{folds} folds, but a class has only {fewest} items; give a smaller downstream.kfold")
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return list(splits.split(np.zeros(len(labels)), labels))


def _choose_as_published(
    data: Tensors, parts: Sequence[OuterSplit], classes: int, grid: Grid, seed: int, title: str
) -> list[ChosenL2]:
    inner = [
        Fold(part.train[train], part.train[dev], np.random.RandomState(seed))
        for part in parts
        for train, dev in part.inner
    ]
    tried, _ = _train_together(data, classes, inner, np.tile(grid.l2, (len(inner), 1)), grid, seed, title)
    means = tried.reshape(len(parts), -1, len(grid.l2)).mean(1)
    dev = [[round(100 * float(mean), 2) for mean in accuracies] for accuracies in means]
    best = np.array([[grid.l2[int(np.argmax(accuracies))]] for accuracies in dev])
    last = [_last_fold(part.train, seed) for part in parts]
    _, weights = _train_together(data, classes, last, best, grid, seed, title)
    predicted = [
        _predict_classes(data.x[part.test], w[:, :-1].t(), w[:, -1])
        for part, w in zip(parts, weights[:, 0], strict=True)
    ]
    return [(float(l2), max(d), p) for (l2,), d, p in zip(best, dev, predicted, strict=True)]


def _last_fold(rows: np.ndarray, seed: int) -> Fold:
    """All rows except those held back for early stopping. Raises InputError where that is none."""
    order = np.random.RandomState(seed)
    shuffled = rows[order.permutation(len(rows))]
    if not (count := int(HELD_OUT_SHARE * len(shuffled))):
        reason = f"protocol=senteval stops at 5% of the training items, and of {len(shuffled)} that is none"
        raise InputError(f"{reason}; give probes.classifier.protocol=modern")
    return Fold(shuffled[count:], shuffled[:count], order)


def _train_together(
    data: Tensors, classes: int, folds: Sequence[Fold], l2: np.ndarray, grid: Grid, seed: int, title: str
) -> tuple[np.ndarray, Tensor]:
    """`train_folds`, with at most `folds_per_model` folds in one model."""
    device = data.x.device.type
    size = folds_per_model(len(folds), grid.batch * data.x.shape[1], device)

    with Progress(total=len(folds), desc=title, leave=False, unit=" folds") as progress:

        def train_chunk(first: int) -> tuple[np.ndarray, Tensor]:
            chunk = slice(first, first + size)
            stopped = train_folds(data, classes, folds[chunk], l2[chunk], grid, seed)
            progress.update(len(folds[chunk]))
            return stopped

        accuracies, weights = zip(*map_on_cores(train_chunk, range(0, len(folds), size), device), strict=True)
    return np.concatenate(accuracies), torch.cat(weights)


def folds_per_model(folds: int, batch: int, device: str) -> int:
    """How many folds are trained as one model. `batch`: the numbers in a batch of one fold.

    On a CPU each core trains its own models; on a GPU all folds are one model, if their batches fit.
    """
    if device == "cpu":
        return min(MAX_CPU_FOLDS, ceil(folds / torch.get_num_threads()))
    return max(1, min(folds, MAX_BATCH_NUMBERS // batch))


def _choose_at_optimum(data: Tensors, part: OuterSplit, classes: int, grid: Grid) -> ChosenL2:
    train, test = standardise(*(Tensors(data.x[rows], data.y[rows]) for rows in (part.train, part.test)))
    spread, curvatures = covariance(train.x), dict[float, Tensor]()

    def fit(rows: np.ndarray, l2: float) -> tuple[Tensor, Tensor]:
        indices = torch.from_numpy(rows).to(train.y.device)
        return optimum(Tensors(train.x[indices], train.y[indices]), classes, l2, curvatures[l2])

    def accuracy(job: tuple[FoldRows, float]) -> float:
        (rows, scored), l2 = job
        indices = torch.from_numpy(scored).to(train.y.device)
        return float((_predict_classes(train.x[indices], *fit(rows, l2)) == train.y[indices].cpu().numpy()).mean())

    def dev_accuracies(values: list[float]) -> list[float]:
        device = train.x.device.type
        factors = map_on_cores(lambda l2: curvature_factor(spread, classes, l2), values, device)
        curvatures.update(zip(values, factors, strict=True))
        jobs = [(rows, l2) for rows in part.inner for l2 in values]
        means = np.array(map_on_cores(accuracy, jobs, device)).reshape(len(part.inner), -1).mean(0)
        return [round(100 * float(mean), 2) for mean in means]

    best, dev = best_of_l2(grid, dev_accuracies, float)
    return best, dev, _predict_classes(test.x, *fit(np.arange(len(train.y)), best))


def _predict_classes(x: Tensor, weight: Tensor, bias: Tensor) -> np.ndarray:
    """The classes (N,) that logistic regression gives to vectors (N, D)."""
    return (x @ weight + bias).argmax(1).cpu().numpy()
