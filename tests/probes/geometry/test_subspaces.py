"""The subspace of a task is that of linear discriminant analysis, and overlaps have their known values."""

import csv
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from torch import nn

from encoder_lab.errors import InputError
from encoder_lab.model import Model
from encoder_lab.reports.commands import chart_sections
from encoder_lab.reports.models import models_of
from encoder_lab.reports.scores import read_runs
from encoder_lab.reports.subspaces import as_csv, as_text, charts_of_subspaces, read_subspaces
from probes.classification import Classification
from probes.classifiers.grid import Grid
from probes.evaluation import Evaluation
from probes.geometry.history import read_state, save_state, state_file
from probes.geometry.subspaces import SUBSPACE, overlap, principal_angles, probe_subspace, random_overlap
from probes.task import single
from probes.watch import probe_now
from tests import commands
from tests.probes.geometry.test_geometry import SHAPES, Turning

SIZE, WIDTH = 1200, 12
TEXTS = [f"text {number}" for number in range(SIZE)]
GOLD = {"first": np.arange(SIZE) % 2, "second": np.arange(SIZE) // 2 % 2}
GOLD |= {"both": np.arange(SIZE) % 4}  # its three directions are those of first, second and their product


def data(classes: int, size: int = 600, width: int = 9) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    gold = np.arange(size) % classes
    noise = random.normal(size=(size, width)) @ (np.eye(width) + random.normal(size=(width, width)) / width)
    return noise + random.normal(size=(classes, width))[gold], gold


@pytest.mark.parametrize("classes", [2, 4])
def test_it_is_the_subspace_of_linear_discriminant_analysis(classes) -> None:
    vectors, gold = data(classes, size=6000)
    basis = probe_subspace(vectors, gold)
    assert basis.shape == (9, classes - 1)
    np.testing.assert_allclose(basis.T @ basis, np.eye(classes - 1), atol=1e-6)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(vectors, gold).scalings_[:, : classes - 1]
    assert principal_angles(basis, theirs).max() < 0.5
    wider = np.hstack([vectors, np.full((6000, 1), 2.0**30)])  # a large constant feature hides no others
    assert principal_angles(probe_subspace(wider, gold), np.vstack([basis, np.zeros(classes - 1)])).max() < 0.5


def test_with_fewer_vectors_than_dimensions_it_is_that_of_the_same_system() -> None:
    vectors, gold = data(3, size=40, width=39)
    wider = np.hstack([vectors, np.zeros((40, 1)), np.zeros((40, 1))])  # 40 vectors of 41 numbers
    random = np.random.default_rng(0).normal(size=(40, 200))
    basis = probe_subspace(wider, gold)
    assert basis.shape == (41, 2)
    assert np.abs(basis[39:]).max() < 1e-6
    assert probe_subspace(random, gold).shape == (200, 2)
    # equal vectors have no direction
    assert probe_subspace(np.full((20, 5), 0.1), np.arange(20) % 2).shape == (5, 0)


def test_the_overlap_is_the_mean_squared_cosine_of_the_principal_angles() -> None:
    axes = np.eye(5)
    half = np.array([axes[0], (axes[1] + axes[2]) / 2**0.5]).T
    np.testing.assert_allclose(principal_angles(axes[:, :2], half), [0, 45], atol=1e-5)
    assert overlap(axes[:, :2], half) == pytest.approx(75)
    assert overlap(axes[:, :2], axes[:, 3:]) == pytest.approx(0)


def test_random_subspaces_overlap_by_the_larger_rank_in_the_width() -> None:
    random = np.random.default_rng(3)
    drawn = [overlap(*(np.linalg.qr(random.normal(size=(20, k)))[0] for k in (2, 5))) for _ in range(300)]
    mean, high = random_overlap(2, 5, 20)
    assert mean == pytest.approx(100 * 5 / 20) == pytest.approx(np.mean(drawn), abs=2)
    assert np.mean(np.array(drawn) > high) < 0.1


class Learning:
    """Vectors in which the first property moves to its own axis, and the second is always on another one."""

    def __init__(self, epoch: int) -> None:
        noise = np.random.default_rng(5).normal(size=(SIZE + 60, WIDTH))
        for name, axis in (("first", 2 - epoch), ("second", 5)):
            noise[:SIZE, axis] += 4 * GOLD[name]
        self.row = dict(zip([*TEXTS, *SHAPES[0].sentences], noise, strict=True))

    def encode(self, sentences: list[str]) -> np.ndarray:
        return np.array([self.row[sentence] for sentence in sentences], dtype=np.float32)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """Three epochs, two tasks of two classes and one of four."""
    folder = tmp_path_factory.mktemp("run")
    grid = Grid(l2=(1e-3,)).logistic()
    classes = {name: [str(label) for label in np.unique(gold)] for name, gold in GOLD.items()}
    tasks = [Classification(name, classes[name], *[single(TEXTS, GOLD[name])] * 3, grid=grid) for name in GOLD]
    for epoch in range(3):
        probe_now([*SHAPES, *tasks], Learning(epoch), nn.Identity(), folder / "probes.csv", epoch)
    return folder


def test_the_subspace_of_each_task_is_compared_with_the_end_and_with_other_tasks(run) -> None:
    subspaces = read_subspaces(run)
    assert (subspaces.tasks, subspaces.epochs) == (["both", "first", "second"], [0, 1, 2])
    first = [subspaces.overlap("first", epoch) for epoch in subspaces.epochs]
    assert max(first[:2]) < 10 < 99.9 < first[2]  # it moves
    assert min(subspaces.overlap("second", epoch) for epoch in subspaces.epochs) > 95  # it stays
    assert subspaces.overlap("first", 2, "second") < 10
    assert subspaces.overlap("first", 2, "both") > 90
    assert subspaces.halves["first"] > 90
    assert subspaces.random("first", "both") == pytest.approx(100 * 3 / WIDTH)


def test_the_report_has_every_pair_and_every_epoch(run, tmp_path) -> None:
    subspaces = read_subspaces(run)
    rows = list(csv.DictReader(as_csv(subspaces).splitlines()))
    assert len(rows) == 3 * (3 + 3)
    same = [row["overlap"] for row in rows if (row["epoch"], row["task"]) == (row["other_epoch"], row["other"])]
    assert same == ["100.00"] * 3
    assert {row["random"] for row in rows if row["task"] == "both"} == {f"{100 * 3 / WIDTH:.2f}"}
    fewer = subspaces._replace(bases={**subspaces.bases, (0, "both"): subspaces.bases[0, "both"][:, :2]})
    row, *_ = csv.DictReader(as_csv(fewer).splitlines())
    assert (row["rank"], row["other_rank"], row["random"]) == ("2", "1", f"{100 * 2 / WIDTH:.2f}")
    assert "first" in as_text(subspaces)
    heat, curves = charts_of_subspaces([subspaces]).charts
    assert 100 * heat.shades[0][1] == pytest.approx(subspaces.overlap("both", 2, "first"))
    (line,) = [line for line in curves.series if line.name == "second"]
    assert line.y == [subspaces.overlap("second", epoch) for epoch in range(3)]
    for name in ("subspaces.svg", "subspaces.csv"):
        assert commands.finish("report.py", "subspaces", str(run), f"out={tmp_path / name}").returncode == 0
        assert (tmp_path / name).stat().st_size


def test_the_page_tells_runs_in_folders_of_one_name_apart(run, tmp_path) -> None:
    for name in ("a/1", "b/1"):
        shutil.copytree(run, tmp_path / name)
        (tmp_path / name / "config.yaml").write_text(f"encoder_name: {name[0]}\nobjective_name: o\nseed: 1\n")
    *_, section = chart_sections(models_of(read_runs([tmp_path])), SimpleNamespace(epoch="last", classifier="mlp"))
    assert [chart.title.partition(":")[0] for chart in section.charts] == ["a/1", "a/1", "b/1", "b/1"]


def test_measuring_the_vectors_alone_again_keeps_the_subspaces_and_other_vectors_do_not(run, tmp_path) -> None:
    evaluation = tmp_path / "evaluations" / "geometry" / "one"  # a report of the run finds it there
    shutil.copytree(run, evaluation)
    probe_now(SHAPES, Learning(2), nn.Identity(), evaluation / "probes.csv", 2)
    assert read_subspaces(tmp_path).tasks == ["both", "first", "second"]
    probe_now(SHAPES, Turning(2), nn.Identity(), evaluation / "probes.csv", 2)
    with pytest.raises(InputError, match="not at every epoch"):
        read_subspaces(tmp_path)


def test_a_subspace_of_other_items_of_a_task_replaces_that_of_before(tmp_path) -> None:
    def saved(gold: np.ndarray) -> torch.Tensor:
        task = Classification("task", ["no", "yes"], *[single(TEXTS, gold)] * 3)
        evaluation = Evaluation(Model("m", "o", Learning(0).encode), [*SHAPES, task])
        save_state(tmp_path, evaluation, SHAPES, overwrite=False)
        return read_state(state_file(tmp_path, 0))[f"{SUBSPACE}task"]

    first, second, third = map(saved, (GOLD["first"], GOLD["second"], GOLD["first"]))
    assert torch.equal(first, third)
    assert not torch.equal(first, second)


def test_what_cannot_be_compared_is_one_line(run, tmp_path) -> None:
    (tmp_path / "probes.csv").write_text((run / "probes.csv").read_text())
    with pytest.raises(InputError, match=r"no subspaces of tasks there; .*suite=\[probing,geometry\]"):
        read_subspaces(tmp_path)
    commands.refusal("report.py", "subspaces", str(run), str(run / ".."))
