"""The transformer encoder against PyTorch's own layers, and what it refuses."""

import pytest
import torch
from torch import nn

from encoder_lab.errors import InputError
from encoders.gated_convnet import sinusoidal_positions
from encoders.transformer import PreNormLayer, TransformerEncoder


def layer_of_torch(ours: PreNormLayer, dim: int, heads: int, feed_forward: int) -> nn.TransformerEncoderLayer:
    """PyTorch's pre-norm layer with the weights of one of ours."""
    theirs = nn.TransformerEncoderLayer(
        dim, heads, feed_forward, activation="gelu", batch_first=True, norm_first=True
    ).eval()
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
