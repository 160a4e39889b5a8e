"""A transformer encoder (Vaswani et al. 2017) with the layer normalisation before each part (Xiong et al. 2020).

x -> project -> + position -> [ + attention(norm x) -> + feed-forward(norm x) ] x layers -> norm -> mean or max
"""

from typing import Annotated, Literal

from torch import Tensor, nn
from torch.nn import functional

from encoder_lab.errors import InputError
from encoder_lab.settings.types import Depth, Fraction, Width
from encoders.encoder import Encoded, Encoder
from encoders.gated_convnet import sinusoidal_positions
from encoders.pooling import max_pool, mean_pool, valid

POOLS_OVER_TIME = {"mean": mean_pool, "max": max_pool}


class TransformerEncoder(Encoder):
    """Pre-norm transformer layers over projected word vectors with positions, pooled over the words.

    The defaults are 4 x (512, 8 heads, 2048): 12.6M weights in the layers and 0.2M in the projection, as many as the
    Gated ConvNet has. Padding is masked in the attention and in the pooling.
    """

    def __init__(
        self,
        input_dim: int,
        dim: Annotated[Width, "width of the states and sentence vector; a multiple of heads"] = 512,
        layers: Annotated[Depth, "as many weights as the Gated ConvNet of the paper"] = 4,
        heads: Annotated[Depth, "of the attention (Vaswani et al. 2017, section 3.2.2)"] = 8,
        feed_forward: Annotated[Width, "width inside a layer (Vaswani et al. 2017, section 3.3)"] = 2048,
        dropout: Annotated[Fraction, "on input, attention and each part of a layer (Vaswani et al. 2017, 5.4)"] = 0.1,
        pooling: Annotated[Literal["mean", "max"], "mean or max over the words"] = "mean",
    ) -> None:
        super().__init__()
        if dim % heads:
            raise InputError(f"encoder.dim={dim}: give a multiple of encoder.heads={heads}")
        self.dim = self.state_dim = dim
        self.projection = nn.Linear(input_dim, dim)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(PreNormLayer(dim, heads, feed_forward, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.pool = POOLS_OVER_TIME[pooling]

    def forward(self, embedded: Tensor, lengths: Tensor) -> Encoded:
        words = valid(lengths, embedded.shape[1])  # (B, T)
        projected = self.projection(embedded)
        encodings = sinusoidal_positions(embedded.shape[1], self.dim, embedded.device)
        states = self.dropout(projected + encodings.to(projected.dtype))  # (B, T, D)
        for layer in self.layers:
            states = layer(states, words)
        states = self.norm(states) * words[:, :, None]
        return Encoded(self.pool(states, lengths), states)


class PreNormLayer(nn.Module):
    """Self-attention and a feed-forward network, each added to what it reads."""

    def __init__(self, dim: int, heads: int, feed_forward: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.norm, self.feed_norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attended = nn.Linear(dim, 3 * dim)  # queries, keys and values
        self.mixed = nn.Linear(dim, dim)
        self.feed = nn.Sequential(nn.Linear(dim, feed_forward), nn.GELU(), nn.Linear(feed_forward, dim))
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, words: Tensor) -> Tensor:
        """States (B, T, D) after the layer; `words` (B, T) bool are the ones that others attend to."""
        states = states + self.dropout(self._attention(self.norm(states), words))
        return states + self.dropout(self.feed(self.feed_norm(states)))

    def _attention(self, states: Tensor, words: Tensor) -> Tensor:
        queries, keys, values = self.attended(states).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        drop = self.dropout.p if self.training else 0.0
        seen = functional.scaled_dot_product_attention(queries, keys, values, words[:, None, None], drop)
        return self.mixed(seen.transpose(1, 2).flatten(2))  # (B, heads, T, D / heads) to (B, T, D)
