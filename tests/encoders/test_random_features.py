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
    encoder, words = EchoState(4, dim=6, leak=0.3), torch.randn(1, 2, 4)
    w, b, v = encoder.inward, encoder.bias[:, 0], encoder.recurrent
    first = 0.3 * torch.tanh(words[0, 0] @ w[0] + b[0])
    second = 0.7 * first + 0.3 * torch.tanh(words[0, 1] @ w[0] + b[0] + first @ v[0])
    last = 0.3 * torch.tanh(words[0, 1] @ w[1] + b[1])
    before = 0.7 * last + 0.3 * torch.tanh(words[0, 0] @ w[1] + b[1] + last @ v[1])
    states = torch.stack([torch.cat([first, before]), torch.cat([second, last])])
    encoded = encoder(words, torch.tensor([2]))
    torch.testing.assert_close(encoded.states[0], states)
    torch.testing.assert_close(encoded.vector[0], states.amax(0))


@pytest.mark.parametrize("density", [1.0, 0.25])
def test_the_recurrent_weights_have_their_spectral_radius_and_density(density: float) -> None:
    torch.manual_seed(1)
    for weights in EchoState(4, dim=800, radius=0.7, density=density).recurrent:
        assert torch.linalg.eigvals(weights).abs().max() == pytest.approx(0.7, rel=0.1)
        assert float((weights != 0).float().mean()) == pytest.approx(density, abs=0.01)
