"""Features that are sums of vectors, which a linear classifier reads without forming them."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from probes.classifiers.classifier import Grid, Labelled, as_tensors
from probes.classifiers.senteval import train_all
from probes.combinations import Sums, vectors_of_sums
from probes.discoeval.features import ALL_SIX, FIRST_AND_DIFFERENCES, PAIR_AND_DIFFERENCE
from probes.task import Items
from probes.vectors import Streamed, Vectors, alone

NAMES = [str(row) for row in range(30)]
RANDOM = np.random.default_rng(0)
TABLE = Vectors(RANDOM.normal(size=(30, 4)).astype(np.float32), NAMES)
GROUPS = {"SP": FIRST_AND_DIFFERENCES, "BSO": PAIR_AND_DIFFERENCE, "DC": ALL_SIX}


def items(texts: int, size: int) -> Items:
    return Items(tuple(list(RANDOM.choice(NAMES, size)) for _ in range(texts)), RANDOM.integers(0, 3, size))


@pytest.mark.parametrize("name", GROUPS)
def test_classifiers_that_read_vectors_equal_those_that_read_the_sums(name: str) -> None:
    make = GROUPS[name]
    grid = Grid(widths=(6 if name == "DC" else 0,), dropouts=(0.0,), l2=(1e-3, 1e-1), protocol="senteval", max_passes=8)
    parts = [items(len(make.sums[0]), size) for size in (200, 90)]

    def trained(max_bytes: int) -> list[tuple]:
        features = [Labelled(TABLE.features(part, make, max_bytes=max_bytes), part.gold) for part in parts]
        data = [as_tensors(part, "cpu") for part in features]
        return sorted(train_all(data[0], data[1], 3, replace(grid), 1, "cpu").known.items())

    for (cell, formed), (same, read) in zip(trained(max_bytes=1 << 20), trained(max_bytes=0), strict=True):
        assert cell == same
        assert formed.dev_accuracy == read.dev_accuracy
        for weight, other in zip(formed.parameters, read.parameters, strict=True):
            assert torch.allclose(weight, other, atol=1e-5)


def test_only_plain_sums_of_one_vector_each_are_read_as_vectors() -> None:
    pairs = items(2, 5)
    lists = Items(tuple([[text, "0"] for text in column] for column in pairs.texts), pairs.gold)
    sums = TABLE.features(pairs, PAIR_AND_DIFFERENCE, max_bytes=0)
    others = [
        TABLE.features(lists, PAIR_AND_DIFFERENCE, max_bytes=0),
        TABLE.features(pairs, alone, max_bytes=0),
        TABLE.features(pairs, PAIR_AND_DIFFERENCE),
        sums.standardised_by(torch.zeros(12), torch.ones(12)) if isinstance(sums, Streamed) else None,
    ]
    assert vectors_of_sums(sums)
    assert not any(map(vectors_of_sums, others))


def test_a_sum_is_the_vectors_times_their_factors() -> None:
    made = Sums(((2, -1), (0, 1)))([torch.tensor([[1.0, 10.0]]), torch.tensor([[3.0, 4.0]])])
    assert made.tolist() == [[-1.0, 16.0, 3.0, 4.0]]
