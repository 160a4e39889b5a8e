"""The memory of a task has a bound, and no bound changes a score."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.machine import grown_memory
from probes import vectors
from probes.classification import Classification
from probes.classifiers import blocks
from probes.classifiers.classifier import Grid, Labelled, probe
from probes.discoeval.features import ALL_SIX
from probes.task import Items
from probes.vectors import Vectors
from tests.commands import FORKS
from tests.probes.classifiers.test_senteval import labelled

SMALL = Grid(widths=(8, 16), dropouts=(0.0, 0.1), l2=(1e-3, 1e-2))
ITEMS, DIM = 8000, 1024
WHOLE = 4 * ITEMS * 6 * DIM >> 20  # megabytes of DC's features


@pytest.mark.parametrize("protocol", ["modern", "senteval"])
@pytest.mark.parametrize("logistic", [False, True])
def test_a_grid_in_little_memory_has_the_scores_of_the_whole_grid(
    protocol: Any, logistic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = replace(SMALL.logistic() if logistic else SMALL, protocol=protocol)
    spread = np.random.default_rng(0).normal(size=(8, 2000)).astype(np.float32)
    parts = [Labelled(part.vectors @ spread, part.labels) for part in (labelled(150, seed) for seed in (1, 2, 3))]
    monkeypatch.setattr("probes.classifiers.modern.WIDE", 1000)
    monkeypatch.setattr("probes.classifiers.classifier.WIDE", 1000)
    whole = probe(*parts, 3, grid, seed=7)
    monkeypatch.setattr(blocks, "BLOCK_MB", 0)  # each cell is too large for the cache
    little = probe(*parts, 3, replace(grid, memory_mb=1), seed=7)  # of which three cells of 8 units need 2 MB
    assert little.hyperparameters == whole.hyperparameters
    one = 100 / 150  # item: products of other sizes round otherwise
    assert little.dev_accuracy == pytest.approx(whole.dev_accuracy, abs=one + 0.01)
    assert little.test_accuracy == pytest.approx(whole.test_accuracy, abs=one + 0.01)


def grown(protocol: Any) -> float:
    """Megabytes while a task is scored that has six times the vectors' dimensions as features.

    A small task is scored first, so that libraries loaded on first use are not counted.
    """
    vectors.PORTION = 4 << 20
    scored(protocol, 100)
    with grown_memory() as memory:
        scored(protocol, ITEMS)
    return memory["memory_mb"]


def scored(protocol: Any, items: int) -> None:
    random = np.random.default_rng(0)
    names = [str(row) for row in range(500)]
    known = Vectors(random.normal(size=(500, DIM)).astype(np.float32), names)
    parts = [
        Items(tuple(list(random.choice(names, size)) for _ in range(6)), random.integers(0, 2, size))
        for size in (items, 500, 500)
    ]
    short = {"max_passes": 0, "block": 1} if protocol == "senteval" else {}
    grid = Grid(widths=(4,), dropouts=(0.0,), l2=(1e-3, 1e-2), protocol=protocol, memory_mb=32, **short)
    Classification("DC", ["0", "1"], *parts, suite="discoeval", grid=grid, features=ALL_SIX).score(known, "cpu")


@pytest.mark.parametrize("protocol", ["modern", "senteval"])
def test_features_are_never_whole_in_memory(protocol: str) -> None:
    with ProcessPoolExecutor(1, FORKS) as alone:
        memory = alone.submit(grown, protocol).result()
    assert memory < 0.8 * WHOLE  # most of it is a batch of 512, in the making, on each core
