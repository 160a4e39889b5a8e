"""hf: on a folder of sentence-transformers gives the vectors of the library; other models are cut where they end."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from encoder_lab.errors import InputError
from encoders.hugging_face import pretrained
from tests.test_transformers import BERT, T5, tiny

TEXTS = ["a b c d a b", "d", "b c A", "a b " * 40]


def folder_of(
    path: Path, pooling: object = "mean", above: str = "", longest: int | None = None, **more: object
) -> Path:
    """A folder as the library saves it: a tiny BERT, pooling, then `dn`: dense layers and normalisation."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Dense, Normalize, Pooling, Transformer

    (path / "bert").mkdir(parents=True)
    body = Transformer(str(tiny(path / "bert", "Bert", **BERT)), max_seq_length=longest)
    torch.manual_seed(1)
    made = [body, Pooling(16, pooling_mode=pooling)]
    size = made[1].get_embedding_dimension()
    for letter in above:
        made.append(Dense(size, 5, activation_function=torch.nn.ReLU()) if letter == "d" else Normalize())
        size = 5 if letter == "d" else size
    model = SentenceTransformer(modules=made, device="cpu", prompts={"query": "c d: ", "none": ""})
    for key, value in more.items():
        setattr(model, key, value)
    model.save(str(path / "model"))
    return path / "model"


def library(path: Path, **how: object) -> np.ndarray:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(path), device="cpu").encode(TEXTS, **how)


@pytest.mark.parametrize("made", [
    {"pooling": "cls"}, {"pooling": "max", "above": "n"}, {"pooling": "lasttoken", "longest": 6},
    {"pooling": "weightedmean", "above": "dn"}, {"pooling": "mean_sqrt_len_tokens", "above": "nd"},
    {"pooling": ("max", "mean", "cls"), "above": "d"}, {"default_prompt_name": "query"},
    {"above": "n", "truncate_dim": 7},
], ids=str)  # fmt: skip
def test_the_modules_of_a_folder_are_used_and_named(made, tmp_path, capsys) -> None:
    path = folder_of(tmp_path, **made)
    (model,) = pretrained(str(path), "last", None, "cpu", tmp_path)
    np.testing.assert_allclose(model.encode(TEXTS), library(path), atol=1e-5)
    printed = capsys.readouterr().err
    assert "modules of its folder: pooling" in printed
    assert ("dense" in printed, "normalised" in printed) == ("d" in made.get("above", ""), "n" in made.get("above", ""))
    assert ("are cut after 6 tokens" in printed) == ("longest" in made)
    assert ("begins with 'c d: '" in printed) == ("default_prompt_name" in made)


def test_dense_layers_over_a_transformer_in_16_bits_are_read(tmp_path) -> None:
    from sentence_transformers import SentenceTransformer

    path = folder_of(tmp_path, above="dn")
    SentenceTransformer(str(path), device="cpu").bfloat16().save(str(tmp_path / "narrow"))
    (model,) = pretrained(str(tmp_path / "narrow"), "last", None, "cpu", tmp_path)
    np.testing.assert_allclose(model.encode(TEXTS), library(path), atol=0.02)


@pytest.mark.parametrize(("pooled", "longest"), [(True, None), (False, None), (False, 4)])
@pytest.mark.parametrize("prompt", ["query", "b: "])
def test_a_prompt_by_name_or_as_text_is_that_of_the_library(prompt, pooled, longest, tmp_path) -> None:
    path = folder_of(tmp_path, longest=longest)
    config = path / "1_Pooling" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"include_prompt": pooled}))
    (model,) = pretrained(str(path), "last", None, "cpu", tmp_path, prompt)
    expected = library(path, **({"prompt_name": prompt} if prompt == "query" else {"prompt": prompt}))
    np.testing.assert_allclose(model.encode(TEXTS), expected, atol=1e-5)
    assert "prompt" in model.objective


def test_older_names_of_pooling_and_a_wish_of_the_user(tmp_path, capsys) -> None:
    path = folder_of(tmp_path, "cls")
    old = {"word_embedding_dimension": 16, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (path / "1_Pooling" / "config.json").write_text(json.dumps(old))
    own, cls, mean = (pretrained(str(path), "last", how, "cpu", tmp_path)[0] for how in (None, "cls", "mean"))
    np.testing.assert_array_equal(own.encode(TEXTS), cls.encode(TEXTS))
    assert not np.allclose(own.encode(TEXTS), mean.encode(TEXTS))
    assert capsys.readouterr().err.count("not used, as pooling= or layers= is given") == 2


OURS = "sentence_transformers.models."


def modules(last: str = "Pooling", folder: str = "") -> str:
    return json.dumps([{"type": f"{OURS}Transformer", "path": folder}, {"type": f"{OURS}{last}", "path": ""}])


BODY = "sentence_bert_config.json"
BROKEN = {
    "another module": ("modules.json", modules("WeightedLayerPooling"), "has Transformer, WeightedLayerPooling; read"),
    "a class of its own": ("modules.json", modules().replace(OURS, "my."), r"has my\.Transformer, my\.Pooling; read"),
    "a folder of its own": ("modules.json", modules(folder="0_T"), "is in 0_T/; move the files from there"),
    "no list": ("modules.json", "{}", "no list of modules"),
    "no JSON": ("modules.json", "[", "not valid JSON"),
    "pooling": ("1_Pooling/config.json", '{"pooling_mode": "median"}', "known are cls, max"),
    "activation": ("2_Dense/config.json", '{"activation_function": "os.system"}', "with os.system"),
    "size": ("2_Dense/config.json", '{"in_features": 999999999, "out_features": 99999}', "get the model again"),
    "other size": ("2_Dense/config.json", '{"in_features": 16, "out_features": 4}', "size mismatch"),
    "prompts": ("config_sentence_transformers.json", '{"prompts": [1]}', "no texts"),
    "prompt": ("config_sentence_transformers.json", '{"default_prompt_name": "q"}', "no prompt 'q', the default"),
    "input": ("2_Dense/config.json", '{"module_input_name": "token_embeddings"}', "2_Dense/ works on other numbers"),
    "arguments": (BODY, '{"config_kwargs": {"num_hidden_layers": 1}}', "config_kwargs of its transformer's settings"),
    "tokens": (BODY, '{"processing_kwargs": {"text": {"max_length": 6}}}', "processing_kwargs of its"),
    "states": (BODY, '{"modality_config": {"text": {}}}', "modality_config of its"),
    "task": (BODY, '{"transformer_task": "fill-mask"}', "transformer_task of its"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_modules_that_are_not_read_or_damaged_are_refused(name, tmp_path) -> None:
    path = folder_of(tmp_path, above="d")
    file, text, message = BROKEN[name]
    (path / file).write_text(text)
    with pytest.raises(InputError, match=message):
        pretrained(str(path), "last", None, "cpu", tmp_path)


@pytest.mark.parametrize(("kind", "longest", "of_tokenizer"), [("roberta", 6, 512), ("bert", 40, 6)])
def test_the_longest_text_is_that_of_the_library_also_in_files_of_older_names(
    kind, longest, of_tokenizer, tmp_path
) -> None:
    path = folder_of(tmp_path)
    (path / BODY).unlink()
    (path / f"sentence_{kind}_config.json").write_text(json.dumps({"max_seq_length": longest}))
    config = path / "tokenizer_config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"model_max_length": of_tokenizer}))
    (model,) = pretrained(str(path), "last", None, "cpu", tmp_path)
    np.testing.assert_allclose(model.encode(TEXTS), library(path), atol=1e-5)


def test_pickled_weights_of_a_module_are_not_read(tmp_path) -> None:
    weights = folder_of(tmp_path, above="d") / "2_Dense" / "model.safetensors"
    torch.save(load_file(weights), weights.with_name("pytorch_model.bin"))
    weights.unlink()
    with pytest.raises(InputError, match=r"no model\.safetensors"):
        pretrained(str(weights.parents[1]), "last", None, "cpu", tmp_path)


def test_a_folder_without_a_transformer_is_named_with_its_modules(tmp_path) -> None:
    (tmp_path / "modules.json").write_text('[{"type": "sentence_transformers.models.StaticEmbedding"}]')
    with pytest.raises(InputError, match=r"has StaticEmbedding; read are .*; model=call: takes a function"):
        pretrained(str(tmp_path), "last", None, "cpu", tmp_path)
    with pytest.raises(InputError, match="absent: no such folder; "):
        pretrained(str(tmp_path / "absent"), "last", None, "cpu", tmp_path)


def test_a_folder_that_says_no_limit_is_cut_where_a_transformer_alone_is(tmp_path) -> None:
    path = tiny(tmp_path, "T5", **T5)
    (path / "modules.json").write_text(modules())
    (model,) = pretrained(str(path), "last", None, "cpu", tmp_path / "work")
    first, second = model.encode(["a " * 510, "a " * 600])
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(("of", "positions", "longest"), [("Bert", 20, 20), ("Roberta", 23, 22)])
def test_a_model_with_few_positions_gets_no_more_tokens_and_cuts_are_counted(
    of, positions, longest, tmp_path, capsys
) -> None:
    (tmp_path / "model").mkdir()
    path = tiny(tmp_path / "model", of, **BERT, max_position_embeddings=positions)
    (model,) = pretrained(str(path), "last", None, "cpu", tmp_path)
    words = longest - 2  # without the marks of the beginning and the end
    vectors = model.encode(["a " * words, "a " * (words + 1), "a " * 600, "b"])
    np.testing.assert_allclose(vectors[1:3], vectors[:1].repeat(2, 0), atol=1e-5)
    assert f"2 of 4 sentences are cut after {longest} tokens" in capsys.readouterr().err
