"""What a sentence encoder is. Letters: B sentences, T words, E input width, H state width, D vector width."""

from typing import NamedTuple

from torch import Tensor, nn


class Encoded(NamedTuple):
    """All that an encoder says about a batch."""

    vector: Tensor  # (B, D) the sentence
    states: Tensor  # (B, T, H) one per word, zero at padding


class Encoder(nn.Module):
    """Word vectors in, one vector per sentence out.

    The law: padding never changes a result. A sentence alone and in any batch gets the same vector.
    """

    dim: int  # D
    state_dim: int  # H
    attention: bool = False  # whether decoders attend over the states, beside reading the vector

    def forward(self, embedded: Tensor, lengths: Tensor) -> Encoded:
        """Encode word vectors `(B, T, E)` of sentences with `lengths (B,)`, each at least 1."""
        raise NotImplementedError
