import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from datamodules.seq2seq import TextPairs
from encoders.bov import BagOfVectors
from encoders.embedding import WordEmbedding
from objectives.decoder import Decoder
from objectives.skipthought import SkipThought
from tests.silent import validation_scores
from tests.tiny_corpus import TinyCorpus

BEGIN, END = 2, 3


def decoder(size: int = 9) -> Decoder:
    torch.manual_seed(1)
    return Decoder([1] * size, sentence_dim=5, embedding_dim=4, hidden=6, layers=2, dropout=0.0).eval()


@pytest.mark.parametrize("training", [True, False])
def test_all_gold_tokens_at_once_give_the_states_of_one_step_at_a_time(training) -> None:
    model, sentence = decoder(), torch.randn(3, 5)
    inputs = torch.randint(1, 9, (3, 7))
    with torch.set_grad_enabled(training):
        fused, _ = model(sentence, inputs)
    state, steps = None, []
    for step in range(7):
        hidden, state = model(sentence, inputs[:, step : step + 1], state)
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


def test_every_step_sees_the_sentence() -> None:
    model, sentence = decoder(), torch.randn(1, 5, requires_grad=True)
    hidden, _ = model(sentence, torch.tensor([[BEGIN, 4, 5]]))
    (through_first_layer,) = torch.autograd.grad(hidden[0, 2].sum(), sentence)
    assert (through_first_layer != 0).all()


def test_greedy_decoding_takes_the_most_likely_token_and_stops_at_the_end() -> None:
    model, sentence = decoder(), torch.randn(4, 5)
    nn.init.normal_(model.output.bias, std=2.0)
    produced = model.greedy(sentence, BEGIN, END, limits=torch.full((4,), 12))
    for row, tokens in enumerate(produced):
        fed = torch.tensor([[BEGIN, *tokens]])
        best = functional.log_softmax(model.output(model(sentence[row : row + 1], fed)[0]), 2).argmax(2)[0].tolist()
        assert best[: len(tokens)] == tokens
        assert END not in tokens
        assert len(tokens) == 12 or best[len(tokens)] == END


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
