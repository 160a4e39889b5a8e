"""Exported encoders give the vectors of their run, in the libraries that read them."""

import ast
import importlib.util
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from hydra.utils import instantiate
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from datamodules.corpus import Corpus
from datamodules.word_vectors.fasttext_file import open_bin
from datamodules.word_vectors.run_vectors import LOWERCASE_FILE
from datamodules.word_vectors.skipgram import train_bin
from encoder_lab.errors import InputError
from encoders import load_encoder
from encoders.export import COMMAND, export
from encoders.portable.network import TextReader
from encoders.portable.parts import _is_moses, parts_of
from encoders.portable.source import _read_definitions, bundled_source
from encoders.sources import bag_of
from tests.conftest import ROOT
from tests.datamodules.word_vectors.test_fasttext_file import quantised
from tests.packages import PACKAGES
from tests.test_every_encoder import CONFIGS, SMALL

GOLDEN = ROOT / "tests" / "golden_run"
OURS = ("configs", *PACKAGES)
TEXTS = [
    "the dog sees a cat .", "Dogs don't run, doggish Été!", "The Dog sees l'Hound", "dog", " a  b\tcat\x1cdog <unk> ",
    "the dog " * 20, "e\u0301te\u0301",
]  # fmt: skip
STOCK = ("bov", "bilstm_max", "bilstm_att")
Make = Callable[..., Path]


@pytest.fixture(scope="module")
def subwords(tmp_path_factory) -> Path:
    """A small fastText model."""
    folder = tmp_path_factory.mktemp("fasttext")
    (folder / "text").write_text("the dog sees a hound <unk>\n" * 9)
    sizes = {"dim": 5, "bucket": 40, "minn": 0, "maxn": 4, "epoch": 200, "thread": 1, "t": 1.0}
    train_bin(folder / "text", folder / "subwords.bin", sizes)
    return folder / "subwords.bin"


@pytest.fixture
def make(tmp_path, subwords, monkeypatch) -> Make:
    """Makes a run of an encoder: the golden run's words, random weights, and subwords and a Moses corpus on demand."""
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))

    def made(name: str, composes: bool = False, moses: bool = False, lowercase: bool = False) -> Path:
        run = shutil.copytree(GOLDEN, tmp_path / f"run-{name}-{composes}-{moses}")
        words = run / "vectors" / "words.txt"
        words.write_text(words.read_text().replace("child", "été"), encoding="utf-8")
        config = OmegaConf.load(run / "config.yaml")
        small = {key: value for key, value in {**SMALL, "dim": 8, "layers": 2}.items() if key in CONFIGS[name]}
        config.encoder = {**CONFIGS[name], **small}
        config.corpus._target_ = "datamodules.corpora.on_disk.OnDisk" if moses else "datamodules.corpus.Corpus"
        config.corpus.source_language = "fr"
        OmegaConf.save(config, run / "config.yaml")
        torch.manual_seed(0)
        weights = instantiate(config.encoder, input_dim=5).state_dict()
        state = {f"encoder.{key}": value for key, value in weights.items()}
        torch.save({"state_dict": state, "epoch": 1, "global_step": 9}, run / "checkpoints" / "best.ckpt")
        if composes:
            shutil.copy(subwords, run / "vectors" / "subwords.bin")
            np.save(run / "vectors" / "scale.npy", 2.0)
        if lowercase:
            np.save(run / "vectors" / LOWERCASE_FILE, 1)
        return run

    return made


def loaded(folder: Path) -> ModuleType:
    """The Python file of an export."""
    spec = importlib.util.spec_from_file_location(f"exported_{folder.name}", folder / "sentence_encoder.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def vectors_in_sentence_transformers(folder: Path, **trust: Any) -> np.ndarray:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu", **trust).encode(TEXTS, batch_size=2)


@pytest.mark.parametrize(("name", "raw"), [*((name, True) for name in CONFIGS), ("bov", False), ("transformer", False)])
def test_every_encoder_gives_the_same_vectors_in_each_library(name, raw, make, tmp_path) -> None:
    run = make(name, composes=True, moses=True, lowercase=raw)
    expected = load_encoder(run, "cpu", raw=raw).encode(TEXTS)
    export(run, tmp_path / "out", raw=raw)
    vectors = [vectors_in_sentence_transformers(tmp_path / "out", trust_remote_code=True)]
    export(run, tmp_path / "torch", "torch", raw)
    vectors += [loaded(tmp_path / "torch").SentenceEncoder.load(tmp_path / "torch").encode(TEXTS, 3)]
    export(run, tmp_path / "onnx", "onnx", raw)
    encoder = loaded(tmp_path / "onnx").OnnxEncoder(tmp_path / "onnx")
    for result in (*vectors, encoder.encode(TEXTS, 1), encoder.encode(TEXTS, 64)):
        np.testing.assert_allclose(result, expected, atol=1e-5)


def test_a_run_that_reads_lower_case_does_so_frozen_and_exported(make, tmp_path) -> None:
    run = make("bov")
    config = OmegaConf.load(run / "config.yaml")
    config.datamodule = {"lowercase": True}
    OmegaConf.save(config, run / "config.yaml")
    expected = load_encoder(make("bov", moses=True), "cpu").encode(["the dog sees", "the cat"])
    export(run, tmp_path / "torch", "torch")
    exported = loaded(tmp_path / "torch").SentenceEncoder.load(tmp_path / "torch")
    for encoder in (load_encoder(run, "cpu"), bag_of(load_encoder(run, "cpu")), exported):
        np.testing.assert_allclose(encoder.encode(["THE Dog sees", "The cat"]), expected, atol=1e-6)
    with pytest.raises(InputError, match="this run reads lower case"):
        export(run, tmp_path / "stock", modules="stock")


def test_the_mark_of_unknown_words_is_read_as_in_training(make, tmp_path) -> None:
    run = make("bov", composes=True)
    vectors = load_encoder(run, "cpu").encode(["<unk>", "<UNK>", "<unkn>"])
    assert vectors.any(axis=1).tolist() == [False, True, True]
    np.save(run / "vectors" / LOWERCASE_FILE, 1)
    export(run, tmp_path / "torch", "torch", raw=False)
    for encoder in (load_encoder(run, "cpu"), loaded(tmp_path / "torch").SentenceEncoder.load(tmp_path / "torch")):
        assert not encoder.encode(["<UNK>"]).any()


@pytest.mark.parametrize("name", STOCK)
def test_stock_modules_are_used_where_they_give_the_same_vectors(name, make, tmp_path) -> None:
    run = make(name)
    export(run, tmp_path / "out")
    result = vectors_in_sentence_transformers(tmp_path / "out")
    np.testing.assert_allclose(result, load_encoder(run, "cpu").encode(TEXTS), atol=1e-5)
    export(make(name, moses=True), tmp_path / "tokenised", raw=False)
    np.testing.assert_array_equal(vectors_in_sentence_transformers(tmp_path / "tokenised"), result)
    assert not list(tmp_path.glob("*/*.py"))


def test_stock_modules_on_request_give_unknown_words_the_zero_vector(make, tmp_path) -> None:
    run = make("bov", composes=True)
    export(run, tmp_path / "out", modules="stock")
    (run / "vectors" / "subwords.bin").unlink()
    expected = load_encoder(run, "cpu").encode(TEXTS)
    vectors = vectors_in_sentence_transformers(tmp_path / "out")
    np.testing.assert_allclose(vectors[[0, 2, 4]], expected[[0, 2, 4]], atol=1e-5)
    assert "Unknown words get the zero vector" in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.parametrize(("name", "moses"), [("gated_convnet", False), ("bilstm_last", False), ("bilstm_max", True)])
def test_stock_modules_that_cannot_be_are_refused(name, moses, make, tmp_path) -> None:
    with pytest.raises(InputError, match="modules=stock: they have no"):
        export(make(name, moses=moses), tmp_path / "out", modules="stock")


def test_quantised_subwords_are_refused(make, tmp_path) -> None:
    (tmp_path / "text").write_text("__label__a the dog\n__label__b a cat\n")
    run = make("bov")
    quantised(tmp_path / "text", tmp_path, {}).rename(run / "vectors" / "subwords.bin")
    with pytest.raises(InputError, match=r"subwords\.bin: quantised"):
        parts_of(run, raw=True, allow=())


def test_an_exported_file_imports_nothing_of_ours_and_an_empty_text_gets_zeros(make, tmp_path) -> None:
    export(make("bilstm_max", moses=True), tmp_path / "out", "torch")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"README.md", "model.safetensors", "sentence_encoder.py"}
    tree = ast.parse((tmp_path / "out" / "sentence_encoder.py").read_text())
    imported = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert {name.split(".")[0] for name in imported if name} & set(OURS) == set()
    encoder = loaded(tmp_path / "out").SentenceEncoder.load(tmp_path / "out")
    assert not encoder.encode(["", "dog"])[0].any()
    assert encoder.encode([]).shape == (0, 8)


def test_the_settings_of_sentence_transformers_have_an_effect_on_the_bundled_module(make, tmp_path) -> None:
    from sentence_transformers import SentenceTransformer

    run = make("bilstm_max", composes=True)
    export(run, tmp_path / "out")
    encoder = SentenceTransformer(str(tmp_path / "out"), device="cpu", trust_remote_code=True)
    expected = load_encoder(run, "cpu").encode(["cat the dog", "cat doggish"])
    encoder.prompts["query"], encoder.max_seq_length = "cat ", 3
    np.testing.assert_allclose(encoder.encode_query(["the dog sees", "doggish"]), expected, atol=1e-6)
    np.testing.assert_allclose(encoder.half().encode_document(["cat the dog", "cat doggish"]), expected, atol=1e-2)


def test_an_export_is_loaded_under_any_default_dtype(make, tmp_path) -> None:
    export(run := make("bilstm_max"), tmp_path / "out", "torch")
    torch.set_default_dtype(torch.float64)
    try:
        vectors = loaded(tmp_path / "out").SentenceEncoder.load(tmp_path / "out").encode(TEXTS)
    finally:
        torch.set_default_dtype(torch.float32)
    np.testing.assert_allclose(vectors, load_encoder(run, "cpu").encode(TEXTS), atol=1e-6)


@pytest.mark.parametrize("form", ["torch", "onnx"])
def test_an_exported_encoder_refuses_one_string(make, tmp_path, form) -> None:
    export(make("bov"), tmp_path / "out", form)
    module = loaded(tmp_path / "out")
    encoder = module.OnnxEncoder(tmp_path / "out") if form == "onnx" else module.SentenceEncoder.load(tmp_path / "out")
    with pytest.raises(TypeError, match="encode takes a list of sentences, not one string"):
        encoder.encode("the dog sees")


def test_a_model_card_names_training_scores_licence_and_what_to_cite(make, tmp_path, capsys) -> None:
    run = make("bov")
    header = "epoch,step,suite,task,classifier,dev_accuracy,test_accuracy,test_low,test_high"
    rows = ["1,5,probing,WC,mlp,1,11.00,9.00,13.00", "2,9,probing,WC,mlp,1,22.00,20.00,24.00"]
    (run / "probes.csv").write_text("\n".join([header, *rows, ""]))
    export(run, tmp_path / "out", "torch")
    text = (tmp_path / "out" / "README.md").read_text()
    assert "| probing | WC | mlp | 22.00 | 20.00 to 24.00 |" in text
    assert "11.00" not in text
    assert "`regression` and `cosine` are Pearson's r times 100, `loss` in thousandths of a nat" in text
    assert "SentenceEncoder.load('out')" in text  # as in the folder above it
    assert f"SentenceEncoder.load('{tmp_path / 'out'}')" in capsys.readouterr().out
    for message in ("after epoch 2", "nmt_enfr", "* demo: that of this project", "Conneau et al. 2018", "Bojanowski"):
        assert message in text


@pytest.mark.parametrize(("more", "message"), [
    (["out=there"], "out=there: already there"),
    (["out=new", "format=torch", "modules=stock"], "only format=sentence-transformers has it"),
    (["out=new", "format=pickle"], "format=pickle: give sentence-transformers, torch or onnx"),
])  # fmt: skip
def test_what_cannot_be_written_is_refused_in_one_line(more, message, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    assert COMMAND.run([str(GOLDEN), *more]) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


@pytest.fixture(scope="module")
def reader(subwords) -> tuple[TextReader, Any]:
    model = open_bin(subwords)
    ngrams = model.get_input_matrix()[len(model.get_words()) :]
    settings = {"words": [], "input_dim": 5, "dim": 5, "longest": 9, "ngram_sizes": [0, 4]}
    settings |= {"lowercase": False, "lowercase_lookup": False}
    return TextReader(settings, ngrams), model


@settings(max_examples=50)
@given(word=st.text(st.characters(exclude_categories=["Cs", "Z", "C"]), min_size=1, max_size=9))
def test_unknown_words_are_composed_as_fasttext_does(word, reader) -> None:
    ours, theirs = reader
    if word not in theirs.get_words():
        np.testing.assert_allclose(ours.compose(word), theirs.get_word_vector(word), atol=1e-6)


def test_a_corpus_with_a_tokeniser_of_its_own_is_exported_as_tokenised_text_only(make) -> None:
    run = make("bov")
    config = (run / "config.yaml").read_text()
    (run / "config.yaml").write_text(config.replace("datamodules.corpus.Corpus", "tests.encoders.test_export.Shouting"))
    with pytest.raises(InputError, match="own tokenisation, which cannot be exported; give raw=false"):
        parts_of(run, raw=True, allow=["tests"])
    assert not parts_of(run, raw=False, allow=["tests"]).moses


@pytest.mark.parametrize("path", sorted((ROOT / "configs" / "corpus").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_tokenisation_of_our_corpora_is_exported(path) -> None:
    assert _is_moses(path, {"corpus": {"_target_": OmegaConf.load(path)._target_}}, ()) == (path.stem != "demo")


class Shouting(Corpus):
    """A corpus with its own tokenisation."""

    @staticmethod
    def tokenize(raw: str) -> str:
        return raw.upper()


def clash() -> None:
    """Uses two functions of one name."""
    TextReader({}, None)
    fasttext_hash()


def fasttext_hash() -> None:
    """Also a name in datamodules/word_vectors/fasttext_file.py."""


def test_two_definitions_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match=r"^fasttext_hash: defined in datamodules.* and tests"):
        bundled_source([clash], ["datamodules", "encoders", "tests"])


OWN = """
from torch import Tensor
from encoders.bov import BagOfVectors
SCALE = 2
SCALE += 1
if SCALE:
    BIG = 1.0
def scaled(vectors): return SCALE * vectors
class Own(BagOfVectors):
    def forward(self, embedded, lengths):
        {imported}
        encoded = super().forward(embedded, lengths)
        return encoded._replace(vector={vector})
"""


@pytest.mark.parametrize(("top", "local", "vector", "message"), [
    ("", "", "scaled(encoded.vector)", "Own: its export gives other vectors; an export takes what is defined once"),
    ("from own_parts.more import *", "", "half(encoded.vector)", "Own: its export fails .name 'half' is not defined"),
    ("from own_parts import more", "", "more.half(encoded.vector)", "own_parts: a folder, not a file; an export takes"),
    ("import own_parts.more", "", "own_parts.more.half(encoded.vector)", "own_parts.own: own_parts: an export takes"),
    ("", "from own_parts.more import half", "half(encoded.vector)", "own: from own_parts.more import half, within Own"),
    ("from own_parts.more import BIG", "", "BIG * encoded.vector", "own_parts.more: BIG: an export takes what is"),
])  # fmt: skip
def test_an_own_encoder_that_an_export_would_change_is_refused(
    make, tmp_path, monkeypatch, top, local, vector, message
):
    folder = tmp_path / "own_parts"
    folder.mkdir()
    (folder / "more.py").write_text("if True:\n    BIG = 3.0\ndef half(vectors): return vectors / 2\n")
    (folder / "own.py").write_text(top + OWN.format(imported=local or "pass", vector=vector))
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.startswith("own_parts")]:
        monkeypatch.delitem(sys.modules, name)
    _read_definitions.cache_clear()
    run = make("bov")
    config = run / "config.yaml"
    config.write_text(config.read_text().replace("encoders.bov.BagOfVectors", "own_parts.own.Own"))
    with pytest.raises(InputError, match=message):
        export(run, tmp_path / "out", "torch", allow=("own_parts",))
    assert not (tmp_path / "out").exists()
