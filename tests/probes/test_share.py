"""Processes that probe together get what one would get alone, each doing its share."""

import pickle
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from probes.classification import Classification, in_published_order
from probes.classifiers.classifier import Grid
from probes.coherence.models import Length
from probes.coherence.suite_file import Item, TestSuite
from probes.coherence.tasks import Coherence
from probes.results import ProbeRow
from probes.share import Share, score_together
from probes.surprisals import Pair, TokenLogprobs
from probes.task import single
from probes.vectors import Vectors


class Counts:
    """A model that counts the sentences it was given, and the texts that it scored."""

    def __init__(self) -> None:
        self.given: list[str] = []
        self.scored: list[str] = []

    def logprobs(self, pairs: Sequence[Pair]) -> list[TokenLogprobs]:
        self.scored += [text for _, text in pairs]
        return Length().logprobs(pairs)

    def encode(self, sentences: list[str]) -> np.ndarray:
        self.given += sentences
        return np.array([[len(s), s.count("a"), s.count("b")] for s in sentences], dtype=np.float32)


def tasks(count: int) -> list[Classification]:
    random = np.random.default_rng(1)
    texts = ["".join(random.choice(list("abc"), random.integers(1, 9))) for _ in range(90)]
    parts = [texts[:50], texts[50:70], texts[70:]]

    def task(number: int) -> Classification:
        splits = (single(p, np.array([("ab"[number % 2] in s) + 0 for s in p])) for p in parts)
        return Classification(f"T{number}", ["no", "yes"], *splits, grid=Grid(l2=(1e-3,)).logistic())

    return [task(i) for i in range(count)]


def surprising_tasks(count: int) -> list[Coherence]:
    """Suites that share a text."""
    formula = "(1;%a%) < (1;%b%)"

    def task(number: int) -> Coherence:
        items = tuple(Item(i, (("a" * i,), ("b" * (number + 3),))) for i in range(1, 7))
        return Coherence(TestSuite(f"S{number}", "sum", ("text",), ("a", "b"), (formula,), items))

    return [task(i) for i in range(count)]


def test_sentences_are_ordered_by_their_tokens_then_by_their_label() -> None:
    found = in_published_order(single(["b c", "a", "d e", "f"], np.array([1, 1, 0, 0])))
    assert (found.sentences, found.gold.tolist()) == (["f", "a", "d e", "b c"], [0, 1, 0, 1])


def test_the_order_of_a_file_is_nothing_to_the_published_protocol() -> None:
    texts = ["a " * length for length in range(1, 41)]  # no two of one length
    split = single(texts, np.arange(40) % 2)
    turned = single(texts[::-1], split.gold[::-1])
    grid = Grid(widths=(3,), dropouts=(0.0,), l2=(1e-3,), protocol="senteval", max_passes=4)
    found = []
    for train in (split, turned):
        task = Classification("T", ["no", "yes"], train, split, split, grid=grid, sorted_by_length=True)
        vectors = Vectors(Counts().encode(texts), texts)
        found.append(task.score(vectors, "cpu").correct)
    np.testing.assert_array_equal(*found)


def what_was_found(row: ProbeRow) -> tuple[str, float, str, list[bool]]:
    assert row.answers is not None
    return row.task, row.test_accuracy, row.answers.test, row.answers.right.tolist()


@pytest.mark.parametrize("world", [2, 3])
def test_rows_are_those_of_one_process_and_no_sentence_is_encoded_twice(world: int) -> None:
    made, alone = [*tasks(3), *surprising_tasks(2), *tasks(2)], Counts()
    expected = score_together(made, alone, 1, 2, 1, "cpu", logprobs=alone.logprobs)
    barrier, board, models = Barrier(world), [b""] * world, [Counts() for _ in range(world)]

    def gather(rank: int, part: Any) -> list[Any]:
        board[rank] = pickle.dumps(part)  # as all_gather_object sends it
        barrier.wait()
        found = [pickle.loads(sent) for sent in board]
        barrier.wait()
        return found

    def process(rank: int) -> list:
        share = Share(rank, world, lambda part: gather(rank, part))
        return score_together(made, models[rank], 1, 2, 1, "cpu", share, models[rank].logprobs)

    with ThreadPoolExecutor(world) as pool:
        for rows in pool.map(process, range(world)):
            assert [what_was_found(row) for row in rows] == [what_was_found(row) for row in expected]
    assert sorted(s for model in models for s in model.given) == sorted(alone.given)
    assert sorted(s for model in models for s in model.scored) == sorted(alone.scored)
    assert len(set(alone.scored)) == len(alone.scored)
