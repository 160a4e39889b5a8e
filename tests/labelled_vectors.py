"""Small labelled vectors, for the tests of classifiers."""

import numpy as np

from probes.classifiers.classifier import Labelled, as_tensors, standardise
from probes.classifiers.examples import Tensors


def random_labels(sentences: int, seed: int, classes: int) -> Labelled:
    random = np.random.default_rng(seed)
    return Labelled(random.normal(size=(sentences, 6)).astype(np.float32), random.integers(0, classes, sentences))


def separable(sentences: int, seed: int, classes: int) -> Labelled:
    vectors, labels = random_labels(sentences, seed, classes)
    return Labelled(vectors / 10 + 3 * np.eye(6, dtype=np.float32)[labels], labels)


def three(make, *sizes: int, classes: int) -> tuple[Labelled, Labelled, Labelled]:
    return tuple(make(size, seed, classes) for seed, size in enumerate(sizes))


def features_that_go_together(classes: int) -> tuple[Tensors, Tensors]:
    """Train and dev of 40 features, mixed of as many that matter alike but are smaller and smaller."""
    mixed, direct = (np.random.default_rng(seed).normal(size=(40, size)) for seed, size in ((2, 40), (3, classes)))
    random = np.random.default_rng(1)
    parts = []
    for size in (4000, 1000):
        hidden = random.normal(size=(size, 40))
        labels = (0.5 * hidden @ direct + random.gumbel(size=(size, classes))).argmax(1)
        parts.append(Labelled((hidden / np.arange(1, 41) @ mixed).astype(np.float32), labels))
    return tuple(standardise(*(as_tensors(part, "cpu") for part in parts)))
