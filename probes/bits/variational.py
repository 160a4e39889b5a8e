"""The variational code of labels given vectors: bits back (Hinton and van Camp 1993; Voita and Titov 2020).

The weights of a linear classifier are a normal distribution q, each independent of the others, and cost KL(q, p) from
the prior p; the labels cost what weights drawn from q give them on average. Any q is a code. Ours is around the
optimum of logistic regression, with the deviations that the curvature of the loss there gives each weight alone. The
prior is the one for which that is the optimum: normal with mean 0 and variance 1 / (N L2). To name the L2 value costs
the logarithm of their number. Voita and Titov train q, and have a sparse prior (Louizos et al. 2017).
"""

from collections.abc import Sequence
from math import log, log2, sqrt

import torch
from torch.distributions import Normal, kl_divergence
from torch.nn import functional

from probes.bits.online import CODE_TOLERANCE, CodeLength
from probes.classifiers.blocks import map_on_cores
from probes.classifiers.classifier import Labelled, as_tensors, standardise
from probes.classifiers.optimum import Optima

WEIGHT_DRAWS = 16  # of the weights, for the mean length of the labels
BITS_PER_NAT = 1 / log(2)


def variational_length(
    train: Labelled, classes: int, values: Sequence[float], seed: int, device: str = "cpu"
) -> CodeLength:
    """The shortest code of N labels over L2 `values`; the cost of the weights is shared equally by all labels."""
    (data,) = standardise(as_tensors(train, device))
    optima = Optima(data, classes, CODE_TOLERANCE)
    map_on_cores(optima.add, [list(values)], device)
    x, random = functional.pad(data.x[:], (0, 1), value=1.0), torch.Generator(device).manual_seed(seed)
    squares, codes = x.square(), list[CodeLength]()
    for l2 in values:
        weight, bias = optima.weights[l2]
        mean, prior = torch.cat([weight, bias[None]]), 1 / sqrt(len(x) * l2)
        probabilities = (x @ mean).softmax(1)
        deviation = (squares.t() @ (probabilities * (1 - probabilities)) + 1 / prior**2).rsqrt()
        nats = kl_divergence(Normal(mean, deviation), Normal(0.0, prior)).double().sum()
        costs = float(nats) * BITS_PER_NAT + log2(len(values))
        centre, width = x @ mean, (squares @ deviation.square()).sqrt()
        noise = (torch.randn(centre.shape, generator=random, device=device) for _ in range(WEIGHT_DRAWS))
        draws = (functional.cross_entropy(centre + width * sample, data.y, reduction="none") for sample in noise)
        labels = sum(draws, torch.zeros(len(x), device=device)).double() * BITS_PER_NAT / WEIGHT_DRAWS
        label_bits = (labels + costs / len(x)).cpu().numpy()
        codes.append(CodeLength(label_bits, len(x) * log2(classes)))
    return min(codes, key=lambda code: code.bits)
