"""The probing classifier: a grid of small networks on frozen vectors, the best on dev scored on test.

`senteval` is the published protocol (SentEval; Conneau et al. 2018, appendix), `modern` the default for curves.
docs/probing_protocol.md lists the differences.
"""

import time

import numpy as np
import torch

from probes.classifiers.cells import predict
from probes.classifiers.grid import Grid, Labelled, Score, Tensors
from probes.classifiers.modern import raced
from probes.classifiers.optimum import optimal
from probes.classifiers.senteval import published

MANY = 100  # classes from which logistic regression is a race: its optimum takes many minutes at the published size

__all__ = ["Grid", "Labelled", "Score", "as_tensors", "probe", "standardised"]


def probe(
    train: Labelled, dev: Labelled, test: Labelled, classes: int, grid: Grid, seed: int, device: str = "cpu"
) -> Score:
    """Train the grid on `train`, choose a cell on `dev`, score it on `test`.

    Depends on the data and the seed alone, and leaves the global random state as it was.
    """
    started = time.monotonic()
    train_set, dev_set, test_set = (as_tensors(part, device) for part in (train, dev, test))
    if grid.protocol == "modern":
        train_set, dev_set, test_set = standardised(train_set, dev_set, test_set)
    if grid.protocol == "senteval":
        best = published(train_set, dev_set, classes, grid, seed, device)
    elif grid.is_logistic and classes < MANY:
        best = optimal(train_set, dev_set, classes, grid, device)
    else:
        best = raced(train_set, dev_set, classes, grid, seed, device)
    correct = (predict(best.parameters, test_set.x) == test_set.y).cpu().numpy()
    accuracy = round(100 * float(correct.mean()), 2)
    return Score(best.dev_accuracy, accuracy, correct, best.hyperparameters(), time.monotonic() - started)


def standardised(train: Tensors, *others: Tensors) -> list[Tensors]:
    """Every feature with mean 0 and deviation 1 over the training sentences; a constant one becomes 0."""
    deviation, mean = torch.std_mean(train.x, 0, correction=0)
    scale = torch.where(deviation > 1e-6 * mean.abs().clamp_min(1e-6), 1 / deviation, 0.0)
    return [Tensors((part.x - mean).mul_(scale), part.y) for part in (train, *others)]


def as_tensors(part: Labelled, device: str) -> Tensors:
    """The same on a device, without a copy where none is needed."""
    vectors = np.ascontiguousarray(part.vectors, dtype=np.float32)
    return Tensors(torch.as_tensor(vectors, device=device), torch.as_tensor(part.labels, device=device))
