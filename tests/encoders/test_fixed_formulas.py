"""Encoders with fixed formulas: BOREP, echo state, PyTorch's transformer, poolings; numbers of weights by hand."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hydra.utils import instantiate
from omegaconf import OmegaConf
from torch import nn, tensor

from encoder_lab.errors import InputError
from encoders.bov import BagOfVectors
from encoders.embedding import WordEmbedding
from encoders.gated_convnet import sinusoidal_positions
from encoders.packed import pack
from encoders.pooling import end_pool, last_pool, max_pool, mean_pool, packed_mean_pool
from encoders.random_features import BOREP, EchoState
from encoders.transformer import PreNormLayer, TransformerEncoder
from tests.asked import composed

MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)
#        sentence 1: two words and padding          sentence 2: three words
STATES = tensor([[[-1.0, 2, 5, 1], [-3, 4, 0, 2], [9, 9, 9, 9]], [[1, 1, 1, 1], [2, 0, 2, 0], [6, -1, 0, -1]]])
LENGTHS = tensor([2, 3])


def test_borep_is_the_maximum_of_projected_words() -> None:
    torch.manual_seed(1)
    encoder, words = BOREP(4, dim=6), torch.randn(1, 3, 4)
    expected = torch.stack([encoder.projection.T @ word for word in words[0]]).amax(0)
    torch.testing.assert_close(encoder(words, torch.tensor([3])).vector[0], expected)
    assert encoder.projection.abs().max() <= 1 / 2  # 1 / sqrt(4)


def test_an_echo_state_is_that_of_its_formula() -> None:
    torch.manual_seed(1)
    encoder, words = EchoState(4, dim=6), torch.randn(1, 2, 4)
    (w, v, b, _), (w_back, v_back, b_back, _) = (list(layer.parameters()) for layer in encoder.directions)
    first = torch.tanh(w @ words[0, 0] + b)
    second = torch.tanh(w @ words[0, 1] + b + v @ first)
    last = torch.tanh(w_back @ words[0, 1] + b_back)
    before = torch.tanh(w_back @ words[0, 0] + b_back + v_back @ last)
    states = torch.stack([torch.cat([first, before]), torch.cat([second, last])])
    encoded = encoder(words, torch.tensor([2]))
    torch.testing.assert_close(encoded.states[0], states)
    torch.testing.assert_close(encoded.vector[0], states.amax(0))
    assert not any(weight.requires_grad for weight in encoder.parameters())


@pytest.mark.parametrize("density", [1.0, 0.25])
def test_the_recurrent_weights_have_their_spectral_radius_and_density(density) -> None:
    torch.manual_seed(1)
    for layer in EchoState(4, dim=800, radius=0.7, density=density).directions:
        weights = layer.get_parameter("weight_hh_l0")
        assert torch.linalg.eigvals(weights).abs().max() == pytest.approx(0.7, rel=0.1)
        assert float((weights != 0).float().mean()) == pytest.approx(density, abs=0.01)


def layer_of_torch(ours: PreNormLayer, dim: int, heads: int, feed_forward: int) -> nn.TransformerEncoderLayer:
    """PyTorch's pre-norm layer with the weights of one of ours."""
    form = {"activation": "gelu", "batch_first": True, "norm_first": True}
    theirs = nn.TransformerEncoderLayer(dim, heads, feed_forward, **form).eval()
    attention = theirs.self_attn
    attention.in_proj_weight.data, attention.in_proj_bias.data = ours.attended.weight, ours.attended.bias
    attention.out_proj.weight.data, attention.out_proj.bias.data = ours.mixed.weight, ours.mixed.bias
    theirs.norm1.load_state_dict(ours.norm.state_dict())
    theirs.norm2.load_state_dict(ours.feed_norm.state_dict())
    theirs.linear1.load_state_dict(ours.feed[0].state_dict())
    theirs.linear2.load_state_dict(ours.feed[2].state_dict())
    return theirs


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_a_transformer_equals_layers_of_pytorch_with_a_norm_and_pooling(pooling) -> None:
    torch.manual_seed(0)
    encoder = TransformerEncoder(5, dim=8, layers=2, heads=2, feed_forward=12, pooling=pooling).eval()
    for weight in encoder.parameters():
        nn.init.normal_(weight, std=0.5)  # biases and norms too
    words, lengths = torch.randn(3, 6, 5), torch.tensor([6, 2, 4])
    padding = torch.arange(6) >= lengths[:, None]
    states = encoder.projection(words) + sinusoidal_positions(6, 8, words.device)
    for layer in encoder.layers:
        states = layer_of_torch(layer, 8, 2, 12)(states, src_key_padding_mask=padding)
    states = encoder.norm(states)
    rows = [row[:length] for row, length in zip(states, lengths.tolist(), strict=True)]
    pooled = torch.stack([row.amax(0) if pooling == "max" else row.mean(0) for row in rows])
    torch.testing.assert_close(encoder(words, lengths).vector, pooled, atol=1e-5, rtol=1e-4)


def test_a_width_that_heads_do_not_divide_is_refused() -> None:
    with pytest.raises(InputError, match=r"encoder.dim=10: give a multiple of encoder.heads=4"):
        TransformerEncoder(5, dim=10, heads=4)


FOLDER = Path(__file__).parents[2] / "configs" / "encoder"

# LSTM direction: 4 gates x H x (input + H + 2 biases); GRU: 3 gates
PROJECTION = 300 * 1024 + 1024
LSTM_1 = 2 * 4 * 256 * (1024 + 256 + 2)
LSTM_2 = 2 * 4 * 256 * (512 + 256 + 2)
CONVOLUTION = 3 * 512 * 1024 + 1024
# queries, keys, values and their mixture, the feed-forward network, two norms
LAYER = 4 * (512 * 512 + 512) + (512 * 2048 + 2048) + (2048 * 512 + 512) + 2 * 2 * 512
COUNTS = {
    # 4,510,720: "2 layers of 512 hidden units (~4M parameters)"
    **dict.fromkeys(("bilstm_max", "bilstm_last", "bilstm_att"), PROJECTION + LSTM_1 + LSTM_2),
    "gated_convnet": 300 * 512 + 512 + 8 * CONVOLUTION,  # 12,745,216: "~12M parameters"
    "bigru_mean": 2 * 3 * 1200 * (300 + 1200 + 2),  # 10,814,400
    **dict.fromkeys(("transformer", "transformer_max"), 300 * 512 + 512 + 4 * LAYER + 2 * 512),  # 12,764,672
    **{"bov": 0, "borep": 0, "esn": 2 * 2048 * (300 + 2048 + 2)},  # drawn, never trained
}


@pytest.mark.parametrize("name", COUNTS)
def test_an_encoder_has_as_many_weights_as_its_formula_says(name) -> None:
    with torch.device("meta"):
        encoder = instantiate(OmegaConf.load(FOLDER / f"{name}.yaml"), input_dim=300)
    assert sum(weight.numel() for weight in encoder.parameters()) == COUNTS[name]


@pytest.mark.parametrize("head", ["linear", "nonlinear"])
def test_infersent_is_one_lstm_directly_on_the_word_vectors(head) -> None:
    settings = composed("train", f"experiment=conneau2017/infersent_{head}").encoder
    with torch.device("meta"):
        encoder = instantiate(settings, input_dim=300)
        assert encoder(torch.zeros(2, 5, 300), torch.ones(2, dtype=torch.int64)).vector.shape == (2, 4096)
    assert sum(weight.numel() for weight in encoder.parameters()) == 2 * 4 * 2048 * (300 + 2048 + 2)
    assert not [part for part in encoder.modules() if isinstance(part, torch.nn.Dropout) and part.p]


def test_frozen_vectors_are_data_and_not_weights() -> None:
    embedding = WordEmbedding(MATRIX)
    assert not embedding.state_dict()
    assert not list(embedding.parameters())
    assert embedding(torch.tensor([[2, 1]])).tolist() == [MATRIX[[2, 1]].tolist()]


def test_unfrozen_vectors_learn_but_padding_does_not() -> None:
    embedding = WordEmbedding(MATRIX, freeze=False)
    embedding(torch.tensor([[0, 3]])).sum().backward()
    assert embedding.table.grad is not None
    assert embedding.table.grad.sum(1).tolist() == [0, 0, 0, 3]


@pytest.mark.parametrize(("pool", "vectors"), [
    (max_pool, [[-1, 4, 5, 2], [6, 1, 2, 1]]),  # a negative maximum stays negative
    (mean_pool, [[-2, 3, 2.5, 1.5], [3, 0, 1, 0]]),
    (last_pool, [[-3, 4, 5, 1], [6, -1, 1, 1]]),  # forward at the last word, backward at the first
    (end_pool, [[-3, 4, 0, 2], [6, -1, 0, -1]]),  # both directions at the last word
])  # fmt: skip
def test_words_are_pooled_without_padding(pool, vectors) -> None:
    assert pool(STATES, LENGTHS).tolist() == vectors


def test_the_mean_of_many_words_in_bfloat16_is_exact() -> None:
    lengths = tensor([2000, 3])
    states = torch.full((2, int(lengths.sum()), 2), 0.3, dtype=torch.bfloat16)
    mean = packed_mean_pool(states, pack(lengths, 2000))
    torch.testing.assert_close(mean, torch.full((2, 4), float(states[0, 0, 0])))


def test_nan_in_padding_does_not_change_the_maximum() -> None:
    states = STATES.clone()
    states[0, 2] = torch.nan
    assert not max_pool(states, LENGTHS).isnan().any()


def test_words_without_a_vector_are_left_out_of_a_bag_of_vectors() -> None:
    words = torch.tensor([[[2.0, 4.0], [0.0, 0.0], [4.0, 0.0], [9.0, 9.0]], [[0.0, 0.0]] * 4])
    assert BagOfVectors(2)(words, torch.tensor([3, 2])).vector.tolist() == [[3.0, 2.0], [0.0, 0.0]]
    assert BagOfVectors(2, "sum")(words, torch.tensor([3, 2])).vector.tolist() == [[6.0, 4.0], [0.0, 0.0]]


def test_a_bag_of_vectors_is_the_same_to_the_last_digit_with_any_padding() -> None:
    words, lengths = torch.randn(40, 7, 5, generator=torch.Generator().manual_seed(0)), torch.full((40,), 7)
    padded = torch.cat([words, torch.ones(40, 9, 5)], 1)
    assert BagOfVectors(5)(padded, lengths).vector.equal(BagOfVectors(5)(words, lengths).vector)
