import math

import numpy as np
import pytest
import torch
from torch.nn import functional

from encoder_lab.errors import InputError
from encoders.gated_convnet import GatedConvNet, position_factors, sinusoidal_positions


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


def test_one_product_over_windows_equals_the_convolution_of_torch() -> None:
    torch.manual_seed(5)
    states = torch.randn(2, 7, 8)
    encoder = GatedConvNet(6, dim=8, layers=1)
    convolution = encoder.convolutions[0]
    ours = convolution(encoder._windows(states))
    theirs = functional.conv1d(states.transpose(1, 2), convolution.weight.view(16, 8, 3), convolution.bias, padding=1)
    torch.testing.assert_close(ours, theirs.transpose(1, 2))


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


def test_the_state_of_a_word_depends_on_its_position() -> None:
    states = GatedConvNet(6, dim=8, layers=1, kernel=1).eval()(torch.ones(1, 4, 6), torch.tensor([4])).states[0]
    assert len(torch.unique(states, dim=0)) == 4


def test_an_even_kernel_is_refused() -> None:
    with pytest.raises(InputError, match=r"encoder\.kernel=4"):
        GatedConvNet(6, kernel=4)


def test_the_first_weights_are_the_same_with_any_dropout() -> None:
    def weights(dropout: float) -> list[torch.Tensor]:
        torch.manual_seed(1)
        return list(GatedConvNet(4, dim=6, layers=2, dropout=dropout).parameters())

    assert all(torch.equal(weight, other) for weight, other in zip(weights(0.0), weights(0.5), strict=True))
