"""The memory of a task has a bound, and no bound changes a score but by rounding."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.machine import measure_cost
from probes import vectors
from probes.classification import Classification
from probes.classifiers import blocks
from probes.classifiers.classifier import Grid, Labelled, probe
from probes.discoeval.features import concatenation
from probes.task import Items
from probes.vectors import Vectors
from tests.commands import FORKS
from tests.probes.classifiers.test_senteval import labelled

SMALL = Grid(widths=(8, 16), dropouts=(0.0, 0.1), l2=(1e-3, 1e-2))
ITEMS, DIM = 5000, 1024
WHOLE = 4 * ITEMS * 6 * DIM >> 20  # megabytes of DC's features


@pytest.fixture
def with_64_bits() -> Iterator[None]:
    """Weights of new layers in 64 bits: in 32 the rounding of hundreds of steps may change an answer."""
    torch.set_default_dtype(torch.double)
    yield
    torch.set_default_dtype(torch.float)


@pytest.mark.usefixtures("with_64_bits")
@pytest.mark.parametrize("protocol", ["modern", "senteval"])
@pytest.mark.parametrize("logistic", [False, True])
def test_a_grid_in_little_memory_has_the_scores_of_the_whole_grid(protocol, logistic, monkeypatch) -> None:
    grid = replace(SMALL.logistic() if logistic else SMALL, protocol=protocol)
    spread = np.random.default_rng(0).normal(size=(8, 2000)).astype(np.float32)
    made = [labelled(150, seed) for seed in (1, 2, 3)]
    parts = [Labelled(torch.from_numpy(part.vectors @ spread).double(), part.labels) for part in made]
    monkeypatch.setattr("probes.classifiers.modern.MAX_WHITENED_FEATURES", 1000)
    monkeypatch.setattr("probes.classifiers.classifier.MAX_WHITENED_FEATURES", 1000)
    whole = probe(*parts, 3, grid, seed=7)
    monkeypatch.setattr(blocks, "BLOCK_MB", 0)  # each cell is too large for the cache
    little = probe(*parts, 3, replace(grid, memory_mb=1), seed=7)  # of which three cells of 8 units need 2 MB
    assert little.hyperparameters == whole.hyperparameters
    assert (little.dev_accuracy, little.test_accuracy) == (whole.dev_accuracy, whole.test_accuracy)


def grown(protocol: Any) -> float:
    """Megabytes while a task is scored that has six times the vectors' dimensions as features.

    A small task is scored first, so that libraries loaded on first use are not counted.
    """
    vectors.PORTION_BYTES = 2 << 20
    scored(protocol, 100)
    with measure_cost() as memory:
        scored(protocol, ITEMS)
    return memory["memory_mb"]


def scored(protocol: Any, items: int) -> None:
    random = np.random.default_rng(0)
    names = [str(row) for row in range(500)]
    table = Vectors(random.normal(size=(500, DIM)).astype(np.float32), names)
    parts = [
        Items(tuple(list(random.choice(names, size)) for _ in range(6)), random.integers(0, 2, size))
        for size in (items, 500, 500)
    ]
    short = {"max_passes": 1, "block": 1} if protocol == "senteval" else {}
    grid = Grid(widths=(4,), dropouts=(0.0,), l2=(1e-3, 1e-2), protocol=protocol, memory_mb=32, **short)
    Classification("DC", ["0", "1"], *parts, suite="discoeval", grid=grid, features=concatenation).score(table, "cpu")


@pytest.mark.parametrize("protocol", ["modern", "senteval"])
def test_features_are_never_whole_in_memory(protocol) -> None:
    with ProcessPoolExecutor(1, FORKS) as alone:
        memory = alone.submit(grown, protocol).result()
    assert memory < 0.8 * WHOLE  # most of it is a batch of 512, in the making, on each core
