"""Logistic regression of `modern` next to scikit-learn's: a part of benchmarks/fair.py."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks import encoding, probing
from benchmarks.peers import scikit_learn
from benchmarks.sides import Sides, Work
from benchmarks.steps import WIDTH
from encoder_lab.compute.matmul import fast_exact_matmul
from encoders.bilstm import BiLSTM
from probes.classifiers.classifier import Grid, Labelled, as_tensors, probe, standardise
from probes.classifiers.examples import Tensors
from probes.classifiers.optimum import LOSS_TOLERANCE, Optima, Weights, cross_entropy

TASKS = [(2000, 512, 2), (20000, 512, 2), (5000, 2048, 2), (2000, 512, 6), (20000, 512, 20)]  # N, D, C
ENCODED = [(2000, 512, 2), (5000, 2048, 2), (5000, 512, 6)]  # the same, for vectors of an encoder
L2 = (1e-4, 1e-3, 1e-2, 1e-1)
TOLERANCES = (1e-4, 1e-5, 1e-6)  # of scikit-learn; the first is its default
MIN_NUMBERS = 1 << 24  # in the vectors of a round, times the classes, at least
EXACT_GAP = 1e-10  # nats above the optimum, by estimate, where the search ends that others are compared with


def encoded_vectors(shape: probing.Shape) -> tuple[Labelled, Labelled, Labelled]:
    """Vectors of an untrained BiLSTM-max; the class of a sentence is its length, in bins of similar size."""
    texts = encoding.distinct_sentences(shape.train + shape.dev + shape.test)
    vectors = encoding.frozen_encoder(BiLSTM(WIDTH, shape.dim, 1, None, 0.0)).encode(texts)
    lengths = np.array([len(text.split()) for text in texts])
    labels = np.searchsorted(np.quantile(lengths, np.arange(1, shape.classes) / shape.classes), lengths)
    ends = np.cumsum([shape.train, shape.dev])
    train, dev, test = (Labelled(*part) for part in zip(np.split(vectors, ends), np.split(labels, ends), strict=True))
    return train, dev, test


def our_optima(train: Tensors, classes: int, gap: float = LOSS_TOLERANCE) -> list[Weights]:
    """Our optima, by ascending L2."""
    optima = Optima(train, classes, gap)
    optima.add(L2)
    return [optima.weights[l2] for l2 in L2]


def nats_above_optimum(train: Tensors, classes: int, *solutions: Sequence[Weights]) -> list[float]:
    """How far the losses of each solution are above the lowest known, the largest of the L2 values, in nats of a
    sentence.
    """

    def losses(solution: Sequence[Weights]) -> np.ndarray:
        penalties = [l2 / 2 * float(weight.square().sum()) for l2, (weight, _) in zip(L2, solution, strict=True)]
        return np.array([cross_entropy(train, *weights)[0] for weights in solution]) + penalties

    all_losses = [losses(solution) for solution in (our_optima(train, classes, EXACT_GAP), *solutions)]
    return [float((own - np.min(all_losses, 0)).max()) for own in all_losses[1:]]


def sides(train: int, dim: int, classes: int, with_encoder: bool) -> Sides:
    """`probe` against a search with scikit-learn over the same L2 values."""
    shape, times = probing.Shape(train, 1000, 1000, dim, classes), max(1, MIN_NUMBERS // (train * dim * classes))
    splits = encoded_vectors(shape) if with_encoder else probing.make_vectors(shape)
    ours = partial(probe, *splits, classes, Grid(widths=(0,), l2=L2), 1)
    theirs = [partial(scikit_learn, *splits, classes, L2, tolerance) for tolerance in TOLERANCES]
    with fast_exact_matmul():
        standard: Any = standardise(as_tensors(splits[0], "cpu"))[0]
        weights = (our_optima(standard, classes), *(search().weights for search in theirs))
        above, default, *others = nats_above_optimum(standard, classes, *weights)
    assert max(above, default) < 0.01, f"{above} and {default} nats above the optimum: the losses are not the same"
    near = next((search for search, its in zip(theirs, (default, *others), strict=True) if its <= above), theirs[-1])
    variant = f"{', BiLSTM' * with_encoder}{f', {times} times' * (times > 1)}"
    name = f"logistic regression, {train:,} x {dim:,}, {classes} classes{variant}: scikit-learn"
    ours()  # the first call is slow; theirs were called above
    our_work, default_work, near_work = (partial(repeat, work, times) for work in (ours, theirs[0], near))
    return Sides(name, our_work, default_work, theirs_as_ours=near_work, more={"above_optimum": [above, default]})


def repeat(work: Work, times: int) -> None:
    """Short work as often as it takes to measure it."""
    for _ in range(times):
        work()


def cases() -> list[partial[Sides]]:
    """How to prepare each comparison."""
    return [partial(sides, *task, False) for task in TASKS] + [partial(sides, *task, True) for task in ENCODED]
