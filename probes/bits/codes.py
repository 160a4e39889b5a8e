"""Codes of labels given vectors (Voita and Titov 2020): how much data, or weight, a classifier needs for them."""

from collections.abc import Sequence
from itertools import pairwise
from math import exp, inf, log, log2, sqrt
from typing import NamedTuple

import numpy as np
import scipy  # which imports its parts at their first use
import torch
from torch import Tensor
from torch.distributions import Normal, kl_divergence
from torch.nn.functional import cross_entropy, pad

from probes.classifiers.blocks import map_on_cores
from probes.classifiers.cells import scores_of
from probes.classifiers.classifier import MANY_CLASSES, Grid, Labelled, as_tensors, coordinates_in_span, standardise
from probes.classifiers.examples import Data, Tensors
from probes.classifiers.modern import successive_halving
from probes.classifiers.optimum import MAX_ITERATIONS, Optima

# In percent of the sentences: a classifier trained on the first portion codes the labels up to the next portion
# (Voita and Titov 2020, section 4).
PORTIONS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25, 50, 100)
STRONG_L2 = (0.1, 1.0, 10.0)  # L2 for the first portions, which have fewer sentences than features
MANY_CLASSES_ITERATIONS = 20  # iterations of L-BFGS with many classes; more take much time and do not shorten the code
# nats: how far the loss of logistic regression may be above its minimum; 1e-2 makes the code of WC a tenth longer
CODE_TOLERANCE = 1e-3
MIN_LOG_SHARPNESS, MAX_LOG_SHARPNESS = -3.0, 3.0  # logarithms of what the scores of an MLP are multiplied by
WEIGHT_DRAWS = 16  # of the weights, for the mean length in the variational code; half with the sign of the others
BITS_PER_NAT = 1 / log(2)


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
    """The online code: each portion of the training labels by the classifier trained on the portions before it.

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
    x, basis = coordinates_in_span(seen.x)
    iterations = MANY_CLASSES_ITERATIONS if classes >= MANY_CLASSES else MAX_ITERATIONS
    optima = Optima(Tensors(x, seen.y), classes, CODE_TOLERANCE, iterations)
    lowest, best = inf, values[0]
    for l2 in values:
        map_on_cores(optima.add, [[l2]], device)
        weight, bias = optima.weights[l2]
        weight = weight if basis is None else basis @ weight
        loss = float(cross_entropy(torch.addmm(bias, tuning.x[:], weight), tuning.y))
        if loss >= lowest:
            break
        weights, lowest, best = (weight, bias), loss, l2
    values[:] = values[values.index(best) :]
    shorter = lowest < log(classes)  # than without: the bias alone, which has no penalty, may be worse
    return torch.addmm(weights[1], coming.x, weights[0]) if shorter else coming.x.new_zeros(len(coming.y), classes)


def _mlp_scores(
    seen: Tensors, coming: Tensors, tuning: Data, classes: int, grid: Grid, seed: int, device: str
) -> Tensor:
    """Scores (n, C) by the best MLP of the grid on dev, as sharp as has the lowest cross-entropy there."""
    best = successive_halving(seen, tuning, classes, grid, seed, device)
    dev, scores = scores_of(best.parameters, tuning.x), scores_of(best.parameters, coming.x)

    def loss(log: float) -> float:
        return float(cross_entropy(dev * exp(log), tuning.y))

    sharpness = scipy.optimize.minimize_scalar(loss, bounds=(MIN_LOG_SHARPNESS, MAX_LOG_SHARPNESS))
    return scores * exp(sharpness.x)


def variational_length(
    train: Labelled, classes: int, values: Sequence[float], seed: int, device: str = "cpu"
) -> CodeLength:
    """The variational code, of bits back (Hinton and van Camp 1993): the shortest one of N labels over L2 `values`.

    The weights of a linear classifier are a normal distribution q, each independent of the others, and cost KL(q, p)
    from the prior p, shared equally by all labels; the labels cost what weights drawn from q give them on average. Any
    q is a code. Ours is around the optimum of logistic regression, with the deviations that the curvature of the loss
    there gives each weight alone. The prior is the one for which that is the optimum: normal with mean 0 and variance
    1 / (N L2). To name the L2 value costs the logarithm of their number. Voita and Titov train q, and have a sparse
    prior (Louizos et al. 2017).
    """
    (data,) = standardise(as_tensors(train, device))
    optima = Optima(data, classes, CODE_TOLERANCE)
    map_on_cores(optima.add, [list(values)], device)
    x, random = pad(data.x[:], (0, 1), value=1.0), torch.Generator(device).manual_seed(seed)
    squares, codes = x.square(), list[CodeLength]()
    for l2 in values:
        weight, bias = optima.weights[l2]
        mean, prior = torch.cat([weight, bias[None]]), 1 / sqrt(len(x) * l2)
        probabilities = (x @ mean).softmax(1)
        deviation = (squares.t() @ (probabilities * (1 - probabilities)) + 1 / prior**2).rsqrt()
        nats = kl_divergence(Normal(mean, deviation), Normal(0.0, prior)).double().sum()
        costs = float(nats) * BITS_PER_NAT + log2(len(values))
        centre, width = x @ mean, (squares @ deviation.square()).sqrt()
        noise = (torch.randn(centre.shape, generator=random, device=device) for _ in range(WEIGHT_DRAWS // 2))
        scores = (centre + width * sample for half in noise for sample in (half, -half))
        draws = (cross_entropy(each, data.y, reduction="none") for each in scores)
        labels = sum(draws, torch.zeros(len(x), device=device)).double() * BITS_PER_NAT / WEIGHT_DRAWS
        label_bits = (labels + costs / len(x)).cpu().numpy()
        codes.append(CodeLength(label_bits, len(x) * log2(classes)))
    return min(codes, key=lambda code: code.bits)
