"""The suite: from settings to scores, next to a plain run of each group's classifier."""

from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.sequential import train_grid_alone
from encoder_lab.errors import InputError
from probes.classification import Classification
from probes.classifiers import classifier, modern
from probes.classifiers.classifier import Labelled, probe
from probes.classifiers.grid import Grid
from probes.discoeval.tasks import tasks
from probes.evaluation import distinct_sentences
from probes.statistics import wilson_interval
from probes.suites import Context, settings_as_declared
from probes.task import Items
from probes.vectors import Vectors
from tests.probes.discoeval.small_files import small_files
from tests.tiny_corpus import TinyCorpus

WORLD = {"root": None, "tasks": None, "train_size": 40, "dev_size": 10, "test_size": 20, "analyses": None}
NO_SIZES = {"train_size": None, "dev_size": None, "test_size": None}
PUBLISHED = {  # hidden units, L2, most passes, passes of a block, tenacity
    "SP": (0, (1e-5, 1e-4, 1e-3, 1e-2), 200, 4, 5),
    "BSO": (0, (1e-5, 1e-4, 1e-3, 1e-2), 200, 4, 5),
    "DC": (2000, (1e-9,), 200, 15, 8),
    "SSP": (0, (1e-9,), 200, 4, 5),
    "PDTB-E": (0, (1e-9,), 15, 1, 5),
    "PDTB-I": (0, (1e-9,), 15, 1, 5),
    "RST": (0, (1e-9,), 15, 1, 5),
}


def suite(folder: Path, grid: Grid | None = None, seed: int = 1, **settings: object) -> list[Classification]:
    declared = settings_as_declared(tasks, WORLD | settings, "discoeval")
    return tasks(Context(grid or Grid(), seed, folder, TinyCorpus()), declared)


def of_files(root: Path, grid: Grid | None = None, seed: int = 1, **settings: object) -> list[Classification]:
    return suite(root, grid, seed, root=str(root), **NO_SIZES, **settings)


@pytest.fixture
def root(tmp_path) -> Path:
    return small_files(tmp_path / "data")


def vectors(tasks: list[Classification]) -> Vectors:
    sentences = distinct_sentences(tasks)
    return Vectors(np.random.default_rng(0).normal(size=(len(sentences), 4)).astype(np.float32), sentences)


def plain(x: list[np.ndarray], group: str) -> np.ndarray:
    """The published features, from each column's vectors."""
    if group == "SP":
        return np.concatenate([x[0], *(x[0] - other for other in x[1:])], 1)
    if group == "BSO":
        return np.concatenate([x[0], x[1], x[0] - x[1]], 1)
    if group in ("DC", "SSP"):
        return np.concatenate(x, 1)
    return np.concatenate([x[0], x[1], x[0] * x[1], np.abs(x[0] - x[1])], 1)


def test_each_group_scores_like_the_toolkit_and_nothing_of_dc_leaks_into_the_next(root) -> None:
    by_name = {task.name: task for task in of_files(root, Grid(protocol="senteval"))}
    tasks = [by_name[name] for name in ("DCchat", "SPwiki", "BSOroc", "SSPabs", "PDTB-E", "PDTB-I", "RST")]
    made = vectors(tasks)
    row = dict(zip(made.sentences, made.matrix.numpy(), strict=True))

    def of(text: object) -> np.ndarray:
        return row[text] if isinstance(text, str) else np.mean([row[edu] for edu in text], 0)  # type: ignore[attr-defined]

    for task in tasks:
        group = next(group for group in PUBLISHED if task.name.startswith(group))
        hidden, l2, passes, block, tenacity = PUBLISHED[group]
        grid = Grid((hidden,), (0.0,), l2, "senteval", None, passes, block, tenacity)
        train, dev, test = (
            (torch.tensor(plain([np.array([of(t) for t in c]) for c in part.texts], group)), torch.tensor(part.gold))
            for part in task.parts
        )
        expected = train_grid_alone(train, dev, test, len(task.classes), grid, seed=1)
        outcome = task.score(made, "cpu")
        assert (outcome.dev, outcome.test) == expected[:2], task.name


def test_the_embedded_world_has_seven_groups_of_the_wanted_size(tmp_path) -> None:
    tasks = suite(tmp_path)
    assert [task.name for task in tasks] == ["SPdemo", "BSOdemo", "DCdemo", "SSPdemo", "PDTB-E", "PDTB-I", "RST"]
    assert [len(task.train.gold) for task in tasks] == [40, 80, 40, 40, 40, 40, 40]
    assert [task.reader for task in tasks] == ["logreg", "logreg", "mlp", *["logreg"] * 4]


def test_the_analyses_of_the_paper_are_tasks_with_one_thing_left_out(root) -> None:
    tasks = of_files(root, tasks=["SPwiki", "DCchat"], analyses=["hidden_layer", "context"])
    assert [(task.name, task.reader) for task in tasks] == [
        *(("SPwiki", "logreg"), ("DCchat", "mlp")),
        *(("DCchat without hidden layer", "logreg"), ("SPwiki without context", "logreg")),
    ]
    assert len({task.fingerprint for task in tasks}) == 4


def test_what_is_missing_is_skipped_in_one_line_without_control_characters(root, capsys) -> None:
    (root / "DC/wiki/test.txt").unlink()
    assert len(of_files(root)) == 11
    first, *sizes = capsys.readouterr().err.splitlines()
    assert first.startswith(f"DCwiki: skipped, no {root}/DC/wiki/test.txt; get it from")
    assert all(line.startswith("warning: ") for line in sizes)  # the files here are small
    of_files(root.rename(root.parent / "evil\x1b]0;pwn\x07"))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("DCwiki: skipped")
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize(("settings", "message"), [
    ({"analyses": "depth"}, "discoeval.analyses=depth: give hidden_layer or context"),
    ({"analyses": "context", "tasks": "DC"}, "analyses=context: it is about SP; add SP to discoeval.tasks="),
    ({"tasks": ["MR"]}, "MR: no such DiscoEval task; there are SPdemo, SP, "),
    ({"root": "."}, "discoeval.train_size= is about the embedded world"),
    ({"root": "tests", **NO_SIZES}, "none of the tasks is there"),
])  # fmt: skip
def test_a_setting_without_effect_is_refused(tmp_path, settings, message) -> None:
    with pytest.raises(InputError, match=message):
        suite(tmp_path, **settings)


def test_either_sense_is_a_second_measure_of_relations_with_two(root) -> None:
    (task,) = of_files(root, tasks="pdtbe")
    texts = tuple([column[0]] * 10 for column in task.test.texts)
    items = Items(texts, np.array([0, 1] * 5))  # type: ignore[arg-type]
    same = Classification("two", task.classes, task.train, task.dev, items, second=task.second)
    details = same.baseline("majority").details
    assert details["ceiling"] == 50
    assert details["either sense"] in (0, 100)
    assert task.baseline("majority").details == {}
    assert same.fingerprint != Classification("two", task.classes, task.train, task.dev, items).fingerprint


def test_wide_features_are_read_without_a_matrix_of_features_by_features(monkeypatch) -> None:
    def never(x: torch.Tensor) -> None:
        raise AssertionError(f"a matrix of {x.shape[1]} by {x.shape[1]} features")

    for module in (classifier, modern):
        monkeypatch.setattr(module, "MAX_WHITENED_FEATURES", 30)
    monkeypatch.setattr("probes.classifiers.modern.covariance", never)
    monkeypatch.setattr("probes.classifiers.optimum.covariance", never)
    random = np.random.default_rng(1)
    made = [random.normal(size=(600, 4)) for _ in range(3)]
    turned = random.normal(size=(4, 3000)) + 0.1
    parts = [Labelled((x @ turned).astype(np.float32), (x[:, 0] > x[:, 1]).astype(np.int64)) for x in made]
    assert probe(*parts, classes=2, grid=Grid().logistic(), seed=1).test_accuracy > 90


def test_the_order_of_bso_follows_the_seed_as_in_the_published_toolkit(root) -> None:
    orders = {}
    for seed in (1, 1111):
        (task,) = of_files(root, seed=seed, tasks=["BSOarxiv"])
        size = len(task.train.gold)
        shuffled = np.random.RandomState(seed).permutation(size)
        assert task.train.gold.tolist() == np.repeat([1, 0], size // 2)[shuffled].tolist()
        orders[seed] = task.train.texts
    assert orders[1] != orders[1111]


def test_the_interval_of_bso_is_that_of_pairs_as_both_orders_of_one_are_right_together(root) -> None:
    (task,) = of_files(root, tasks=["BSOarxiv"])
    (first, second), pairs = task.test.texts, len(task.test.gold) // 2
    assert [*zip(first, second, strict=True)][1::2] == [*zip(second, first, strict=True)][::2]
    outcome = task.baseline("majority")  # one order of each pair
    assert (outcome.test, outcome.correct.sum(1).tolist()) == (50, [1] * pairs)
    assert (outcome.low, outcome.high) == wilson_interval(pairs / 2, pairs)
