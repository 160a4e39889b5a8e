"""Logistic regression of `modern` next to scikit-learn's: a part of benchmarks/fair.py."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from benchmarks import encoding, probing
from benchmarks.peers import scikit_learn
from benchmarks.sides import Sides, Work
from benchmarks.steps import WIDTH
from datamodules.text.vocabulary import Vocabulary
from encoder_lab.compute.matmul import fast_exact_matmul
from encoders import FrozenEncoder
from encoders.bilstm import BiLSTM
from encoders.embedding import WordEmbedding
from probes.classifiers.classifier import Grid, Labelled, as_tensors, probe, standardised
from probes.classifiers.grid import Tensors
from probes.classifiers.optimum import GAP, Optima, Weights, cross_entropy

TASKS = [(2000, 512, 2), (20000, 512, 2), (5000, 2048, 2), (2000, 512, 6), (20000, 512, 20)]  # N, D, C
ENCODED = [(2000, 512, 2), (5000, 2048, 2), (5000, 512, 6)]  # the same, for vectors of an encoder
L2 = (1e-4, 1e-3, 1e-2, 1e-1)
TOLERANCES = (1e-4, 1e-5, 1e-6)  # of scikit-learn; the first is its default
NUMBERS = 1 << 24  # in the vectors of a round, times the classes, at least
EXACT = 1e-10  # nats above the optimum, by estimate, where the search ends that others are compared with


def encoded(shape: probing.Shape) -> list[Labelled]:
    """Vectors of an untrained BiLSTM-max; the class of a sentence is its length, in bins of similar size."""
    texts = encoding.different(shape.train + shape.dev + shape.test)
    matrix = np.random.default_rng(1).normal(size=(encoding.WORDS + 2, WIDTH)).astype(np.float32)
    words = Vocabulary(map(str, range(encoding.WORDS)))
    vectors = FrozenEncoder(BiLSTM(WIDTH, shape.dim, 1, None, 0.0), WordEmbedding(matrix), words).encode(texts)
    lengths = np.array([len(text.split()) for text in texts])
    labels = np.searchsorted(np.quantile(lengths, np.arange(1, shape.classes) / shape.classes), lengths)
    ends = np.cumsum([shape.train, shape.dev])
    return [Labelled(*part) for part in zip(np.split(vectors, ends), np.split(labels, ends), strict=True)]


def found_by_us(train: Tensors, classes: int, gap: float = GAP) -> list[Weights]:
    """Our optima, by ascending L2."""
    optima = Optima(train, classes, gap)
    optima.add(L2)
    return [optima.known[l2] for l2 in L2]


def above_optimum(train: Tensors, classes: int, *ways: Sequence[Weights]) -> list[float]:
    """How far each way's losses are above the lowest known, the largest of the L2 values, in nats of a sentence."""

    def losses(found: Sequence[Weights]) -> np.ndarray:
        penalties = (l2 / 2 * float(weight.square().sum()) for l2, (weight, _) in zip(L2, found, strict=True))
        return np.array([cross_entropy(train, *at)[0] for at in found]) + list(penalties)

    all_losses = [losses(found) for found in (found_by_us(train, classes, EXACT), *ways)]
    return [float((some - np.min(all_losses, 0)).max()) for some in all_losses[1:]]


def sides(train: int, dim: int, classes: int, of_encoder: bool) -> Sides:
    """`probe` against a search with scikit-learn over the same L2 values."""
    shape, times = probing.Shape(train, 1000, 1000, dim, classes), max(1, NUMBERS // (train * dim * classes))
    splits = encoded(shape) if of_encoder else probing.vectors(shape)
    ours = partial(probe, *splits, classes, Grid(widths=(0,), l2=L2), 1)
    theirs = [partial(scikit_learn, *splits, classes, L2, tolerance) for tolerance in TOLERANCES]
    with fast_exact_matmul():
        (seen,) = standardised(as_tensors(splits[0], "cpu"))
        weights = (found_by_us(seen, classes), *(way().weights for way in theirs))
        above, default, *others = above_optimum(seen, classes, *weights)
    assert max(above, default) < 0.01, f"{above} and {default} nats above the optimum: the losses are not the same"
    near = next((way for way, its in zip(theirs, (default, *others), strict=True) if its <= above), theirs[-1])
    said = f"{', BiLSTM' * of_encoder}{f', {times} times' * (times > 1)}"
    name = f"logistic regression, {train:,} x {dim:,}, {classes} classes{said}: scikit-learn"
    ours()  # the first call is slow; theirs were called above
    mine, default_way, near_way = (partial(repeat, way, times) for way in (ours, theirs[0], near))
    more = {"above_optimum": [above, default]}
    return Sides(name, mine, default_way, theirs_as_ours=near_way, more=more)


def repeat(work: Work, times: int) -> None:
    """Short work as often as it takes to measure it."""
    for _ in range(times):
        work()


def cases() -> list[partial[Sides]]:
    """How to prepare each comparison."""
    return [partial(sides, *task, False) for task in TASKS] + [partial(sides, *task, True) for task in ENCODED]
