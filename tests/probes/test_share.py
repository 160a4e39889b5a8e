"""Processes or small tasks that are scored together get what each would get alone."""

import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from encoder_lab.model import Model
from probes import evaluation
from probes.classification import Classification, in_published_order
from probes.classifiers.classifier import Grid
from probes.coherence.ngram import length_logprobs
from probes.coherence.suite_file import Item, TestSuite
from probes.coherence.tasks import Coherence
from probes.evaluation import Evaluated, Evaluation, score_tasks
from probes.results import ProbeRow
from probes.share import Share
from probes.surprisals import Pair, TokenLogprobs
from probes.task import Task, single
from probes.vectors import Vectors


class Counts:
    """A model that counts the sentences it was given, and the texts that it scored."""

    def __init__(self) -> None:
        self.encoded: list[str] = []
        self.scored: list[str] = []

    def model(self) -> Model:
        return Model("counts", "", self.encode, "counts 1", logprobs=self.logprobs)

    def logprobs(self, pairs: Sequence[Pair]) -> list[TokenLogprobs]:
        self.scored += [text for _, text in pairs]
        return length_logprobs(pairs)

    def encode(self, sentences: list[str]) -> np.ndarray:
        self.encoded += sentences
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
    items = in_published_order(single(["b c", "a", "d e", "f"], np.array([1, 1, 0, 0])))
    assert (items.sentences, items.gold.tolist()) == (["f", "a", "d e", "b c"], [0, 1, 0, 1])


def test_the_order_of_a_file_is_nothing_to_the_published_protocol() -> None:
    texts = ["a " * length for length in range(1, 41)]  # no two of one length
    split = single(texts, np.arange(40) % 2)
    turned = single(texts[::-1], split.gold[::-1])
    grid = Grid(widths=(3,), dropouts=(0.0,), l2=(1e-3,), protocol="senteval", max_passes=4)
    scores = []
    for train in (split, turned):
        task = Classification("T", ["no", "yes"], train, split, split, grid=grid, sorted_by_length=True)
        scores.append(task.score(Vectors(Counts().encode(texts), texts), "cpu").correct)
    np.testing.assert_array_equal(*scores)


def essence_of(row: ProbeRow) -> tuple[str, float, str, list[bool]]:
    assert row.answers is not None
    return row.task, row.test_accuracy, row.answers.test, row.answers.right.tolist()


@pytest.mark.parametrize("world", [2, 3])
def test_rows_are_those_of_one_process_and_no_sentence_is_encoded_twice(world) -> None:
    made, alone = [*tasks(3), *surprising_tasks(2), *tasks(2)], Counts()
    expected = Evaluation(alone.model(), made).scores()
    models = [Counts() for _ in range(world)]
    for scores in in_processes(models, made, None):
        assert [essence_of(score.row) for score in scores] == [essence_of(score.row) for score in expected]
    assert sorted(s for model in models for s in model.encoded) == sorted(alone.encoded)
    assert sorted(s for model in models for s in model.scored) == sorted(alone.scored)
    assert (len(set(alone.scored)), len(set(alone.encoded))) == (len(alone.scored), len(alone.encoded))


def test_processes_score_what_is_not_cached_and_cache_it(tmp_path) -> None:
    made, alone = [*tasks(4), *surprising_tasks(1)], Counts()
    expected = Evaluation(alone.model(), made[1:3], cache=tmp_path).scores()
    first, second = [Counts(), Counts()], [Counts(), Counts()]
    for scores in (*in_processes(first, made, tmp_path), *in_processes(second, made, tmp_path)):
        assert [essence_of(score.row) for score in scores[1:3]] == [essence_of(e.row) for e in expected]
        assert [score.row.task for score in scores] == [task.name for task in made]
    assert all(model.encoded for model in first)
    assert not any(model.encoded or model.scored for model in second)


def in_processes(models: list[Counts], made: Sequence[Task], cache: Path | None) -> list[list[Evaluated]]:
    """The scores that each of several processes, here threads, gets."""
    barrier, board = Barrier(len(models), timeout=10), [b""] * len(models)

    def gather(rank: int, part: Any) -> list[Any]:
        board[rank] = pickle.dumps(part)  # as all_gather_object sends it
        barrier.wait()
        parts = [pickle.loads(sent) for sent in board]
        barrier.wait()
        return parts

    def process(rank: int) -> list[Evaluated]:
        share = Share(rank, len(models), lambda part: gather(rank, part))
        return Evaluation(models[rank].model(), made, share, cache).scores()

    with ThreadPoolExecutor(len(models)) as pool:
        return list(pool.map(process, range(len(models))))


@pytest.mark.parametrize("small", [(), (0,), (1, 3), (0, 1, 2, 3)])
def test_results_come_in_the_order_of_the_tasks(small) -> None:
    made = tasks(4)
    names = score_tasks(made, lambda task: task.name, lambda task: made.index(task) in small, "cpu", "")
    assert names == [task.name for task in made]


def test_logistic_regression_starts_first(monkeypatch) -> None:
    made, started = tasks(4), list[str]()
    monkeypatch.setattr(type(made[1]), "reader", property(lambda task: "logreg" if task is made[1] else "mlp"))
    monkeypatch.setattr(evaluation, "map_on_cores", one_after_another)
    score_tasks(made, lambda task: started.append(task.name), made.__contains__, "cpu", "")
    assert started[0] == made[1].name


def one_after_another(function: Callable[[int], None], jobs: list[int], _device: str) -> list[None]:
    """As `map_on_cores` on one core: it begins with the last."""
    return [function(job) for job in reversed(jobs)][::-1]


def test_tasks_side_by_side_score_as_they_do_one_after_another(monkeypatch) -> None:
    together = Evaluation(Counts().model(), tasks(4)).scores()
    monkeypatch.setattr(evaluation, "SMALL_TASK_BYTES", 0)
    alone = Evaluation(Counts().model(), tasks(4)).scores()
    assert [essence_of(score.row) for score in together] == [essence_of(score.row) for score in alone]
