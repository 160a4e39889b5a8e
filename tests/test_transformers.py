"""hf:MODEL: each layer of a pretrained transformer is an encoder."""

import json
import os
from pathlib import Path
from typing import Any, get_args
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from encoder_lab.errors import InputError
from encoder_lab.reports.models import models_of
from encoder_lab.reports.runs import read_run
from encoders.hugging_face import Pooling, Pretrained, pretrained
from probes.classification import Classification
from probes.results import read_rows
from probes.task import Outcome
from probes.vectors import Vectors
from tests.encoders.small_language_models import gpt2
from tests.test_evaluate import scored

BERT = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 20}
T5 = {"d_model": 16, "d_kv": 8, "num_heads": 2, "d_ff": 20, "num_layers": 2, "num_decoder_layers": 1}
BART = {"d_model": 16, "encoder_layers": 2, "encoder_attention_heads": 2, "encoder_ffn_dim": 20, "decoder_layers": 1}


def tiny(folder: Path, of: str, side: str = "right", **config: Any) -> Path:
    """A transformer with random weights and a tokenizer that pads on a side, as the hub would give them."""
    import transformers

    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "c", "d"]))
    transformers.BertTokenizer(str(folder / "vocab.txt"), padding_side=side).save_pretrained(folder)
    torch.manual_seed(0)
    settings = getattr(transformers, f"{of}Config")(vocab_size=9, pad_token_id=0, **config)
    getattr(transformers, f"{of}Model")(settings).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory) -> Path:
    return tiny(tmp_path_factory.mktemp("bert"), "Bert", **BERT)


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("pooling", get_args(Pooling))
def test_padding_never_changes_a_layer_of_a_transformer(tmp_path, pooling, side) -> None:
    layers = pretrained(str(tiny(tmp_path, "Bert", side, **BERT)), "all", pooling, "cpu", tmp_path / "work")
    texts = ["a b c d a b", "a", "b c"]
    named = "" if pooling == "mean" else f", {pooling}"
    assert [layer.objective for layer in layers] == [f"layer {i}{named}" for i in range(3)]
    for layer in layers:
        together = layer.encode(texts)
        np.testing.assert_allclose(together, np.concatenate([layer.encode([text]) for text in texts]), atol=1e-5)


REFORMER = {"hidden_size": 16, "attn_layers": ["local"] * 2, "num_hidden_layers": 2, "local_attn_chunk_length": 4}
REFORMER |= {"attention_head_size": 8, "num_attention_heads": 2, "axial_pos_shape": [8, 8]}
REFORMER |= {"axial_pos_embds_dim": [8, 8], "max_position_embeddings": 64, "is_decoder": False}


@pytest.mark.parametrize(("of", "settings"), [("FNet", BERT), ("ConvBert", BERT), ("Reformer", REFORMER)])
def test_models_that_read_padding_as_words_or_add_their_own_encode_as_alone(tmp_path, capsys, of, settings) -> None:
    """Reformer has states of whole chunks of tokens, more than a text has, and masks them."""
    model = pretrained(str(tiny(tmp_path, of, **settings)), "last", "mean", "cpu", tmp_path / "work")[0]
    assert ("padding changes its vectors" in capsys.readouterr().err) == (settings is BERT)
    texts = ["a b c d a b c", "a", "b c"]
    alone = np.concatenate([model.encode([text]) for text in texts])
    np.testing.assert_allclose(model.encode(texts), alone, atol=1e-5)


@pytest.mark.parametrize("texts", [[], [""], ["", "The cat"]], ids=str)
def test_a_text_without_tokens_gets_zeros(tmp_path, texts) -> None:
    gpt2(tmp_path)
    for pooling in get_args(Pooling):
        vectors = pretrained(str(tmp_path), "last", pooling, "cpu", tmp_path / "work")[0].encode(texts)
        assert vectors.shape == (len(texts), 32)
        assert vectors.any(1).tolist() == [bool(text) for text in texts]
        assert np.isfinite(vectors).all()


def test_a_tokenizer_without_the_end_that_its_settings_ask_for_is_named(tmp_path, capsys) -> None:
    gpt2(tmp_path)
    pretrained(str(tmp_path), "last", "last", "cpu", tmp_path / "work")
    assert "at the end" not in capsys.readouterr().err
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "add_eos_token": True}))
    pretrained(str(tmp_path), "last", "last", "cpu", tmp_path / "work")
    assert "asks for a token at the end of each text, and tokenizer.json adds none" in capsys.readouterr().err


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_mean_of_the_top_layer_is_that_of_the_library_in_32_bits(dtype, tmp_path, capsys) -> None:
    import transformers

    tiny(tmp_path, "Bert", **BERT)
    model = transformers.BertModel.from_pretrained(tmp_path, dtype=dtype).eval()
    model.save_pretrained(tmp_path)
    (top,) = pretrained(str(tmp_path), -1, "mean", "cpu", tmp_path / "work")
    assert ("computes in bfloat16" in capsys.readouterr().err) == (dtype == torch.bfloat16)
    tokens = transformers.BertTokenizer.from_pretrained(tmp_path)("a b c", return_tensors="pt")
    with torch.inference_mode():
        expected = model(**tokens).last_hidden_state.float().mean(1)
    np.testing.assert_allclose(top.encode(["a b c"]), expected, atol=1e-5)


def test_each_layer_of_a_transformer_is_scored_on_its_own_vectors(lab, tiny_bert, tmp_path, monkeypatch) -> None:
    import transformers

    seen: list[Vectors] = []
    score = Classification.score

    def watched(task: Classification, vectors: Vectors, device: str) -> Outcome:
        seen.append(vectors)
        return score(task, vectors, device)

    monkeypatch.setattr(Classification, "score", watched)
    more = ["layers=all", "device=cpu", "probes.tasks=[SentLen]"]
    done = scored(lab, tmp_path, f"model=hf:{tiny_bert}", *more)
    titles = [models_of([read_run(d.folder)])[0].title for d in done]
    assert titles == [f"{tiny_bert.name}, layer {i}" for i in range(3)]
    assert [len(read_rows(d.folder / "probes.csv")) for d in done] == [1, 1, 1]
    sentence = seen[0].sentences[0]
    model = transformers.BertModel.from_pretrained(tiny_bert).eval()
    tokens = transformers.BertTokenizer.from_pretrained(tiny_bert)(sentence, return_tensors="pt")
    with torch.inference_mode():
        states = model(**tokens, output_hidden_states=True).hidden_states
    for vectors, layer in zip(seen, states, strict=True):
        np.testing.assert_allclose(vectors.column_of([sentence])[torch.tensor([0])][0], layer[0].mean(0), atol=1e-5)


@pytest.mark.parametrize(("layers", "numbers"), [("last", [2]), (-2, [1]), ([0, -1], [0, 2]), ([1, -2], [1])])
def test_some_layers_are_those_of_all(tiny_bert, tmp_path, layers, numbers) -> None:
    every = pretrained(str(tiny_bert), "all", "mean", "cpu", tmp_path)
    some = pretrained(str(tiny_bert), layers, "mean", "cpu", tmp_path)
    assert [layer.objective for layer in some] == [f"layer {number}" for number in numbers]
    for layer, number in zip(some, numbers, strict=True):
        np.testing.assert_array_equal(layer.encode(["a b", "c"]), every[number].encode(["a b", "c"]))


def test_all_layers_are_one_pass_over_the_text(tiny_bert, tmp_path, monkeypatch) -> None:
    passes = []
    pooled = Pretrained._pooled_states
    monkeypatch.setattr(Pretrained, "_pooled_states", lambda model, texts: passes.extend(texts) or pooled(model, texts))
    texts = ["a b c d a b", "a", "b c"]
    layers = pretrained(str(tiny_bert), "all", "mean", "cpu", tmp_path)
    passes.clear()  # it has been tried on a sentence of its own
    for layer in layers:
        layer.encode(list(texts))
    assert sorted(passes) == sorted(texts)


@pytest.mark.parametrize(("pooling", "name"), [("cls", "mean of layers, cls"), ("mean", "mean of layers")])
def test_the_mean_of_layers_is_that_of_all_their_vectors(tiny_bert, tmp_path, pooling, name) -> None:
    """As Chen et al. 2019 have BERT (of `[CLS]`) and ELMo (of time steps)."""
    (mean,), every = (pretrained(str(tiny_bert), layers, pooling, "cpu", tmp_path) for layers in ("mean", "all"))
    texts = ["a b c d", "b"]
    assert mean.objective == name
    np.testing.assert_allclose(mean.encode(texts), np.mean([layer.encode(texts) for layer in every], 0), atol=1e-6)


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_an_error_while_encoding_leaves_no_vectors_behind(tiny_bert, tmp_path, monkeypatch, error) -> None:
    first = pretrained(str(tiny_bert), "all", "mean", "cpu", tmp_path)[0]
    monkeypatch.setattr(Pretrained, "_pooled_states", Mock(side_effect=error))
    with pytest.raises(error):
        first.encode(["a"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("layers", [3, -4, [0, 3], "first", True, []])
def test_a_layer_that_does_not_exist_is_refused(tiny_bert, tmp_path, layers) -> None:
    with pytest.raises(InputError, match="from -3 to 2"):
        pretrained(str(tiny_bert), layers, "mean", "cpu", tmp_path)


def test_an_invalid_model_is_named(tmp_path) -> None:
    with pytest.raises(InputError, match="hf:"):
        pretrained(str(tmp_path), -1, "mean", "cpu", tmp_path)


@pytest.mark.parametrize(("of", "config"), [("T5", T5), ("Bart", BART)], ids=["T5", "BART"])
def test_an_encoder_decoder_transformer_uses_the_layers_of_its_encoder(tmp_path, of, config) -> None:
    import transformers

    folder = tiny(tmp_path, of, **config)
    layers = pretrained(str(folder), "all", "mean", "cpu", tmp_path)
    model = getattr(transformers, f"{of}Model").from_pretrained(folder).eval()
    tokens = transformers.BertTokenizer.from_pretrained(folder)("a b c", return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        expected = model(input_ids=tokens, decoder_input_ids=tokens, output_hidden_states=True).encoder_hidden_states
    assert len(layers) == len(expected)
    for layer, states in zip(layers, expected, strict=True):
        np.testing.assert_allclose(layer.encode(["d", "a b c"])[1], states[0].mean(0), atol=1e-5)


@pytest.mark.parametrize(("size", "message"), [
    ("num_hidden_layers", r"num_hidden_layers is 1000000000 in its config.json; at most 1000 are built"),
    ("vocab_size", r"asks for 16,000,\d+,\d+ numbers, and its weights have"),
])  # fmt: skip
def test_a_model_that_needs_much_more_memory_than_its_files_have_bytes_is_refused(tmp_path, size, message) -> None:
    folder = tiny(tmp_path, "Bert", **BERT)
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | {size: 10**9}))
    save_file({}, folder / "model.safetensors", {"format": "pt"})  # no weights: the library would make them
    with pytest.raises(InputError, match=message):
        pretrained(str(folder), -1, "mean", "cpu", tmp_path)


def test_an_adapter_next_to_its_model_is_refused(tmp_path) -> None:
    tiny(tmp_path, "Bert", **BERT)
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(InputError, match=r"an adapter \(PEFT\), which is not read; merge it"):
        pretrained(str(tmp_path), "last", "mean", "cpu", tmp_path / "work")


@pytest.mark.parametrize("cls", ["BertModel", "BertForMaskedLM"])  # the second has names of another form in its file
def test_layers_that_config_json_leaves_out_are_said(tmp_path, cls, capsys) -> None:
    import transformers

    folder = tiny(tmp_path, "Bert", **BERT)
    settings = transformers.BertConfig.from_pretrained(folder)
    getattr(transformers, cls)(settings).save_pretrained(folder)
    pretrained(str(folder), "last", "mean", "cpu", tmp_path / "work")
    assert "leaves out" not in capsys.readouterr().err
    (folder / "config.json").write_text(json.dumps(settings.to_dict() | {"num_hidden_layers": 1}))
    pretrained(str(folder), "last", "mean", "cpu", tmp_path / "work")
    assert "config.json leaves out layers that are in the weights, such as" in capsys.readouterr().err


def test_a_folder_without_a_tokenizer_is_refused(tmp_path) -> None:
    folder = tiny(tmp_path, "Bert", **BERT)
    for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    with pytest.raises(InputError, match=r"tokenizer"):
        pretrained(str(folder), -1, "mean", "cpu", tmp_path)


def test_the_library_says_nothing_of_its_own_about_damaged_weights(tmp_path, capfd) -> None:
    folder = tiny(tmp_path, "Bert", **BERT)
    weights = load_file(folder / "model.safetensors")
    save_file({name: weights[name] for name in list(weights)[1:]}, folder / "model.safetensors", {"format": "pt"})
    capfd.readouterr()
    with pytest.raises(InputError, match=r"no weights for"):
        pretrained(str(folder), -1, "mean", "cpu", tmp_path)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", ["../other.safetensors", "/etc/passwd", "a/../../b", None])
def test_an_index_of_weights_that_names_a_file_elsewhere_is_refused(tmp_path, name) -> None:
    os.mkfifo(tmp_path / "other.safetensors")  # to open it would never end
    (tmp_path / "model").mkdir()
    tiny(tmp_path / "model", "Bert", **BERT)
    (tmp_path / "model" / "model.safetensors").unlink()
    index = {"metadata": {}, "weight_map": {"embeddings.word_embeddings.weight": name}}
    (tmp_path / "model" / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(InputError, match="outside of this folder; it was not opened"):
        pretrained(str(tmp_path / "model"), -1, "mean", "cpu", tmp_path / "work")
