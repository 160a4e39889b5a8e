"""BOREP and the echo state network compute what their formulas say, and learn nothing."""

import pytest
import torch

from encoders.random_features import BOREP, EchoState


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
