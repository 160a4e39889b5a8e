"""Recurrent and gated convolutional encoders against their equations, one word and one direction at a time."""

import math
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from encoder_lab.errors import InputError
from encoders.bigru import BiGRU
from encoders.bilstm import BiLSTM
from encoders.gated_convnet import GatedConvNet, position_factors, sinusoidal_positions
from encoders.packed import BLOCK_MULTIPLE, BLOCK_WORDS, MAX_TABLE_BYTES, block_size, pack, padded_rows
from encoders.pooling import END, LAST, MAX, MEAN
from encoders.recurrent import Bidirectional, reads_packed

Weights = dict[str, np.ndarray]
both_layers = pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU])


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def lstm(words: np.ndarray, w: Weights) -> np.ndarray:
    """States (T, H) of an LSTM over words (T, E), as Hochreiter and Schmidhuber's cell with a forget gate says."""
    h = c = np.zeros(w["weight_hh_l0"].shape[1])
    states = []
    for x in words:
        gates = w["weight_ih_l0"] @ x + w["bias_ih_l0"] + w["weight_hh_l0"] @ h + w["bias_hh_l0"]
        i, f, g, o = np.split(gates, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        states.append(h)
    return np.array(states)


def gru(words: np.ndarray, w: Weights) -> np.ndarray:
    """States (T, H) of a GRU over words (T, E), with the reset gate behind the product (as cuDNN has it)."""
    h = np.zeros(w["weight_hh_l0"].shape[1])
    states = []
    for x in words:
        xr, xz, xn = np.split(w["weight_ih_l0"] @ x + w["bias_ih_l0"], 3)
        hr, hz, hn = np.split(w["weight_hh_l0"] @ h + w["bias_hh_l0"], 3)
        z = sigmoid(xz + hz)
        h = (1 - z) * np.tanh(xn + sigmoid(xr + hr) * hn) + z * h
        states.append(h)
    return np.array(states)


def both_ways(cell, words: np.ndarray, layers: nn.Module) -> np.ndarray:
    """States (T, D) of stacked layers, each reading the sentence forwards and backwards."""
    for forward_layer, backward_layer in zip(layers.forward_layers, layers.backward_layers, strict=True):
        forward = cell(words, weights(forward_layer))
        backward = cell(words[::-1], weights(backward_layer))[::-1]
        words = np.concatenate([forward, backward], 1)
    return words


def weights(module: nn.Module) -> Weights:
    return {name: weight.detach().numpy().astype(np.float64) for name, weight in module.named_parameters()}


def sentences(width: int) -> tuple[Tensor, Tensor]:
    torch.manual_seed(3)
    return torch.randn(3, 6, width), torch.tensor([4, 6, 1])


@pytest.mark.parametrize("pooling", ["max", "last"])
def test_a_bilstm_equals_its_equations(pooling) -> None:
    words, lengths = sentences(5)
    encoder = BiLSTM(5, dim=8, projection=7, pooling=pooling).eval()
    encoded = encoder(words, lengths)
    linear = weights(encoder.projection)
    for row, length in enumerate(lengths.tolist()):
        inputs = words[row, :length].numpy() @ linear["weight"].T + linear["bias"]
        states = both_ways(lstm, inputs, encoder.lstm)
        last = np.concatenate([states[-1, :4], states[0, 4:]])
        vector = states.max(0) if pooling == "max" else last
        np.testing.assert_allclose(encoded.states[row, :length].detach(), states, atol=1e-6)
        np.testing.assert_allclose(encoded.vector[row].detach(), vector, atol=1e-6)


def test_a_bigru_equals_its_equations() -> None:
    words, lengths = sentences(5)
    encoder = BiGRU(5, dim=8).eval()
    encoded = encoder(words, lengths)
    for row, length in enumerate(lengths.tolist()):
        states = both_ways(gru, words[row, :length].numpy(), encoder.gru)
        np.testing.assert_allclose(encoded.states[row, :length].detach(), states, atol=1e-6)
        np.testing.assert_allclose(encoded.vector[row].detach(), states.mean(0), atol=1e-6)


def test_the_attention_flag_changes_no_vector_and_an_odd_width_is_refused() -> None:
    words, lengths = sentences(5)
    plain, attended = BiLSTM(5, dim=8), BiLSTM(5, dim=8, attention=True)
    attended.load_state_dict(plain.state_dict())
    assert (plain.attention, attended.attention) == (False, True)
    assert torch.equal(plain.eval()(words, lengths).vector, attended.eval()(words, lengths).vector)
    with pytest.raises(InputError, match=r"encoder\.dim=513: each direction has half of it"):
        BiLSTM(300, dim=513)


def layers_of(layer: type[nn.LSTM], levels: int) -> Bidirectional:
    torch.manual_seed(levels)
    return Bidirectional(layer, 3, 8, levels).eval()


@both_layers
@given(lengths=st.lists(st.integers(1, 40), min_size=1, max_size=20), block=st.sampled_from([1, 7, BLOCK_WORDS]))
@settings(max_examples=15)
def test_packed_words_get_the_states_of_padded_ones(layer, lengths, block) -> None:
    layers, words = layers_of(layer, 2), torch.randn(len(lengths), max(lengths) + 2, 3)
    padded = layers(words, torch.tensor(lengths))  # with gradients
    with torch.no_grad(), patch("encoders.recurrent.MIN_PACKED", 1), patch("encoders.packed.BLOCK_WORDS", block):
        torch.testing.assert_close(layers(words, torch.tensor(lengths)), padded, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("pool", [MAX, MEAN, LAST, END])
@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=9), table=st.sampled_from([0, MAX_TABLE_BYTES]))
@settings(max_examples=30)
def test_words_that_come_several_times_change_no_vector(pool, lengths, table) -> None:
    layers, words = layers_of(nn.LSTM, 2), torch.randn(4, 3)
    ids, every = torch.randint(4, (len(lengths), max(lengths))), torch.tensor(lengths)
    with torch.no_grad(), patch("encoders.recurrent.MIN_PACKED", 1), patch("encoders.recurrent.MAX_TABLE_BYTES", table):
        vectors = layers.pooled_reader(words, pool)(ids, every)
    torch.testing.assert_close(vectors, pool.padded(layers(words[ids], every), every), atol=1e-6, rtol=1e-5)


@both_layers
@pytest.mark.parametrize("computes_in_float32", [True, False])
def test_packed_words_under_autocast_are_in_bfloat16_where_the_cpu_has_such_layers(layer, computes_in_float32) -> None:
    layers, words, lengths = layers_of(layer, 2), torch.randn(8, 5, 3), torch.tensor([5, 2, 4, 1, 3, 5, 5, 2])
    with torch.no_grad(), patch("encoders.recurrent.computes_in_float32", lambda _: computes_in_float32):
        wide = layers(words, lengths)
        with torch.autocast("cpu", torch.bfloat16):
            narrow = layers(words, lengths)
    assert narrow.dtype == (torch.float32 if computes_in_float32 else torch.bfloat16)
    torch.testing.assert_close(narrow.float(), wide, atol=0 if computes_in_float32 else 0.02, rtol=0)


def test_the_packing_of_three_sentences_by_hand_and_blocks_of_whole_steps() -> None:
    result = pack(torch.tensor([2, 3, 1]), steps=4)
    assert (result.sizes, result.order.tolist()) == ([3, 2, 1], [1, 0, 2])
    assert result.padded_index.tolist() == [4, 0, 8, 5, 1, 6]  # first words of the longest, ...
    assert result.mirror.tolist() == [5, 4, 2, 3, 1, 0]
    with patch("encoders.packed.BLOCK_WORDS", 10):
        assert [block_size(sizes) for sizes in ([12, 1], [5, 5, 1], [4, 4, 4], [1])] == [12, 10, 8, 1]


def test_words_are_packed_without_gradients_unless_sentences_are_few() -> None:
    lengths = torch.ones(8, dtype=torch.int64)
    assert not reads_packed(lengths)
    with torch.no_grad():
        assert reads_packed(lengths)
        assert not reads_packed(lengths[:7])
        assert not reads_packed(lengths.to("meta"))


class Products(TorchDispatchMode):
    """Notes how many rows the products of layers have."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, set[int]] = {"addmm": set(), "bmm": set()}

    def __torch_dispatch__(self, call, types, args=(), kwargs=None):
        name = call._schema.name.split("::")[1]
        if name in self.rows:
            self.rows[name].add(args[name == "addmm"].shape[-2])
        return call(*args, **(kwargs or {}))


@given(lengths=st.lists(st.integers(1, 40), min_size=8, max_size=90))
@settings(max_examples=10)
def test_products_of_packed_words_have_few_numbers_of_rows(lengths) -> None:
    layers, words, ids = layers_of(nn.LSTM, 2), torch.randn(64, 3), torch.zeros(len(lengths), 40, dtype=torch.int64)
    with torch.no_grad(), Products() as seen:
        layers.pooled_reader(words, MAX)(ids, torch.tensor(lengths))
    assert {rows % BLOCK_MULTIPLE for rows in seen.rows["addmm"]} == {0}
    assert {rows % (4 if rows <= 64 else 8) for rows in seen.rows["bmm"]} <= {0}


def test_few_numbers_of_sentences_stand_for_all() -> None:
    result = [padded_rows(count) for count in range(1, 4097)]
    assert all(count <= wider <= max(4, count * 9 / 8 + 4) for count, wider in enumerate(result, start=1))
    assert len(set(result)) <= 70


def naive(words: np.ndarray, encoder: GatedConvNet, kernel: int) -> np.ndarray:
    """States (T, D) of one sentence (T, E), with a loop over words, channels and the words in a window."""
    values = {name: weight.detach().numpy().astype(np.float64) for name, weight in encoder.named_parameters()}
    steps, dim = len(words), encoder.dim
    states = words @ values["projection.weight"].T + values["projection.bias"]
    states = states + 0.1 * sinusoidal_positions(steps, dim, torch.device("cpu")).numpy()
    for layer in range(len(encoder.convolutions)):
        weight = values[f"convolutions.{layer}.weight"].reshape(2 * dim, dim, kernel)
        bias = values[f"convolutions.{layer}.bias"]
        new = np.zeros_like(states)
        for t in range(steps):
            out = bias.copy()
            for k in range(kernel):
                seen = t + k - kernel // 2
                if 0 <= seen < steps:
                    out += weight[:, :, k] @ states[seen]
            gated = out[:dim] / (1 + np.exp(-out[dim:]))
            new[t] = (states[t] + gated) * math.sqrt(0.5)
        states = new
    return states


@pytest.mark.parametrize("kernel", [1, 3, 5])
def test_the_stack_equals_a_naive_loop(kernel) -> None:
    torch.manual_seed(5)
    words, lengths = torch.randn(3, 7, 6), torch.tensor([7, 2, 4])
    encoder = GatedConvNet(6, dim=8, layers=3, kernel=kernel).eval()
    encoded = encoder(words, lengths)
    for row, length in enumerate(lengths.tolist()):
        states = naive(words[row, :length].numpy(), encoder, kernel)
        np.testing.assert_allclose(encoded.states[row, :length].detach(), states, atol=1e-5)
        np.testing.assert_allclose(encoded.vector[row].detach(), states.max(0), atol=1e-5)


def test_positions_are_sines_and_cosines_of_falling_frequency() -> None:
    encoded = sinusoidal_positions(3, 5, torch.device("cpu"))
    slow = 2 / 10_000 ** (2 / 5)
    expected = [math.sin(2), math.cos(2), math.sin(slow), math.cos(slow), math.sin(2 / 10_000 ** (4 / 5))]
    torch.testing.assert_close(encoded[2], torch.tensor(expected))


def test_the_factors_of_the_cited_source_are_those_of_its_formula() -> None:
    """Two of three words and four dimensions: (1 - 2/3) - (k/4) (1 - 4/3), and so on."""
    result = position_factors(torch.tensor([3, 1]), 3, 4)
    third = [[2 / 3 - k / 4 / 3, 1 / 3 + k / 4 / 3, k / 4] for k in (1, 2, 3, 4)]
    torch.testing.assert_close(result[0], torch.tensor(third).T)
    torch.testing.assert_close(result[1, 0], torch.tensor([0.25, 0.5, 0.75, 1]))  # the only word of a sentence
    torch.manual_seed(1)
    encoder, words = GatedConvNet(6, dim=8, layers=1, positions="sukhbaatar").eval(), torch.randn(2, 5, 6)
    together = encoder(words, torch.tensor([5, 2])).vector
    torch.testing.assert_close(together[1], encoder(words[1:, :2], torch.tensor([2])).vector[0])


def test_an_even_kernel_is_refused() -> None:
    with pytest.raises(InputError, match=r"encoder\.kernel=4"):
        GatedConvNet(6, kernel=4)


def test_the_first_weights_are_the_same_with_any_dropout() -> None:
    def weights(dropout: float) -> list[torch.Tensor]:
        torch.manual_seed(1)
        return list(GatedConvNet(4, dim=6, layers=2, dropout=dropout).parameters())

    assert all(torch.equal(weight, other) for weight, other in zip(weights(0.0), weights(0.5), strict=True))
