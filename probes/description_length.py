"""Description length of labels given vectors (online code): data efficiency, not only final accuracy."""

from itertools import pairwise
from math import log2
from typing import NamedTuple

import numpy as np
import torch

from probes.classifiers.blocks import on_all_cores
from probes.classifiers.classifier import MANY, Grid, Labelled, as_tensors, standardised
from probes.classifiers.grid import Data, Tensors
from probes.classifiers.optimum import ITERATIONS, covariance, cross_entropy, curvature, optimum

# In percent of the sentences: a classifier trained on the first portion codes the labels up to the next portion
# (Voita and Titov 2020, section 4).
PORTIONS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25, 50, 100)
STRONG = (0.1, 1.0, 10.0)  # L2 for the first portions, which have fewer sentences than features
FEW = 20  # iterations of L-BFGS with many classes; more take much time and do not shorten the code


class Description(NamedTuple):
    """The length of N labels in the online code."""

    bits: float
    uniform_bits: float  # N log2 C, the length of the uniform code
    portions: list[float]  # bits of each portion; the first has the uniform code

    @property
    def compression(self) -> float:
        """Uniform length / length; 1 if the vectors contain no information about the labels."""
        return self.uniform_bits / self.bits


def description_length(
    train: Labelled, dev: Labelled, classes: int, grid: Grid, seed: int, device: str = "cpu"
) -> Description:
    """Code each portion of the training labels with logistic regression trained on the portions before it.

    The L2 value, from the grid or from `STRONG`, is the one with the lowest cross-entropy on dev. The predicted
    distribution is mixed with the uniform one, with weight 1 / (n + 1) after n sentences, so that an unseen class has a
    finite code.
    """
    order = np.random.default_rng(seed).permutation(len(train.labels))
    rows = torch.from_numpy(order).to(device)
    every, tuning = standardised(as_tensors(train, device).batch(rows), as_tensors(dev, device))
    ends = sorted({max(1, round(len(order) * percent / 100)) for percent in PORTIONS})
    portions = [ends[0] * log2(classes)]
    for known, end in pairwise(ends):
        seen, coming = (Tensors(every.x[:known], every.y[:known]), Tensors(every.x[known:end], every.y[known:end]))
        portions.append(_bits(seen, coming, tuning, classes, grid, device))
    return Description(sum(portions), len(order) * log2(classes), portions)


def _bits(seen: Tensors, coming: Tensors, tuning: Data, classes: int, grid: Grid, device: str) -> float:
    """Bits of the labels in `coming`, coded by the classifier trained on `seen`."""

    iterations = FEW if classes >= MANY else ITERATIONS
    spread = covariance(seen.x)

    def fitted(l2: float) -> tuple[torch.Tensor, torch.Tensor]:
        return optimum(seen, classes, l2, curvature(spread, classes, l2), iterations=iterations)

    values = sorted({*grid.l2, *STRONG})
    weight, bias = min(on_all_cores(fitted, values, device), key=lambda found: cross_entropy(tuning, *found)[0])
    likely = torch.addmm(bias, coming.x, weight).softmax(1).gather(1, coming.y[:, None]).double()
    known = len(seen.y)
    return float(-((known * likely + 1 / classes) / (known + 1)).log2().sum())
