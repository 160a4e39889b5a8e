"""The tokens of lm:PATH: the characters of a text, for four kinds of tokenizers, and rows as trees of beginnings."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from encoders.language_model import CausalLM
from encoders.prefix_trees import prefix_tree, prefix_trees
from probes.coherence.regions import regions_of, text_of
from tests.encoders.small_language_models import save

TEXT = ["the cat sat on the mat .", "a naïve cat — she sat 😀 there", "where is the mat ?", "sat on it, then left"] * 20
SPECIAL = ["[UNK]", "[BOS]", "[EOS]"]
WORD = st.sampled_from(["the", "cat", "mat", ".", "naïve", "😀", "—", "sat", "itchy", "THE", "mat?"])
REGIONS = st.lists(st.lists(WORD, max_size=3).map(" ".join), min_size=1, max_size=4).filter(any)
ROWS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=9).map(tuple), unique=True, max_size=12)


def byte_level_bpe() -> tuple[Tokenizer, trainers.Trainer]:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return tokenizer, trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, special_tokens=SPECIAL)


def wordpiece() -> tuple[Tokenizer, trainers.Trainer]:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer, trainers.WordPieceTrainer(vocab_size=90, special_tokens=SPECIAL)


def unigram() -> tuple[Tokenizer, trainers.Trainer]:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()  # as SentencePiece has it
    return tokenizer, trainers.UnigramTrainer(vocab_size=80, special_tokens=SPECIAL, unk_token="[UNK]")


def whole_words() -> tuple[Tokenizer, trainers.Trainer]:
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer, trainers.WordLevelTrainer(special_tokens=SPECIAL)


FAMILIES: list[Callable[[], tuple[Tokenizer, trainers.Trainer]]] = [byte_level_bpe, wordpiece, unigram, whole_words]


@pytest.fixture(scope="module", params=FAMILIES, ids=lambda family: family.__name__)
def model(request, tmp_path_factory) -> CausalLM:
    import transformers

    folder = tmp_path_factory.mktemp(request.param.__name__)
    tokenizer, trainer = request.param()
    tokenizer.train_from_iterator(TEXT, trainer)
    ends = {"unk_token": SPECIAL[0], "bos_token": SPECIAL[1], "eos_token": SPECIAL[2]}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **ends).save_pretrained(folder)
    sizes = {"n_positions": 128, "n_embd": 16, "n_layer": 1, "n_head": 2}
    return CausalLM(save(folder, "GPT2LMHead", vocab_size=tokenizer.get_vocab_size(), **sizes), "cpu")


def one_at_a_time(model: CausalLM, regions: list[str]) -> list[float]:
    """The bits of each region: the whole text in one row, a token where its first character is."""
    text, edges = "", []
    for number, region in enumerate(regions):
        piece = (" " if text else "") + region if region else ""
        edges += [number] * len(piece)
        text += piece
    encoded = model.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    row = [model.tokenizer.bos_token_id, *encoded["input_ids"]]
    with torch.inference_mode():
        logs = model.model(torch.tensor([row])).logits[0].double().log_softmax(1) / math.log(2)
    bits = [0.0] * len(regions)
    for at, (start, _) in enumerate(encoded["offset_mapping"], 1):
        bits[edges[start]] -= float(logs[at - 1, row[at]])
    return bits


@settings(max_examples=12)
@given(REGIONS)
def test_each_region_has_the_bits_of_one_text_at_a_time_and_tokens_of_its_characters_alone(model, regions) -> None:
    text = text_of(regions)
    (scored,) = model.logprobs([("", text)])
    owners = regions_of(scored.offsets[:, 0], regions)
    sums = np.bincount(owners, -scored.logprobs, minlength=len(regions))
    np.testing.assert_allclose(sums, one_at_a_time(model, regions), atol=1e-4)
    for number, region in enumerate(regions):
        inside = {at for start, end in scored.offsets[owners == number] for at in range(start, end)}
        assert "".join(text[at] for at in sorted(inside)).replace(" ", "") == region.replace(" ", "")


@settings(max_examples=12)
@given(REGIONS, REGIONS)
def test_a_change_of_speaker_adds_one_token_in_the_first_region(model, first, second) -> None:
    texts = text_of(first), text_of(second)
    plain, marked = model.logprobs([("", " ".join(texts)), ("", f"{texts[0]} [SEP] {texts[1]}")])
    changed = regions_of(marked.offsets[:, 0], [f"{texts[0]} [SEP]", texts[1]])
    together = regions_of(plain.offsets[:, 0], texts)
    assert marked.tokens.count("[EOS]") == 1  # it has no SEP
    assert (np.bincount(changed) - np.bincount(together)).tolist() == [1, 0]
    assert [token for token in marked.tokens if token != "[EOS]"] == plain.tokens


def test_two_rows_that_begin_alike_are_one_tree() -> None:
    tree = prefix_tree([(5, 6, 7), (5, 6, 8, 9)])
    assert (tree.ids.tolist(), tree.parents.tolist()) == ([5, 6, 7, 8, 9], [-1, 0, 1, 1, 3])
    assert tree.depths.tolist() == [0, 1, 2, 2, 3]
    assert [path.tolist() for path in tree.paths] == [[0, 1, 2], [0, 1, 3, 4]]


@given(ROWS, st.integers(1, 20))
def test_a_token_sees_the_tokens_before_it_in_its_rows_alone(rows, most) -> None:
    trees = list(prefix_trees(rows, most))
    assert sorted(row for tree in trees for row in tree.rows) == sorted(rows)
    for tree in trees:
        assert len(tree.ids) <= most or len(tree.rows) == 1
        assert len(tree.ids) == len({row[:end] for row in tree.rows for end in range(1, len(row) + 1)})
        sees = tree.attention_mask()
        for row, path in zip(tree.rows, tree.paths, strict=True):
            assert tuple(tree.ids[path]) == row
            assert tree.depths[path].tolist() == list(range(len(row)))
            for number, place in enumerate(path):
                assert np.flatnonzero(sees[place]).tolist() == path[: number + 1].tolist()
