"""Our steps of an LSTM against PyTorch's layer, and their gradients against finite differences."""

from unittest.mock import patch

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional

from encoders.lstm_steps import has_own_steps, lstm_states


def own(layer: nn.LSTM, inputs: Tensor) -> Tensor:
    """States (T, B, H) of one layer by our steps."""
    of_inputs, of_states, bias, more = layer.parameters()
    return lstm_states([functional.linear(inputs, of_inputs, bias + more)], [of_states])[0]


def weighted(states: Tensor) -> Tensor:
    """A number to which each state contributes differently."""
    return (states.float() * torch.linspace(-1, 1, states.numel()).view(states.shape)).sum()


@given(steps=st.integers(1, 7), rows=st.integers(1, 5), dim=st.integers(1, 6))
@settings(max_examples=30)
def test_states_and_gradients_are_those_of_pytorchs_layer(steps: int, rows: int, dim: int) -> None:
    torch.manual_seed(steps)
    layer, inputs = nn.LSTM(3, dim), torch.randn(steps, rows, 3, requires_grad=True)
    found = []
    for states in (own(layer, inputs), layer(inputs)[0]):
        found.append([states, *torch.autograd.grad(weighted(states), [inputs, *layer.parameters()])])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


def test_gradients_of_two_layers_side_by_side_are_finite_differences() -> None:
    torch.manual_seed(1)
    first, second = (torch.randn(3, 2, 8, dtype=torch.double, requires_grad=True) for _ in range(2))
    weights = [torch.randn(8, 2, dtype=torch.double, requires_grad=True) for _ in range(2)]
    assert torch.autograd.gradcheck(lambda a, b, *rest: lstm_states([a, b], rest), (first, second, *weights))


def test_in_bfloat16_states_and_gradients_are_about_the_same() -> None:
    torch.manual_seed(1)
    layer, inputs = nn.LSTM(16, 16), torch.randn(12, 8, 16)
    wide = own(layer, inputs)
    with torch.autocast("cpu", torch.bfloat16):
        narrow = own(layer, inputs)
    assert narrow.dtype == torch.bfloat16
    torch.testing.assert_close(narrow.float(), wide, atol=0.02, rtol=0)
    for exact, rough in zip(
        *(torch.autograd.grad(weighted(s), layer.parameters()) for s in (wide, narrow)), strict=True
    ):
        assert functional.cosine_similarity(exact.flatten(), rough.flatten(), 0) > 0.999


def test_states_that_were_changed_in_place_are_refused_by_autograd() -> None:
    gates, weight = torch.zeros(2, 1, 4, requires_grad=True), torch.zeros(4, 1)
    states = lstm_states([gates], [weight])
    total = states.sum()
    states.detach().add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        total.backward()


def test_steps_are_ours_for_an_lstm_in_training_on_a_cpu() -> None:
    inputs = torch.zeros(1, 1, 2)
    assert has_own_steps(nn.LSTM(2, 2), inputs)
    assert not has_own_steps(nn.GRU(2, 2), inputs)
    assert not has_own_steps(nn.LSTM(2, 2), inputs.to("meta"))
    with torch.no_grad():
        assert not has_own_steps(nn.LSTM(2, 2), inputs)


@pytest.mark.parametrize("capable", [True, False])
def test_steps_in_bfloat16_need_a_processor_with_recurrent_layers_in_it(capable: bool) -> None:
    with torch.autocast("cpu", torch.bfloat16), patch("encoders.lstm_steps.stays_wide", lambda _: not capable):
        assert has_own_steps(nn.LSTM(2, 2), torch.zeros(1, 1, 2)) == capable
