"""The online code of labels given vectors: how much data a classifier needs, not only how right it is in the end."""

from itertools import pairwise
from math import exp, log, log2
from typing import NamedTuple

import numpy as np
import scipy  # which imports its parts at their first use
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy as nats

from probes.classifiers.blocks import map_on_cores
from probes.classifiers.cells import scores_of
from probes.classifiers.classifier import MANY_CLASSES, Grid, Labelled, as_tensors, standardise
from probes.classifiers.examples import Data, Tensors
from probes.classifiers.modern import successive_halving
from probes.classifiers.optimum import MAX_ITERATIONS, Optima

# In percent of the sentences: a classifier trained on the first portion codes the labels up to the next portion
# (Voita and Titov 2020, section 4).
PORTIONS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25, 50, 100)
STRONG_L2 = (0.1, 1.0, 10.0)  # L2 for the first portions, which have fewer sentences than features
MANY_CLASSES_ITERATIONS = 20  # iterations of L-BFGS with many classes; more take much time and do not shorten the code
CODE_TOLERANCE = 1e-3  # nats: how far the loss of logistic regression may be above its minimum; a code needs no more
MIN_LOG_SHARPNESS, MAX_LOG_SHARPNESS = -3.0, 3.0  # logarithms of what the scores of an MLP are multiplied by


class CodeLength(NamedTuple):
    """The length of N labels in a code."""

    label_bits: np.ndarray  # (N,) bits of each label
    uniform_bits: float  # N log2 C, the length of the uniform code

    @property
    def bits(self) -> float:
        return float(self.label_bits.sum())


def description_length(
    train: Labelled, dev: Labelled, classes: int, grid: Grid, seed: int, device: str = "cpu"
) -> CodeLength:
    """Code each portion of the training labels with the classifier trained on the portions before it.

    The classifier is the grid's: logistic regression, or an MLP. `seed` orders the sentences. The predicted
    distribution is mixed with the uniform one, with weight 1 / (n + 1) after n sentences, so that an unseen class has a
    finite code.
    """
    order = np.random.default_rng(seed).permutation(len(train.labels))
    rows = torch.from_numpy(order).to(device)
    data, tuning = standardise(as_tensors(train, device).batch(rows), as_tensors(dev, device))
    ends = sorted({max(1, round(len(order) * percent / 100)) for percent in PORTIONS})
    parts, values = [np.full(ends[0], log2(classes))], sorted({*grid.l2, *STRONG_L2}, reverse=True)
    for start, end in pairwise(ends):
        seen, coming = (Tensors(data.x[:start], data.y[:start]), Tensors(data.x[start:end], data.y[start:end]))
        if grid.is_logistic:
            scores = _linear_scores(seen, coming, tuning, classes, values, device)
        else:
            scores = _mlp_scores(seen, coming, tuning, classes, grid, seed, device)
        probabilities = scores.softmax(1).gather(1, coming.y[:, None])[:, 0].double()
        parts.append(-((start * probabilities + 1 / classes) / (start + 1)).log2().cpu().numpy())
    return CodeLength(np.concatenate(parts), len(order) * log2(classes))


def _linear_scores(
    seen: Tensors, coming: Tensors, tuning: Data, classes: int, values: list[float], device: str
) -> Tensor:
    """Scores (n, C) by logistic regression; without any of it, where that has a lower cross-entropy on dev.

    The L2 `values`, the strongest first, are tried while they lower the cross-entropy. Those before the best are taken
    out of the list: more sentences need no stronger one.
    """
    basis = torch.linalg.qr(seen.x.t())[0] if len(seen.y) < seen.x.shape[1] else None  # of the vectors' space
    iterations = MANY_CLASSES_ITERATIONS if classes >= MANY_CLASSES else MAX_ITERATIONS
    optima = Optima(seen if basis is None else Tensors(seen.x @ basis, seen.y), classes, CODE_TOLERANCE, iterations)
    weights = torch.zeros(seen.x.shape[1], classes, device=device), torch.zeros(classes, device=device)
    lowest, best = log(classes), values[0]
    for l2 in values:
        map_on_cores(optima.add, [[l2]], device)
        weight, bias = optima.weights[l2]
        weight = weight if basis is None else basis @ weight
        loss = float(nats(torch.addmm(bias, tuning.x[:], weight), tuning.y))
        if loss >= lowest:
            break
        weights, lowest, best = (weight, bias), loss, l2
    values[:] = values[values.index(best) :]
    return torch.addmm(weights[1], coming.x, weights[0])


def _mlp_scores(
    seen: Tensors, coming: Tensors, tuning: Data, classes: int, grid: Grid, seed: int, device: str
) -> Tensor:
    """Scores (n, C) by the best MLP of the grid on dev, as sharp as has the lowest cross-entropy there."""
    best = successive_halving(seen, tuning, classes, grid, seed, device)
    dev, scores = scores_of(best.parameters, tuning.x), scores_of(best.parameters, coming.x)

    def loss(log: float) -> float:
        return float(nats(dev * exp(log), tuning.y))

    sharpness = scipy.optimize.minimize_scalar(loss, bounds=(MIN_LOG_SHARPNESS, MAX_LOG_SHARPNESS))
    return scores * exp(sharpness.x)
