"""Loading a frozen encoder from a run folder, and the errors for folders that are not run folders."""

import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from encoder_lab.errors import InputError
from encoders import load_encoder
from encoders.bilstm import BiLSTM
from encoders.load import open_run

GOLDEN = Path(__file__).parents[1] / "golden_run"
SENTENCES = ["the dog sees a cat .", "the child never ran , because the river runs .", "dog"]
VECTORS = [
    [-0.007718, 0.140990, 0.558815, 0.111527, -0.036412, 0.374012, 0.223883, -0.127146],
    [-0.009564, 0.147488, 0.581340, 0.022224, -0.009371, 0.470450, 0.382530, 0.115370],
    [-0.030848, 0.102467, 0.279847, 0.125909, -0.011346, 0.015388, 0.431244, -0.034256],
]


@pytest.fixture
def run(tmp_path) -> Path:
    """A copy of the golden run that a test may damage."""
    return shutil.copytree(GOLDEN, tmp_path / "run")


def edit(run: Path, old: str, new: str) -> None:
    path = run / "config.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def rewrite(run: Path, **changes: Any) -> None:
    """Replace weights of the checkpoint, or drop those given as None."""
    path = run / "checkpoints" / "best.ckpt"
    checkpoint = torch.load(path, weights_only=True)
    state = checkpoint["state_dict"] | {name.replace("__", "."): value for name, value in changes.items()}
    checkpoint["state_dict"] = {name: value for name, value in state.items() if value is not None}
    torch.save(checkpoint, path)


def refusal(path: Path) -> str:
    """The one line that an unusable path gets."""
    with pytest.raises(InputError) as caught:
        load_encoder(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_the_golden_run_gives_the_same_vectors_as_before_and_is_frozen() -> None:
    encoder = load_encoder(GOLDEN)
    np.testing.assert_allclose(encoder.encode(SENTENCES), VECTORS, atol=2e-6)
    assert not encoder.encoder.training
    assert not any(weight.requires_grad for weight in encoder.encoder.parameters())


def test_weights_of_64_bits_are_not_rounded_when_an_encoder_is_loaded(run) -> None:
    weights = open_run(run).weights
    rewrite(run, **{name: weight.double() + 1e-12 for name, weight in weights.items()})
    loaded = load_encoder(run, "cpu")
    assert loaded.encode(SENTENCES).dtype == np.float32
    for name, weight in loaded.encoder.state_dict().items():
        assert torch.equal(weight, open_run(run).weights[f"encoder.{name}"])


def test_a_default_dtype_of_64_bits_changes_no_vector() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        np.testing.assert_allclose(load_encoder(GOLDEN).encode(SENTENCES), VECTORS, atol=2e-6)
    finally:
        torch.set_default_dtype(torch.float32)


def test_an_epoch_of_a_checkpoint_is_refused(run) -> None:
    with pytest.raises(InputError, match=r"best\.ckpt: a checkpoint is of one epoch; leave epoch=0 out"):
        load_encoder(run / "checkpoints" / "best.ckpt", epoch=0)


def test_a_loaded_encoder_can_be_pickled_and_read_raw_text() -> None:
    encoder = pickle.loads(pickle.dumps(load_encoder(GOLDEN, raw=True)))
    np.testing.assert_allclose(encoder.encode([f" {text} " for text in SENTENCES]), VECTORS, atol=2e-6)


def test_an_encoder_that_computes_in_its_constructor_is_loaded(monkeypatch) -> None:
    make = BiLSTM.__init__

    def computing(self: BiLSTM, *sizes: int, **settings: Any) -> None:
        make(self, *sizes, **settings)
        assert float(next(self.parameters()).detach().abs().sum()) > 0

    monkeypatch.setattr(BiLSTM, "__init__", computing)
    np.testing.assert_allclose(load_encoder(GOLDEN).encode(SENTENCES), VECTORS, atol=2e-6)


def test_a_file_or_a_folder_with_one_run_stands_for_it_and_of_several_the_newest_is_named(run, monkeypatch) -> None:
    monkeypatch.chdir(run / "checkpoints")
    np.testing.assert_allclose(load_encoder("best.ckpt").encode(SENTENCES), VECTORS, atol=2e-6)
    assert load_encoder(run.parent).dim == 8
    shutil.copytree(run, run.parent / "second")
    assert "2 runs inside" in refusal(run.parent)
    assert str(run.parent / "second") in refusal(run.parent)


def test_trained_word_vectors_are_read_from_the_checkpoint(run) -> None:
    edit(run, "freeze: true", "freeze: false")
    rewrite(run, embedding__table=torch.zeros(22, 5))
    vectors = load_encoder(run).encode(["dog dog", "cat cat"])
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)


@pytest.mark.parametrize(("path", "gone", "message"), [
    ("nothing", "notes", "no such run folder"),
    ("run/vectors", "notes", "not a run folder"),
    ("run", "checkpoints/best.ckpt", "best.ckpt: no such checkpoint"),
    ("run/checkpoints/best.ckpt", "config.yaml", "config.yaml: missing"),
    ("run", "vectors", "vectors: missing"),
])  # fmt: skip
def test_what_is_missing_is_named(run, path, gone, message) -> None:
    (run / gone).rename(run.parent / "gone") if (run / gone).exists() else None
    assert message in refusal(run.parent / path)


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "a: [", "model: x\n", "encoder: x\nembeddings: y\ncorpus: z\n"])
def test_settings_that_are_not_of_a_run_are_refused(run, text) -> None:
    (run / "config.yaml").write_text(text)
    assert "config.yaml" in refusal(run)


@pytest.mark.parametrize("target", [
    "os.system", "subprocess.Popen", "encoders.load.pickle.loads", "encoders.frozen.torch.load",
    "encoders.load.load_encoder", "encoders.load.Path", "encoders.frozen.FrozenEncoder", "encoders.nothing.Here",
    "encoders", "encoders.bilstm.BiLSTM.forward", "encodersx.bilstm.BiLSTM", "encoders..BiLSTM",
])  # fmt: skip
def test_only_encoders_of_this_project_are_loaded(run, target) -> None:
    edit(run, "_target_: encoders.bilstm.BiLSTM", f"_target_: {target}")
    assert f"encoder._target_ is {target}; only the classes in encoders/" in refusal(run)


@pytest.mark.parametrize("form", ["{}", "[{}]", "'\\${{oc.create:{}}}'"])
def test_a_class_hidden_in_a_setting_is_refused(run, form) -> None:
    edit(run, "projection: 6", f"projection: {form.format('{_target_: os.getcwd}')}")
    message = refusal(run)
    assert "only the classes in encoders/ are loaded, alone" in message or "would be computed" in message


def test_a_foreign_corpus_class_is_refused_at_first_use(run) -> None:
    edit(run, "_target_: datamodules.corpus.Corpus", "_target_: os.system")
    encoder = load_encoder(run)
    with pytest.raises(InputError, match=r"corpus\._target_ is os\.system"):
        encoder.encode(["a"], tokenized=False)


@pytest.mark.parametrize(("old", "new", "expected"), [
    ("dim: 8", "dim: 7", "encoder.dim=7"),
    ("dim: 8", "width: 8", "encoder.width=8: nothing reads"),
    ("dim: 8", "dim: ${nope}", "nope"),
    ("dim: 8", "dim: x", "encoder.dim=x: give a whole number from 1 to 65536; or copy"),
    ("layers: 2", "layers: 1001", "encoder.layers=1001: give a whole number from 1 to 1000"),
    ("pooling: max", "pooling: mox", "encoder.pooling=mox: give max"),
    ("attention: false", "attention: 7", "encoder.attention=7: give true or false"),
])  # fmt: skip
def test_settings_that_the_encoder_does_not_accept_are_refused(run, old, new, expected) -> None:
    edit(run, old, new)
    message = refusal(run)
    assert message.startswith(f"{run / 'config.yaml'}: ")
    assert expected in message


def test_weights_that_do_not_fit_are_named(run) -> None:
    edit(run, "dim: 8", "dim: 4")
    assert "wrong shape or dtype of lstm.forward_layers.0.weight_ih_l0 (16, 6)" in refusal(run)
    edit(run, "dim: 4", "dim: 8")
    rewrite(run, encoder__projection__bias=None, encoder__extra=torch.zeros(1))
    assert "missing ['projection.bias'], unexpected ['extra']" in refusal(run)
    torch.save({"model": {"weight": torch.zeros(2)}}, run / "checkpoints" / "best.ckpt")
    assert "not a checkpoint of this project" in refusal(run)


class Malicious:
    """Unpickled, it would write a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return Path.touch, (self.path,)


def test_a_malicious_pickle_executes_nothing(run, tmp_path) -> None:
    torch.save({"state_dict": {}, "global_step": Malicious(tmp_path / "owned")}, run / "checkpoints" / "best.ckpt")
    assert "it was not loaded" in refusal(run)
    assert not (tmp_path / "owned").exists()
