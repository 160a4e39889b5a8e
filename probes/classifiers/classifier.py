"""The probing classifier: a grid of small networks on frozen vectors, the best on dev scored on test.

`senteval` is the published protocol (SentEval; Conneau et al. 2018, appendix), `modern` the default for curves.
docs/probing_protocol.md lists the differences.
"""

from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from encoder_lab.compute.matmul import multiplies_in_bfloat16
from probes.classifiers.blocks import map_on_cores
from probes.classifiers.cells import predict_classes
from probes.classifiers.examples import Data, Examples, Fitted, Labelled, Score, complexity
from probes.classifiers.grid import FRONT, FrontPoint, Grid, best_of_l2, pareto_front
from probes.classifiers.modern import MAX_WHITENED_FEATURES, successive_halving
from probes.classifiers.optimum import Optima
from probes.classifiers.senteval import best_senteval_cell
from probes.vectors import Features, StreamedFeatures

CHUNK_ROWS = 1024  # sentences at a time
MIN_DEVIATION = 1e-30  # deviation of a feature that varies
MANY_CLASSES = 100  # from this many classes on, logistic regression uses successive halving: its optimum takes too long

X = TypeVar("X", Tensor, Features)

__all__ = ["Grid", "Labelled", "Score", "as_tensors", "probe", "standardise"]


def probe(
    train: Labelled,
    dev: Labelled,
    test: Labelled,
    classes: int,
    grid: Grid,
    seed: int,
    device: str = "cpu",
    bfloat16: bool = False,
) -> Score:
    """Train the grid on `train`, choose a cell on `dev`, score it on `test`.

    `bfloat16`: the successive halving of `modern` multiplies in bfloat16 where the device has it; all else is float32.
    The result depends only on the data, the seed and that. The global random state is not changed.
    """
    train_set, dev_set, test_set = (as_tensors(part, device) for part in (train, dev, test))
    if grid.protocol == "modern":
        train_set, dev_set, test_set = standardise(train_set, dev_set, test_set)
    if grid.protocol == "senteval":
        best = best_senteval_cell(train_set, dev_set, classes, grid, seed, device)
    elif grid.is_logistic and classes < MANY_CLASSES and train_set.x.shape[1] <= MAX_WHITENED_FEATURES:
        best = best_logistic_cell(train_set, dev_set, classes, grid, device)
    else:
        use_bfloat16 = bfloat16 and multiplies_in_bfloat16(torch.device(device))
        best = successive_halving(train_set, dev_set, classes, grid, seed, device, use_bfloat16)
    predicted = predict_classes(best.parameters, test_set.x).cpu().numpy()
    correct = predicted == test.labels
    accuracy = round(100 * float(correct.mean()), 2)
    majority = float((dev.labels == np.bincount(train.labels).argmax()).mean())  # no weights
    front = pareto_front([(0, 100 * majority), *best.points])
    chosen = {"width": best.width, "dropout": best.dropout, "l2": best.l2, FRONT: front}
    return Score(best.dev_accuracy, accuracy, correct, chosen, predicted)


def best_logistic_cell(train: Data, dev: Data, classes: int, grid: Grid, device: str) -> Fitted:
    """The classifier with the best dev accuracy over the L2 values (`best_of_l2`)."""
    x, basis = coordinates_in_span(train.x)
    optima = Optima(Examples(x, train.y), classes)
    points: list[FrontPoint] = []

    def fitted_cell(l2: float, weight: Tensor, bias: Tensor) -> Fitted:
        parameters = [(weight if basis is None else basis @ weight).t(), bias[:, None]]
        correct = int((predict_classes(parameters, dev.x) == dev.y).sum())
        cell = Fitted(0, 0.0, l2, round(100 * correct / len(dev.y), 2), parameters)
        points.append((complexity(parameters), cell.dev_accuracy))
        return cell

    def fit_all(values: list[float]) -> list[Fitted]:
        map_on_cores(optima.add, [values], device)
        return [fitted_cell(l2, *optima.weights[l2]) for l2 in values]

    return best_of_l2(grid, fit_all, lambda cell: cell.dev_accuracy)[1]._replace(points=points)


def coordinates_in_span(x: X) -> tuple[X | Tensor, Tensor | None]:
    """Vectors (N, D), and None; where N < D their coordinates (N, N) in a basis (D, N) of their span, and the basis."""
    if len(x) >= x.shape[1]:
        return x, None
    basis, factor = torch.linalg.qr(x[:].t())
    return factor.t().contiguous(), basis


def standardise(*parts: Examples[X]) -> list[Examples[X]]:
    """Every feature with mean 0 and deviation 1 over the first part, the training sentences; a constant one is 0."""
    deviation, mean = deviation_and_mean(parts[0].x)
    scale = torch.where(deviation > (1e-6 * mean.abs()).clamp_min(MIN_DEVIATION), 1 / deviation, 0.0)
    return [Examples(_shift_and_scale(part.x, mean, scale), part.y) for part in parts]


def _shift_and_scale(x: X, mean: Tensor, scale: Tensor) -> X:
    return (x - mean).mul_(scale) if isinstance(x, Tensor) else x.standardise(mean, scale)


def deviation_and_mean(x: Features) -> tuple[Tensor, Tensor]:
    """The deviation and mean (D,) of each column; faster than `torch.std_mean`, which steps through each column."""
    if isinstance(x, StreamedFeatures):
        return x.deviation_and_mean()
    mean = x.mean(0)
    largest = torch.stack(x.aminmax()).abs().max().clamp_min(MIN_DEVIATION)
    unit = largest.log2().round().exp2()  # exact; squares of large numbers are finite
    squares = sum(((part - mean).div_(unit).square_().sum(0) for part in x.split(CHUNK_ROWS)), torch.zeros_like(mean))
    return (squares / len(x)).sqrt().mul_(unit), mean


def as_tensors(part: Labelled, device: str) -> Data:
    """The same on a device, without a copy where none is needed; features that are formed in portions stay so."""
    x = part.vectors
    if isinstance(x, np.ndarray):
        x = torch.from_numpy(np.ascontiguousarray(x, dtype=np.float32))
    return Examples(x.to(device) if isinstance(x, Tensor) else x, torch.as_tensor(part.labels, device=device))
