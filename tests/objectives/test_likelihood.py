"""Run decoders as language models: the bits of a text, sentence after sentence."""

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from datamodules.discourse import SentencesInDocuments
from datamodules.seq2seq import TextPairs
from datamodules.text.sentences import sentence_spans
from datamodules.text.subwords import BEGIN, Subwords
from encoders.bilstm import BiLSTM
from encoders.embedding import WordEmbedding
from encoders.frozen import FrozenEncoder
from objectives.discourse import Discourse
from objectives.likelihood import TextLikelihood
from objectives.objective import Objective
from objectives.skipthought import NextSentence, SkipThought
from probes.surprisals import score_pairs
from tests.test_every_objective import composed
from tests.tiny_corpus import TinyCorpus

TEXTS = ["the dog sees a cat . the bird hears . the dog likes a fish .", "the cat hears ! the unseen bird likes ."]
TEXTS += ["dog1 dog1 .", "the dog sees a cat . a", "the fish sees . the bird hears . the dog likes a fish ."]
SAID = ["a dog .", "it ran !", "Mr. Smith saw J. R. .", "( who ? )", "\u201c so \u201d he said .", "he left."]
SAID += ["hi [SEP]"]


def network(data: TextPairs | SentencesInDocuments) -> tuple[BiLSTM, WordEmbedding]:
    torch.manual_seed(1)
    words = WordEmbedding(np.random.default_rng(1).normal(size=(len(data.vocabulary), 6)))
    return BiLSTM(6, dim=8, layers=1, projection=None), words


def frozen(module: Objective, data: TextPairs | SentencesInDocuments) -> FrozenEncoder:
    return FrozenEncoder(module.encoder, module.embedding, data.vocabulary)


@pytest.fixture(scope="module")
def skipthought(tmp_path_factory) -> tuple[SkipThought, FrozenEncoder]:
    data = TextPairs(TinyCorpus(), "next", tmp_path_factory.mktemp("pairs"), seed=1, codes=60)
    module = SkipThought(*network(data), data, None, 1, 5, 7, 2, dropout=0.5)
    module.decoder.output.weight.data.mul_(5)  # so that a token depends much on what is before it
    return module.train(), frozen(module, data)


@pytest.fixture(scope="module")
def discourse(tmp_path_factory) -> tuple[Discourse, FrozenEncoder]:
    data = SentencesInDocuments(TinyCorpus(), tmp_path_factory.mktemp("documents"), seed=1)
    module = Discourse(*network(data), data, None, 1, ["nsp"], hidden=9, dropout=0.5)
    return module.train(), frozen(module, data)


def pairs(texts: Sequence[str]) -> list[tuple[str, str]]:
    return [("", text) for text in texts]


def test_sentences_end_at_a_mark_and_its_closing_quotes() -> None:
    sentences = ["He left .", "`` Why ? ''", "( No . )", "Mr. J. Smith said ...", "hello.\u201d", "Yes [SEP]", "no"]
    text = " ".join(sentences)
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences
    assert list(sentence_spans("  ")) == []


@given(st.lists(st.sampled_from(SAID), min_size=1, max_size=6))
def test_a_text_has_the_sentences_it_is_made_of_in_any_order(sentences) -> None:
    text = " ".join(sentences)
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


@cache
def subwords(folder: Path) -> Subwords:
    texts = ["the caf\u00e9 sat \U0001f600 .", "a na\u00efve th\u00e9"] * 20
    return Subwords.train(texts, folder / "subwords.model", 40)


PIECES = st.lists(st.text("the caf\u00e9\U0001f600\u5b57.", min_size=1), min_size=1)


@given(sentence=PIECES.map(lambda pieces: " ".join(" ".join(pieces).split())))
def test_the_characters_of_subwords_follow_one_another_to_the_end(tmp_path_factory, sentence) -> None:
    codes = subwords(tmp_path_factory.getbasetemp())
    pieces = codes.pieces(sentence)
    assert "".join(sentence[piece.first : piece.end] for piece in pieces) == sentence
    assert [piece.id for piece in pieces] == next(codes.encode_all([sentence]))[1:-1]
    for piece in pieces:
        assert piece.id == 1 or sentence[piece.first : piece.end].strip() == piece.text.strip("\u2581")


def plain_skipthought(module: SkipThought, encoder: FrozenEncoder, text: str, ends: bool = False) -> list[float]:
    """One sentence and one token at a time, without batches."""
    module.eval()
    bits, vector = [], torch.zeros(1, encoder.dim)
    for start, end in sentence_spans(text):
        sentence, state = text[start:end], None
        token = torch.tensor([[BEGIN]])
        for gold in next(module.data.subwords.encode_all([sentence]))[1 : None if ends else -1]:
            hidden, state = module.decoder(vector, token, state)
            bits.append(-float(module.decoder.output(hidden[0, 0]).double().log_softmax(0)[gold]) / math.log(2))
            token = torch.tensor([[gold]])
        vector = torch.from_numpy(encoder.encode([sentence]))
    module.train()
    return bits


def plain_discourse(module: Discourse, encoder: FrozenEncoder, text: str) -> list[float]:
    """The softmax of the head over all words, one word at a time."""
    module.eval()
    words = (module.data.folder / "source.bag.txt").read_text().split("\n")[:-1]
    bits, vector = [], torch.zeros(1, encoder.dim)
    for start, end in sentence_spans(text):
        shares = module.heads["nsp_next"](vector)[0].double().softmax(0)
        for word in text[start:end].lower().split():
            bits.append(-math.log2(shares[2 + words.index(word) if word in words else 1]))
        vector = torch.from_numpy(encoder.encode([text[start:end]]))
    module.train()
    return bits


@torch.no_grad()
def test_a_decoder_has_the_bits_of_one_sentence_and_one_token_at_a_time(skipthought) -> None:
    module, encoder = skipthought
    result = TextLikelihood(encoder.encode, module.likelihood()).logprobs(pairs(TEXTS))
    ending = TextLikelihood(encoder.encode, NextSentence(module.decoder, module.data.subwords, ends=True))
    for text, scored, whole in zip(TEXTS, result, ending.logprobs(pairs(TEXTS)), strict=True):
        np.testing.assert_allclose(-scored.logprobs, plain_skipthought(module, encoder, text), atol=1e-4)
        np.testing.assert_allclose(-whole.logprobs, plain_skipthought(module, encoder, text, ends=True), atol=1e-4)
        marks = [span for span, name in zip(whole.offsets.tolist(), whole.tokens, strict=True) if name == "</s>"]
        assert marks == [[end - 1, end] for _, end in sentence_spans(text)]  # of the sentence, not of the next region


@torch.no_grad()
def test_the_nsp_loss_has_the_bits_of_one_word_at_a_time(discourse) -> None:
    module, encoder = discourse
    result = TextLikelihood(encoder.encode, module.likelihood()).logprobs(pairs(TEXTS))
    for text, scored in zip(TEXTS, result, strict=True):
        np.testing.assert_allclose(-scored.logprobs, plain_discourse(module, encoder, text), atol=1e-4)
        assert scored.tokens == text.split()


@pytest.mark.parametrize("which", ["skipthought", "discourse"])
def test_a_context_is_read_and_not_scored(request, which) -> None:
    module, encoder = request.getfixturevalue(which)
    model = TextLikelihood(encoder.encode, module.likelihood())
    for text in TEXTS:
        cut = text.index(" ", len(text) // 2)
        ((_, offsets, bits),) = model.logprobs(pairs([text]))
        ((_, shifted, later),) = model.logprobs([(text[:cut], text[cut:])])
        np.testing.assert_allclose(later, bits[offsets[:, 0] >= cut], atol=1e-5)
        np.testing.assert_array_equal(shifted + cut, offsets[offsets[:, 0] >= cut])


def test_the_vector_before_matters_and_only_that_one(skipthought) -> None:
    module, encoder = skipthought
    before = "the cat hears . the dog sees", "the bird likes . the dog sees", "a . cat"
    texts = pairs([f"{first} . a fish ." for first in before])
    result = TextLikelihood(encoder.encode, module.likelihood()).logprobs(texts)
    size = len(module.data.subwords.pieces("a fish ."))
    first, same, other = (scored.logprobs[-size:] for scored in result)
    np.testing.assert_array_equal(first, same)  # a last sentence after the same one ties exactly
    assert np.abs(first - other).max() > 1e-3


def test_each_sentence_is_encoded_once_and_scored_once_after_each_other_one(skipthought) -> None:
    module, encoder = skipthought
    likelihood, encoded, rows = module.likelihood(), list[str](), list[list[int]]()

    class Counted(NextSentence):
        def log_probabilities(self, vectors: torch.Tensor, ids: Sequence[list[int]]) -> torch.Tensor:
            rows.extend(ids)
            return super().log_probabilities(vectors, ids)

    def encode(sentences: list[str]) -> np.ndarray:
        encoded.extend(sentences)
        return encoder.encode(sentences)

    counted = TextLikelihood(encode, Counted(likelihood.network, likelihood.subwords))
    score_pairs(counted.logprobs, pairs([*TEXTS, *TEXTS]))
    spans = [[text[start:end] for start, end in sentence_spans(text)] for text in TEXTS]
    assert sorted(encoded) == sorted({sentence for text in spans for sentence in text[:-1]})
    assert len(rows) == len({link for text in spans for link in zip(["", *text[:-1]], text, strict=True)})


def test_scoring_changes_neither_modes_nor_random_numbers(skipthought) -> None:
    module, encoder = skipthought
    modes = [part.training for part in module.modules()]
    state = torch.get_rng_state()
    model = TextLikelihood(encoder.encode, module.likelihood())
    first, second = (model.logprobs(pairs(TEXTS[:1]))[0].logprobs for _ in range(2))
    np.testing.assert_array_equal(first, second)  # no dropout
    assert [part.training for part in module.modules()] == modes
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize(("settings", "why"), [
    (["objective=nmt_enfr"], "translation or a copy"),
    (["objective=autoencoder"], "translation or a copy"),
    (["objective=seq2tree"], "the tree of a sentence"),
    (["objective=nli"], "labels pairs"),
    (["objective=untrained"], "not trained"),
    (["objective=multitask"], "several objectives"),
    (["objective=discourse", "objective.losses=[spp,nl]"], "only nsp predicts words"),
    (["objective=skipthought", "objective.attention=true"], "attends over the words"),
    (["objective=skipthought", "encoder=bilstm_att"], "attends over the words"),
    (["objective=skipthought"], ""),
    (["objective=discourse"], ""),
])  # fmt: skip
def test_an_objective_without_a_likelihood_says_why(settings, why) -> None:
    from hydra.utils import get_class

    config = composed(*settings)
    message = get_class(config.objective._target_).without_likelihood(config)
    assert why in message
    assert bool(message) == bool(why)
