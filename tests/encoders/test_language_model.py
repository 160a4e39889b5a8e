"""lm:PATH, a causal language model on disk."""

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from encoder_lab.errors import InputError
from encoders import language_model
from encoders.language_model import CausalLM
from tests.encoders.small_language_models import TEXT, gpt2, save

LONG = "The cat sat on the mat. Then it slept. A dog saw the cat"
TEXTS = [f"{LONG}, and the cat saw it.", f"{LONG} 😀.", LONG, f"{LONG}, and the mat?", "Where?", "", "The cat sat"]
WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return gpt2(tmp_path_factory.mktemp("gpt2"))


@pytest.fixture(scope="module")
def model(folder) -> CausalLM:
    return CausalLM(folder, "cpu")


@pytest.fixture(scope="module")
def llama(folder, tmp_path_factory) -> Path:
    """Another family: rotary positions, and fewer heads for keys than for queries."""
    other = tmp_path_factory.mktemp("models") / "llama"
    shutil.copytree(folder, other, ignore=shutil.ignore_patterns("model.safetensors", "config.json"))
    sizes = {"hidden_size": 32, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4}
    return save(other, "LlamaForCausalLM", vocab_size=300, num_key_value_heads=2, max_position_embeddings=64, **sizes)


@pytest.fixture(scope="module")
def local(folder, tmp_path_factory) -> Path:
    """A model with local attention: a token sees the 8 before it by place, which is another one in a tree."""
    other = tmp_path_factory.mktemp("models") / "neo"
    shutil.copytree(folder, other, ignore=shutil.ignore_patterns("model.safetensors", "config.json"))
    kinds = {"attention_types": [[["global", "local"], 1]], "window_size": 8}
    return save(other, "GPTNeoForCausalLM", vocab_size=300, hidden_size=32, num_layers=2, num_heads=2, **kinds)


def alone(path: Path, text: str, begin: bool = True) -> tuple[list[int], np.ndarray]:
    """Ids of one text and their log2 probabilities, one token at a time, as the library gives them."""
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    model = transformers.AutoModelForCausalLM.from_pretrained(path).eval()
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    row = [tokenizer.bos_token_id] * begin + ids
    result = []
    with torch.inference_mode():
        for at in range(len(row) - len(ids), len(row)):
            if at == 0:
                result.append(0.0)
                continue
            logits = model(torch.tensor([row[:at]])).logits[0, -1].double()
            result.append(float(logits.log_softmax(0)[row[at]]) / math.log(2))
    return ids, np.array(result)


@pytest.mark.parametrize(("family", "shares"), [("folder", True), ("llama", True), ("local", False)])
def test_every_token_has_the_probability_of_one_text_at_a_time(family, shares, request) -> None:
    path = request.getfixturevalue(family)
    model = CausalLM(path, "cpu")
    assert model.shares_prefixes == shares
    for text, scored in zip(TEXTS, model.logprobs([("", text) for text in TEXTS]), strict=True):
        ids, expected = alone(path, text)
        assert scored.tokens == model.tokenizer.convert_ids_to_tokens(ids)
        np.testing.assert_allclose(scored.logprobs, expected, atol=1e-4)
        assert (scored.logprobs <= 0).all()


def batch_sizes(model: CausalLM, texts: list[str]) -> list[int]:
    """How many tokens each batch has in which the texts are scored."""
    with patch.object(model.model, "forward", wraps=model.model.forward) as forward:
        model.logprobs([("", text) for text in texts])
    return [call.kwargs["input_ids"].numel() for call in forward.call_args_list]


def test_equal_beginnings_of_texts_are_computed_once(model) -> None:
    assert sum(batch_sizes(model, TEXTS)) < 0.55 * sum(len(model.tokenizer(text)["input_ids"]) + 1 for text in TEXTS)


@pytest.mark.parametrize("family", ["folder", "local"])
def test_equal_beginnings_have_the_same_bits_to_the_last_digit(family, request) -> None:
    """As batches of another size round otherwise, a tie would be decided by chance."""
    model, random, bits = CausalLM(request.getfixturevalue(family), "cpu"), np.random.default_rng(1), dict[tuple, set]()
    texts = [" ".join(random.choice(LONG.split(), size)) for size in random.integers(5, 30, 400)]
    for tokens, _, scores in model.logprobs([("", text) for text in texts]):
        for end, score in enumerate(scores, 1):
            bits.setdefault(tuple(tokens[:end]), set()).add(score)
    assert max(map(len, bits.values())) == 1


def test_a_batch_stays_within_its_tokens(model, monkeypatch) -> None:
    monkeypatch.setattr(language_model, "BATCH_TOKENS", 200)
    sizes = batch_sizes(model, [f"{number} {LONG}" for number in range(50)])
    assert len(sizes) > 4
    assert max(sizes) <= 200


@settings(max_examples=10)
@given(st.lists(st.lists(st.sampled_from(LONG.split()), max_size=40).map(" ".join), max_size=8), st.integers(64, 400))
def test_a_text_has_the_same_probability_in_any_company(model, texts, budget) -> None:
    with patch.object(language_model, "BATCH_TOKENS", budget):
        together = model.logprobs([("", text) for text in texts])
    for text, scored in zip(texts, together, strict=True):
        np.testing.assert_allclose(scored.logprobs, model.logprobs([("", text)])[0].logprobs, atol=1e-4)


def test_offsets_are_characters_of_the_continuation(model) -> None:
    scored = model.logprobs([("A 😀 dog", " saw the cat")])[0]
    continuation = " saw the cat"
    assert "".join(continuation[a:b] for a, b in scored.offsets).replace(" ", "") == "sawthecat"
    assert scored.offsets[0, 0] in (0, 1)


def test_a_context_is_scored_with_its_continuation(model) -> None:
    whole, part = model.logprobs([("", "The cat sat on the mat."), ("The cat sat", " on the mat.")])
    assert part.tokens == whole.tokens[-len(part.tokens) :]
    np.testing.assert_allclose(part.logprobs, whole.logprobs[-len(part.tokens) :], atol=1e-4)


def test_bos_and_eos_are_switched(folder) -> None:
    text = "The cat sat"
    _, with_bos = alone(folder, text)
    _, without = alone(folder, text, begin=False)
    (plain,) = CausalLM(folder, "cpu", bos=False).logprobs([("", text)])
    assert plain.logprobs[0] == without[0] == 0
    np.testing.assert_allclose(plain.logprobs, without, atol=1e-4)
    (ended,) = CausalLM(folder, "cpu", eos=True).logprobs([("", text)])
    assert (ended.tokens[-1], ended.offsets[-1].tolist()) == ("<|endoftext|>", [len(text)] * 2)
    np.testing.assert_allclose(ended.logprobs[:-1], with_bos, atol=1e-4)


def test_a_change_of_speaker_is_the_separator_and_changes_no_other_token(model) -> None:
    texts = ["The cat sat. [SEP] Then it slept.", "[SEP] Then it slept. [SEP]", "The cat sat. [SEP] [SEP] Then"]
    for text, scored in zip(texts, model.logprobs([("", text) for text in texts]), strict=True):
        marks = [at for at, token in enumerate(scored.tokens) if token == "<|endoftext|>"]  # GPT-2 has no SEP
        assert [text[a:b] for a, b in scored.offsets[marks]] == ["[SEP]"] * text.count("[SEP]")
        (plain,) = model.logprobs([("", text.replace(" [SEP]", "").replace("[SEP]", ""))])
        assert np.delete(scored.tokens, marks).tolist() == plain.tokens
        assert [text[a:b] for a, b in np.delete(scored.offsets, marks, 0)] == [
            text.replace(" [SEP]", "").replace("[SEP]", "")[a:b] for a, b in plain.offsets
        ]
    pieces = [model.tokenizer(part)["input_ids"] for part in ("The cat sat.", " Then it slept.")]
    row, end = [model.begin, *pieces[0], model.tokenizer.eos_token_id, *pieces[1]], len(pieces[0]) + 1
    with torch.inference_mode():
        logits = model.model(torch.tensor([row])).logits[0].double().log_softmax(1)
    expected = [float(logits[at - 1, row[at]]) / math.log(2) for at in range(1, len(row))]
    (scored,) = model.logprobs([("The cat sat. [SEP]", " Then it slept.")])
    np.testing.assert_allclose(scored.logprobs, expected[end:], atol=1e-4)
    (plain,) = model.logprobs([("", "Is it [SEP], or [SEP]s?")])  # no word by itself
    assert "<|endoftext|>" not in plain.tokens


def test_a_change_of_speaker_is_read_as_it_is_written_where_it_is_no_separator(folder) -> None:
    text = "The cat sat. [SEP] Then it slept."
    (scored,) = CausalLM(folder, "cpu", bos=False, separator=False).logprobs([("", text)])
    ids, expected = alone(folder, text, begin=False)
    assert "".join(text[a:b] for a, b in scored.offsets) == text
    assert len(scored.tokens) == len(ids)
    np.testing.assert_allclose(scored.logprobs, expected, atol=1e-4)


def test_a_tokenizer_with_a_separator_has_it_where_the_speaker_changes(folder, tmp_path) -> None:
    import transformers

    shutil.copytree(folder, tmp_path / "lm")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.sep_token = tokenizer.convert_ids_to_tokens(7)
    tokenizer.save_pretrained(tmp_path / "lm")
    (scored,) = CausalLM(tmp_path / "lm", "cpu").logprobs([("", "The cat [SEP] sat")])
    assert scored.tokens.count(tokenizer.sep_token) == 1


def test_a_text_longer_than_the_context_is_read_in_windows(tmp_path, capsys) -> None:
    model = CausalLM(gpt2(tmp_path, context=10), "cpu")
    text = " ".join(TEXT[:3])
    capsys.readouterr()  # of loading
    model.logprobs([("", text[:20])])
    assert capsys.readouterr().err == ""
    ((scored,), _) = model.logprobs([("", text)]), model.logprobs([("", f"{text} {text}"), ("", text)])
    message = "texts longer than the model's context are read in windows of 10 that begin every 5 tokens"
    assert capsys.readouterr().err == f"lm:{tmp_path}: {message}\n"  # once
    assert model.long_texts == {("", text), ("", f"{text} {text}")}
    row = [model.begin, *model.tokenizer(text, add_special_tokens=False)["input_ids"]]
    expected = []
    for at in range(1, len(row)):
        start = 0 if at < 10 else 5 * math.ceil((at - 9) / 5)  # the first window that holds the token
        with torch.inference_mode():
            logits = model.model(torch.tensor([row[start:at]])).logits[0, -1].double()
        expected.append(float(logits.log_softmax(0)[row[at]]) / math.log(2))
    np.testing.assert_allclose(scored.logprobs, expected, atol=1e-4)


ROBERTA = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 10}


@pytest.mark.parametrize(("of", "sizes", "context"), [
    ("RobertaForCausalLM", {**ROBERTA, "is_decoder": True}, 8),  # two positions are of padding
    ("MptForCausalLM", {"d_model": 32, "n_layers": 1, "n_heads": 2, "max_seq_len": 10}, 10),
])  # fmt: skip
def test_the_context_is_as_long_as_the_model_has_positions(of, sizes, context, folder, tmp_path) -> None:
    path = tmp_path / "model"
    shutil.copytree(folder, path, ignore=shutil.ignore_patterns(WEIGHTS, "config.json"))
    model = CausalLM(save(path, of, vocab_size=300, **sizes))
    ((scored,), length) = model.logprobs([("", LONG)]), len(model.tokenizer(LONG)["input_ids"])
    assert (model.context, len(scored.logprobs)) == (context, length)


def _own_code(path: Path) -> None:
    config = json.loads((path / "config.json").read_text())
    code = {"model_type": "own", "auto_map": {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}}
    (path / "config.json").write_text(json.dumps({**config, **code}))
    (path / "own.py").write_text(f"from pathlib import Path\nPath({str(path / 'ran')!r}).touch()\n")


def _sees_ahead(path: Path) -> None:
    for name in (WEIGHTS, "config.json"):
        (path / name).unlink()
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 20}
    save(path, "BertLMHead", vocab_size=300, is_decoder=False, **sizes)


def _fewer_words(path: Path) -> None:
    (path / WEIGHTS).unlink()
    save(path, "GPT2LMHead", vocab_size=200, n_positions=64, n_embd=32, n_layer=2, n_head=2)


SPOILED: dict[str, Callable[[Path], object]] = {
    "no tokenizer": lambda path: (path / "tokenizer.json").unlink(),
    "no weights": lambda path: (path / WEIGHTS).unlink(),
    "pickled": lambda path: (path / WEIGHTS).rename(path / "pytorch_model.bin"),
    "cut off": lambda path: (path / WEIGHTS).write_bytes((path / WEIGHTS).read_bytes()[:1000]),
    "no JSON": lambda path: (path / "config.json").write_text("{"),
    "code of its own": _own_code,
    "a model that sees the next word": _sees_ahead,
    "fewer words": _fewer_words,
    "nothing": shutil.rmtree,
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_a_folder_without_a_causal_model_is_refused_in_one_line(folder, tmp_path, spoil) -> None:
    path = tmp_path / "model"
    shutil.copytree(folder, path)
    spoil(path)
    with pytest.raises(InputError, match=f"lm:{path}: ") as caught:
        CausalLM(path, "cpu")
    assert "\n" not in str(caught.value)
    assert not (path / "ran").exists()
