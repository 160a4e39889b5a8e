"""The interface of sentence encoders. Letters: B sentences, T words, E input width, H state width, D vector width."""

from typing import NamedTuple

from torch import Tensor, nn


class Encoded(NamedTuple):
    """The output of an encoder for a batch."""

    vector: Tensor  # (B, D), one per sentence
    states: Tensor  # (B, T, H), one per word, zero at padding


class Encoder(nn.Module):
    """Word vectors in, one vector per sentence out.

    Padding must not change a result: a sentence gets the same vector alone and in any batch.
    """

    dim: int  # D
    state_dim: int  # H
    attention: bool = False  # whether decoders attend over the states, in addition to reading the vector

    def forward(self, embedded: Tensor, lengths: Tensor) -> Encoded:
        """Encode word vectors `(B, T, E)` of sentences with `lengths (B,)`, each at least 1."""
        raise NotImplementedError
