"""Corrupted or malicious files: those of a run folder, and precomputed vectors."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from omegaconf import OmegaConf

from encoder_lab.errors import InputError
from encoder_lab.reports.runs import read_run
from encoder_lab.training.allowed_classes import refuse_foreign_classes
from encoders import load_encoder
from encoders.load import read_checkpoint, read_config
from encoders.sources import precomputed_model
from tests.encoders.test_load import GOLDEN, SENTENCES, Malicious
from tests.fuzzing import any_damage_is_read_or_refused, limits, lines_in, refusal
from tests.reports.small_runs import run_of
from tests.settings.test_config_check import composed


@pytest.fixture
def run(tmp_path) -> Path:
    """A copy of the golden run, with the scale that later runs have."""
    folder = shutil.copytree(GOLDEN, tmp_path / "run")
    np.save(folder / "vectors" / "scale.npy", 1.0)
    return folder


@pytest.mark.parametrize("name", ["config.yaml", "vectors/matrix.npy", "vectors/scale.npy", "vectors/words.txt"])
def test_a_run_is_loaded_or_refused(run, name) -> None:
    def read() -> None:
        encoder = load_encoder(run, "cpu")
        vectors = encoder.encode(SENTENCES)
        assert vectors.shape == (len(SENTENCES), encoder.dim)
        assert np.isfinite(vectors).all()

    any_damage_is_read_or_refused(read, run / name, folder=run)


def test_settings_of_a_run_are_continued_or_refused(tmp_path) -> None:
    config = composed("objective=discourse")
    OmegaConf.resolve(config)
    path = tmp_path / "config.yaml"
    path.write_text(OmegaConf.to_yaml(config))
    any_damage_is_read_or_refused(lambda: refuse_foreign_classes(read_config(tmp_path), path), path)


def test_settings_of_a_run_are_reported_or_refused(tmp_path) -> None:
    run = run_of(tmp_path / "run")
    path = run / "config.yaml"
    more = "objective:\n  parts: [nli, nmt_enfr]\n  select: null\nprobes:\n  source:\n    root: ${..root}\n  root: a\n"
    path.write_text(path.read_text() + more)
    any_damage_is_read_or_refused(lambda: json.dumps([read_run(run).objective_scores(), read_run(run).score]), path)


@pytest.fixture
def elsewhere(tmp_path) -> tuple[Path, Path]:
    """Four sentences and their vectors."""
    np.save(tmp_path / "all.npy", np.arange(12, dtype=np.float32).reshape(4, 3))
    (tmp_path / "all.txt").write_text("".join(f"sentence {i} .\n" for i in range(4)))
    return tmp_path / "all.npy", tmp_path / "all.txt"


def test_precomputed_vectors(elsewhere) -> None:
    any_damage_is_read_or_refused(lambda: precomputed_model(*elsewhere).encode(["sentence 3 ."]), elsewhere[0])


def test_sentences_of_precomputed_vectors(elsewhere) -> None:
    vectors, sentences = elsewhere

    def read() -> None:
        model = precomputed_model(vectors, sentences)
        texts = [text.rstrip("\r") for text in lines_in(sentences.read_bytes())]
        if len(set(texts)) == len(texts):
            np.testing.assert_array_equal(model.encode(texts), np.load(vectors))

    any_damage_is_read_or_refused(read, sentences, at_the_end="not one vector for each|empty")


NOT_NUMBERS: dict[str, Callable[[Path], None]] = {
    "empty": lambda path: path.write_bytes(b""),
    "texts": lambda path: np.save(path, np.array([["a"] * 3] * 4)),
    "complex": lambda path: np.save(path, np.ones((4, 3), complex)),
    "records": lambda path: np.save(path, np.zeros((4, 3), [("x", "f4"), ("y", "f4")])),
    "an archive": lambda path: np.savez(path.open("wb"), np.ones((4, 3))),
    "more than it says": lambda path: path.write_bytes(path.read_bytes() + bytes(8)),
    "less than it says": lambda path: path.write_bytes(path.read_bytes()[:-8]),
}


@pytest.mark.parametrize("spoil", NOT_NUMBERS.values(), ids=NOT_NUMBERS.keys())
def test_vectors_that_are_not_a_numeric_matrix_are_refused(elsewhere, spoil) -> None:
    spoil(elsewhere[0])
    with pytest.raises(InputError, match=r"all\.npy: "):
        precomputed_model(*elsewhere)


@pytest.mark.parametrize("name", ["vectors/matrix.npy", "vectors/scale.npy", "checkpoints/best.ckpt", "all.npy"])
@pytest.mark.parametrize("how", ["array", "archive", "pickle"])
def test_a_pickle_in_place_of_numbers_executes_nothing(run, elsewhere, tmp_path, name, how) -> None:
    made, objects = tmp_path / "made", np.array([[Malicious(tmp_path / "made")]] * 4, dtype=object)
    path = elsewhere[0] if name == "all.npy" else run / name
    with path.open("wb") as file:
        {"array": np.save, "archive": np.savez, "pickle": lambda f, a: a.dump(f)}[how](file, objects)
    assert refusal(lambda: precomputed_model(*elsewhere) if name == "all.npy" else load_encoder(run), tmp_path)
    assert not made.exists()


BOMBS = {
    "aliases": "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 40)),
    "references": "a0: x\n" + "".join(f"a{i}: ${{a{i - 1}}}${{a{i - 1}}}\n" for i in range(1, 40)),
    "depth": "a: " + "[" * 5000,
    "size": "a: b\n" * 300_000,
    "a python object": "a: !!python/object/apply:os.getcwd []",
    "itself": "a: ${a}",
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS.keys())
def test_settings_that_would_fill_the_memory_are_refused(run, text) -> None:
    (run / "config.yaml").write_text(text)
    assert refusal(lambda: read_config(run), run / "config.yaml")


@pytest.mark.parametrize("setting", ["dim: 8", "layers: 2", "projection: 6"])
@pytest.mark.parametrize("value", [3, 100_000, 10**7, 10**12])
def test_an_encoder_larger_than_its_checkpoint_is_refused_before_it_is_built(run, setting, value) -> None:
    path = run / "config.yaml"
    path.write_text(path.read_text().replace(f"  {setting}", f"  {setting.split()[0]} {value}"))
    assert refusal(lambda: load_encoder(run), run)


def test_a_corrupted_checkpoint_is_read_or_refused(run) -> None:
    path = run / "checkpoints" / "best.ckpt"
    whole, content = read_checkpoint(path)["state_dict"], path.read_bytes()
    of_a_folder = bytearray(content)
    of_a_folder[content.rindex(b"best/data/18") - 8] ^= 16  # calls a tensor a folder, of which torch reads nothing

    def read() -> None:
        state = read_checkpoint(path)["state_dict"]
        assert state.keys() == whole.keys()
        assert all(torch.equal(state[name], whole[name]) for name in whole)

    any_damage_is_read_or_refused(read, path, also=[bytes(of_a_folder)])


def test_the_limits_stop_long_and_large_computations(monkeypatch) -> None:
    with pytest.raises(MemoryError), limits():
        np.ones(1 << 29)
    monkeypatch.setattr("tests.fuzzing.SECONDS", 0.01)
    with pytest.raises(pytest.fail.Exception, match="not done"), limits():
        time.sleep(60)
