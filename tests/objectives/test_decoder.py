import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from datamodules.seq2seq import TextPairs
from datamodules.seq2tree import SentenceTrees
from encoders.bov import BagOfVectors
from encoders.embedding import WordEmbedding
from objectives.decoder import Attention, Decoder, Memory
from objectives.seq2tree import Seq2Tree
from objectives.skipthought import SkipThought
from tests.silent import validation_scores
from tests.tiny_corpus import TinyCorpus

BEGIN, END = 2, 3
LONG = "(ROOT (S (NP DT NN )NP (VP VBZ (NP DT NN )NP )VP . )S )ROOT"  # 12 of the dev trees; 4 brackets
SHORT = "(ROOT (S (NP DT NN )NP (VP VBZ )VP . )S )ROOT"  # the 12 others; 3 brackets


def decoder(size: int = 9) -> Decoder:
    torch.manual_seed(1)
    return Decoder([1] * size, sentence_dim=5, embedding_dim=4, hidden=6, layers=2, dropout=0.0).eval()


@pytest.mark.parametrize("attends", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_all_gold_tokens_at_once_give_the_states_of_one_step_at_a_time(training, attends) -> None:
    model, sentence, inputs = attending() if attends else decoder(), torch.randn(2, 5), torch.randint(1, 9, (2, 7))
    states = memory() if attends else None
    with torch.set_grad_enabled(training):
        fused, _ = model(sentence, inputs, memory=states)
    state, steps = None, []
    for step in range(7):
        hidden, state = model(sentence, inputs[:, step : step + 1], state, states)
        steps.append(hidden)
    torch.testing.assert_close(fused, torch.cat(steps, 1))


def test_the_decoder_is_the_lstm_of_the_equations() -> None:
    model, sentence, token = decoder(), torch.randn(1, 5), torch.tensor([[4]])
    x = torch.cat([model.embedding.weight[4], sentence[0]])
    for layer in range(2):
        weight, bias = getattr(model.lstm, f"weight_ih_l{layer}"), getattr(model.lstm, f"bias_ih_l{layer}")
        i, _, g, o = (weight @ x + bias + getattr(model.lstm, f"bias_hh_l{layer}")).chunk(4)
        x = torch.sigmoid(o) * torch.tanh(torch.sigmoid(i) * torch.tanh(g))
    torch.testing.assert_close(model(sentence, token)[0][0, 0], x)


def test_the_loss_counts_real_tokens_only() -> None:
    model, sentence = decoder(), torch.randn(2, 5)
    targets = torch.tensor([[BEGIN, 4, 5, END], [BEGIN, 6, END, 0]])
    nats, tokens = model.loss(sentence, targets)
    alone = [model.loss(sentence[:1], targets[:1])[0], model.loss(sentence[1:], targets[1:, :3])[0]]
    assert tokens == 5
    torch.testing.assert_close(nats, sum(alone))


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(1, 12), min_size=8, max_size=12), st.sampled_from([None, torch.bfloat16]))
def test_each_token_costs_what_it_costs_with_its_sentence_alone(lengths, autocast) -> None:
    model, sentences = decoder(), torch.randn(len(lengths), 5)
    rows = [torch.randint(1, 9, (length + 1,)) for length in lengths]
    with torch.autocast("cpu", autocast, enabled=autocast is not None):
        packed = model.token_nats(sentences, nn.utils.rnn.pad_sequence(rows, batch_first=True))
        alone = [model.token_nats(sentences[i : i + 1], row[None])[0] for i, row in enumerate(rows)]
    tolerance = {"atol": 1e-2, "rtol": 0} if autocast else {}
    torch.testing.assert_close(packed, nn.utils.rnn.pad_sequence(alone, batch_first=True), **tolerance)


@pytest.mark.parametrize("attends", [True, False])
def test_greedy_decoding_takes_the_most_likely_token_and_stops_at_the_end(attends) -> None:
    model, sentence = attending() if attends else decoder(), torch.randn(8, 5)
    states = Memory(torch.randn(8, 4, 3), torch.tensor([4, 2] * 4)) if attends else None
    nn.init.normal_(model.output.bias, std=2.0)
    limits = [12, 5, 0, 12, 1, 12, 7, 12]
    for row, tokens in enumerate(model.greedy(sentence, BEGIN, END, torch.tensor(limits), states)):
        fed, alone = torch.tensor([[BEGIN, *tokens]]), states and Memory(*(part[row : row + 1] for part in states))
        best = model.output(model(sentence[row : row + 1], fed, memory=alone)[0]).argmax(2)[0].tolist()
        assert best[: len(tokens)] == tokens
        assert END not in tokens
        assert len(tokens) == limits[row] or best[len(tokens)] == END


def test_before_training_the_prediction_follows_the_frequencies_of_the_targets() -> None:
    torch.manual_seed(0)
    decoder = Decoder([0, 0, 0, 900, 90, 9], sentence_dim=5, embedding_dim=4, hidden=6, dropout=0.0).eval()
    hidden, _ = decoder(torch.zeros(1, 5), torch.tensor([[1]]))
    likely = decoder.output(hidden)[0, 0].softmax(0)
    assert likely.argsort(descending=True).tolist()[:3] == [3, 4, 5]
    assert likely[3] > 0.6


def test_a_constant_decoder_has_the_perplexity_of_its_vocabulary(tmp_path) -> None:
    data = TextPairs(TinyCorpus(), "next", tmp_path, seed=1, codes=40)
    module = SkipThought(
        BagOfVectors(3), WordEmbedding(np.ones((len(data.vocabulary), 3))), data, torch.optim.Adam, 1, 4, 4, 1
    )
    for weight in module.decoder.output.parameters():
        torch.nn.init.zeros_(weight)
    scores = validation_scores(module, data)
    assert scores["val/perplexity"] == pytest.approx(data.subwords.size)
    assert scores["val/loss"] == pytest.approx(math.log(data.subwords.size))


@pytest.fixture
def module(tmp_path) -> Seq2Tree:
    data = SentenceTrees(TinyCorpus(), tmp_path, seed=1)
    embedding = WordEmbedding(np.ones((len(data.vocabulary), 3)))
    sizes = {"decoder_embedding": 3, "decoder_hidden": 4, "decoder_layers": 1}
    return Seq2Tree(BagOfVectors(3), embedding, data, torch.optim.Adam, 1, **sizes)


def scores(module: Seq2Tree, says: list[str]) -> dict[str, float]:
    """Validation scores of a decoder that says these trees for the long and for the short sentences, by turns."""
    rows = [module.data.symbols.rows(text) for text in says]
    module.decoder.greedy = lambda vector, *_: [rows[i % len(rows)] for i in range(len(vector))]
    return validation_scores(module, module.data)


def test_right_brackets_are_counted_over_well_formed_trees(module) -> None:
    """Always the short tree: of a long one S and VP end too early, NP is right, so 1 of 3 produced and 4 gold."""
    result = scores(module, [SHORT])
    assert result["val/exact_match"] == pytest.approx(50)
    assert result["val/well_formed"] == pytest.approx(100)
    assert result["val/bracket_f1"] == pytest.approx(100 * 2 * (1 + 3) / (3 + 3 + 4 + 3))


def test_ill_formed_trees_count_as_such_and_not_for_f1(module) -> None:
    result = scores(module, [SHORT, "(ROOT (S NN"])
    assert result["val/well_formed"] == pytest.approx(50)
    assert result["val/exact_match"] == pytest.approx(25)
    assert 0 < result["val/bracket_f1"] < 100
    assert scores(module, [""])["val/bracket_f1"] == 0


def test_accuracy_is_per_symbol_given_the_gold_ones(module) -> None:
    np_closed = module.data.symbols.rows(")NP")[0]
    torch.nn.init.zeros_(module.decoder.output.weight)
    module.decoder.output.bias.data = torch.eye(module.data.target_size)[np_closed]
    result = scores(module, [SHORT])
    assert result["val/accuracy"] == pytest.approx(100 * (2 + 1) / (len(LONG.split()) + 1 + len(SHORT.split()) + 1))


def memory() -> Memory:
    states = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(2))
    states[1, 2:] = 77.0  # padding
    return Memory(states, torch.tensor([4, 2]))


def attending() -> Decoder:
    torch.manual_seed(1)
    return Decoder([1] * 9, sentence_dim=5, embedding_dim=4, hidden=6, layers=2, dropout=0.0, attends_over=3).eval()


def test_attention_is_the_sum_of_states_weighted_by_their_score() -> None:
    torch.manual_seed(0)
    attention, queries, (states, lengths) = Attention(5, 3), torch.randn(2, 6, 5), memory()
    for b in range(2):
        for u in range(6):
            words = states[b, : lengths[b]]
            scores = torch.stack([(attention.score.weight @ queries[b, u]) @ word for word in words])
            context = sum(weight * word for weight, word in zip(scores.exp() / scores.exp().sum(), words, strict=True))
            expected = torch.tanh(attention.combine.weight @ torch.cat([context, queries[b, u]]))
            torch.testing.assert_close(attention(queries, Memory(states, lengths))[b, u], expected)


def test_the_loss_reaches_every_word_of_the_source() -> None:
    model, (states, lengths) = attending(), memory()
    states.requires_grad_()
    nats, _ = model.loss(torch.randn(2, 5), torch.tensor([[BEGIN, 4, END], [BEGIN, 5, END]]), Memory(states, lengths))
    (slope,) = torch.autograd.grad(nats, states)
    assert (slope.abs().sum(2) > 0).tolist() == [[True] * 4, [True, True, False, False]]
