"""The geometry suite in training and in evaluate.py: measures of any model, and the similarity of its states."""

import time
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from encoder_lab.errors import InputError
from encoder_lab.model import Model
from probes import watch
from probes.evaluation import Evaluation
from probes.geometry import measures
from probes.geometry.history import VECTORS, read_state, state_file, write_state
from probes.geometry.subspaces import SUBSPACE
from probes.geometry.tasks import MEASURES, Shape, draw_sentences
from probes.results import read_rows
from probes.vectors import Vectors
from probes.watch import probe_now
from tests import commands
from tests.conftest import TINY, Lab
from tests.test_evaluate import scored
from tests.test_transformers import BERT, tiny
from tests.tiny_corpus import TinyCorpus

SENTENCES = [f"sentence {number}" for number in range(60)]
SHAPES = [Shape(name, SENTENCES) for name in MEASURES]


class Turning:
    """A model that has other vectors at each epoch."""

    def __init__(self, epoch: int) -> None:
        first, second = (np.random.default_rng(seed).normal(size=(60, 8)) for seed in (1, 2))
        self.vectors = (first * np.cos(epoch / 2) + second * np.sin(epoch / 2)).astype(np.float32)

    def encode(self, sentences: list[str]) -> np.ndarray:
        return self.vectors[[SENTENCES.index(sentence) for sentence in sentences]]


def probed(results: Path, *epochs: int) -> dict[tuple[float, str], float]:
    for epoch in epochs:
        probe_now(SHAPES, Turning(epoch), nn.Identity(), results, epoch, step=10 * epoch)
    return {(row.epoch, row.task): row.test_accuracy for row in read_rows(results)}


def similar(first: int, second: int) -> float:
    vectors = (torch.from_numpy(Turning(epoch).vectors) for epoch in (first, second))
    return pytest.approx(measures.linear_cka(*vectors)[0], abs=0.006)


def test_each_epoch_is_compared_with_the_first_the_one_before_and_the_last(tmp_path) -> None:
    rows = probed(tmp_path / "probes.csv", 0, 1, 2)
    assert [rows[epoch, "CKAfirst"] for epoch in range(3)] == [similar(epoch, 0) for epoch in range(3)]
    assert [rows[epoch, "CKAbefore"] for epoch in range(3)] == [100, similar(1, 0), similar(2, 1)]
    assert [rows[epoch, "CKAlast"] for epoch in range(3)] == [similar(epoch, 2) for epoch in range(3)]
    assert rows[1, "EffRank"] == pytest.approx(measures.effective_rank(torch.tensor(Turning(1).vectors))[0], abs=0.006)


def test_the_seconds_of_the_suite_contain_those_of_the_subspaces(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(watch, "save_state", lambda *_: time.sleep(0.3))
    results = tmp_path / "probes.csv"
    probe_now(SHAPES, Turning(0), nn.Identity(), results, 0)
    assert sum(row.seconds for row in read_rows(results)) > 0.29


def test_a_run_that_was_killed_and_resumed_has_the_same_rows(tmp_path) -> None:
    whole = probed(tmp_path / "whole.csv", 0, 1, 2)
    assert probed(tmp_path / "other" / "probes.csv", 0, 1, 2, 1, 2) == whole  # epoch 2 was not saved: from 1 again


def test_a_damaged_state_is_refused(tmp_path) -> None:
    probed(tmp_path / "probes.csv", 0)
    state_file(tmp_path, 0).write_bytes(b"no tensors")
    with pytest.raises(InputError, match=r"epoch-0\.safetensors: not the state of an epoch"):
        probed(tmp_path / "probes.csv", 1)


@pytest.mark.parametrize("name", ["epoch-1.safetensors", "epoch-2.safetensors"])
def test_a_state_that_has_changed_or_is_of_another_epoch_is_refused(tmp_path, name) -> None:
    path = tmp_path / "epoch-1.safetensors"
    write_state(path, {VECTORS: torch.eye(3), f"{SUBSPACE}T": torch.ones(2, 1)})
    assert read_state(path)[VECTORS].equal(torch.eye(3))
    content = bytearray(path.read_bytes())
    content[-1] ^= name == path.name
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=rf"{name}: not the state of an epoch \(it has changed\); delete it"):
        read_state(tmp_path / name)


def test_fewer_vectors_than_dimensions_are_measured_and_the_bound_is_printed_also_from_a_cache(tmp_path) -> None:
    vectors = Vectors(np.random.default_rng(1).normal(size=(60, 200)), SENTENCES)
    model = Model("", "random", lambda texts: vectors.matrix[vectors.column_of(texts).rows].numpy(), "its name")
    for _ in range(2):
        with pytest.warns(UserWarning, match="EffRank of 60 vectors of 200 numbers is at most 59"):
            (score,) = Evaluation(model, SHAPES[:1], cache=tmp_path).scores()
        assert score.row.test_accuracy <= 59
    assert all(np.isfinite(shape.score(vectors, "cpu")[:4]).all() for shape in SHAPES[1:])


def test_too_few_sentences_are_refused_and_fewer_than_asked_for_are_said(monkeypatch, capsys) -> None:
    with pytest.raises(InputError, match="needs 40 held-out sentences"):
        draw_sentences(TinyCorpus(), 100, seed=1)
    monkeypatch.setattr(TinyCorpus, "sentences", lambda *_: map(str, range(50)))
    assert len(draw_sentences(TinyCorpus(), 50, seed=1)) == 50
    assert not capsys.readouterr().err
    assert len(draw_sentences(TinyCorpus(), 60, seed=1)) == 50
    assert "suite=geometry has 50 of 60 sentences" in capsys.readouterr().err


@pytest.fixture(scope="module")
def run(lab, tmp_path_factory) -> Path:
    """A run with both suites that keeps every epoch."""
    folder = tmp_path_factory.mktemp("geometry") / "run"
    more = "suite=[probing,geometry]", "geometry.sentences=60", "checkpoints.keep=every", "logger=[tensorboard]"
    lab.succeed(*lab.settings(folder, *more))
    return folder


def evaluation(lab: Lab, out: Path, *arguments: str) -> list[str]:
    tiny = [text for text in TINY if text.startswith("corpus.")]
    more = f"cache={lab.cache}", f"out={out}", "suite=[geometry]", "geometry.sentences=60"
    return ["evaluate.py", *tiny, *more, *arguments]


def scores(path: Path) -> dict[tuple[float, str], float]:
    return {(row.epoch, row.task): row.test_accuracy for row in read_rows(path) if row.suite == "geometry"}


def test_training_and_evaluation_of_the_kept_epochs_agree(run, lab) -> None:
    trained = scores(run / "probes.csv")
    assert {epoch for epoch, _ in trained} == {0, 1, 2}
    assert {task for _, task in trained} == {*MEASURES, "CKAfirst", "CKAbefore", "CKAlast"}
    commands.succeed(*evaluation(lab, Path("evaluations"), f"model={run}", "epochs=all"))
    (path,) = run.glob("evaluations/geometry/*/probes.csv")
    assert scores(path) == pytest.approx(trained, abs=0.02)


def test_the_curves_and_tensorboard_have_dimensions_and_percent_apart(run) -> None:
    assert (run / "tensorboard" / "CKAlast").is_dir()
    out = run.parent / "geometry.svg"
    assert commands.finish("report.py", "curves", str(run), "suite=geometry", f"out={out}").returncode == 0
    assert out.stat().st_size


def test_the_layers_of_a_transformer_are_compared_in_their_order(lab, tmp_path) -> None:
    bert = tiny(tmp_path, "Bert", **BERT)
    more = "layers=all", "device=cpu", "suite=[geometry]", "geometry.sentences=60"
    folders = [layer.folder for layer in scored(lab, tmp_path / "out", f"model=hf:{bert}", *more)]
    first, middle, last = (read_state(state_file(folder, 0))[VECTORS] for folder in folders)
    for folder, before in zip(folders, (first, first, middle), strict=True):
        rows, vectors = scores(folder / "probes.csv"), read_state(state_file(folder, 0))[VECTORS]
        expected = {"CKAfirst": first, "CKAbefore": before, "CKAlast": last}
        cka = {(0, task): measures.linear_cka(vectors, other)[0] for task, other in expected.items()}
        assert {key: rows[key] for key in cka} == pytest.approx(cka, abs=0.006)
