"""The recurrent encoders against their equations, one word and one direction at a time."""

from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from common.errors import InputError
from encoders.bigru import BiGRU
from encoders.bilstm import BiLSTM
from encoders.recurrent import WIDE, Bidirectional, Stretch, longest_first, parts_of

Weights = dict[str, np.ndarray]


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
    for ahead, back in zip(layers.ahead, layers.back, strict=True):
        forward = cell(words, weights(ahead))
        backward = cell(words[::-1], weights(back))[::-1]
        words = np.concatenate([forward, backward], 1)
    return words


def weights(module: nn.Module) -> Weights:
    return {name: weight.detach().numpy().astype(np.float64) for name, weight in module.named_parameters()}


def sentences(width: int) -> tuple[Tensor, Tensor]:
    torch.manual_seed(3)
    return torch.randn(3, 6, width), torch.tensor([4, 6, 1])


@pytest.mark.parametrize("pooling", ["max", "last"])
def test_a_bilstm_equals_its_equations(pooling: str) -> None:
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


def test_states_equal_those_of_torchs_own_bidirectional_layers_on_packed_sentences() -> None:
    words, lengths = sentences(5)
    ours = BiLSTM(5, dim=8, projection=7).eval()
    theirs = nn.LSTM(7, 4, 2, bidirectional=True, batch_first=True)
    for layer in range(2):
        for direction, module in (("", ours.lstm.ahead[layer]), ("_reverse", ours.lstm.back[layer])):
            for name, weight in module.named_parameters():
                getattr(theirs, name.replace("l0", f"l{layer}{direction}")).data.copy_(weight)
    packed = nn.utils.rnn.pack_padded_sequence(ours.projection(words), lengths, True, enforce_sorted=False)
    expected, _ = nn.utils.rnn.pad_packed_sequence(theirs(packed)[0], batch_first=True)
    torch.testing.assert_close(ours(words, lengths).states, expected, atol=1e-6, rtol=1e-5)


def test_the_attention_flag_changes_no_vector() -> None:
    words, lengths = sentences(5)
    plain, attended = BiLSTM(5, dim=8), BiLSTM(5, dim=8, attention=True)
    attended.load_state_dict(plain.state_dict())
    assert (plain.attention, attended.attention) == (False, True)
    assert torch.equal(plain.eval()(words, lengths).vector, attended.eval()(words, lengths).vector)


def test_an_odd_width_is_refused() -> None:
    with pytest.raises(InputError, match=r"encoder\.dim=513"):
        BiLSTM(300, dim=513)


def test_an_unknown_pooling_lists_the_choices() -> None:
    with pytest.raises(InputError, match=r"encoder\.pooling=mean: choose one of max, last"):
        BiLSTM(300, pooling="mean")  # type: ignore[arg-type]


@given(
    lengths=st.lists(st.integers(1, 40), min_size=1, max_size=20),
    kind=st.sampled_from([nn.LSTM, nn.GRU]),
    wide=st.sampled_from([1, WIDE]),
)
@settings(max_examples=30)
def test_leaving_out_sentences_that_have_ended_changes_no_state(
    lengths: list[int], kind: type[nn.LSTM], wide: int
) -> None:
    torch.manual_seed(len(lengths))
    layers = Bidirectional(kind, 3, 8, 2).eval()
    ordered = torch.tensor(sorted(lengths, reverse=True))
    words = torch.randn(len(lengths), int(ordered[0]), 3)
    whole = layers(words, ordered)  # with gradients: never in parts
    with torch.no_grad(), patch("encoders.recurrent.WIDE", wide):
        torch.testing.assert_close(layers(words, ordered), whole, atol=1e-6, rtol=1e-5)


def test_only_sorted_sentences_of_some_words_are_in_parts() -> None:
    assert longest_first(torch.tensor([3, 3, 1]))
    assert not longest_first(torch.tensor([1, 3]))
    assert not longest_first(torch.tensor([3, 0]))
    assert not longest_first(torch.tensor([], dtype=torch.int64))


def test_wide_layers_read_packed_sentences() -> None:
    layers = Bidirectional(nn.LSTM, 3, 8, 1)
    with torch.no_grad(), patch("encoders.recurrent.WIDE", 4), patch("encoders.recurrent.in_parts", None):
        layers(torch.randn(2, 5, 3), torch.tensor([5, 2]))


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_wide_layers_under_autocast_compute_in_bfloat16(kind: type[nn.LSTM]) -> None:
    torch.manual_seed(1)
    layers, lengths = Bidirectional(kind, 3, 8, 2).eval(), torch.tensor([5, 2])
    words = torch.randn(2, 5, 3)
    parts, capable = patch("encoders.recurrent.in_parts", None), patch("encoders.recurrent.stays_wide", lambda _: False)
    with torch.no_grad(), patch("encoders.recurrent.WIDE", 4), parts, capable:
        wide = layers(words, lengths)
        with torch.autocast("cpu", torch.bfloat16):
            narrow = layers(words, lengths)
    torch.testing.assert_close(narrow.float(), wide, atol=0.02, rtol=0)
    assert (narrow.float() != wide).any()


def test_parts_leave_out_padding_where_that_is_worth_another_start() -> None:
    lengths = torch.tensor([40] + [8] * 31)
    assert parts_of(lengths, Stretch(0, 40, 32)) == [Stretch(0, 8, 32), Stretch(8, 40, 4)]
    assert parts_of(torch.tensor([9, 8, 8]), Stretch(0, 9, 3)) == [Stretch(0, 9, 3)]  # a start takes longer than a word
