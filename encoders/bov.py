"""BoV: a bag of vectors, the mean of the vectors of a sentence's known words (Conneau et al. 2018, section 4)."""

from typing import Annotated, Literal

from torch import Tensor

from encoders.encoder import Encoded, Encoder
from encoders.pooling import valid


class BagOfVectors(Encoder):
    """The mean of the word vectors, without words that have none (zeros), or their sum; nothing to train."""

    def __init__(
        self,
        input_dim: int,
        pooling: Annotated[Literal["mean", "sum"], "mean or sum over the known words (footnote 3 has both)"] = "mean",
    ) -> None:
        super().__init__()
        self.pooling = pooling
        self.dim = self.state_dim = input_dim

    def forward(self, embedded: Tensor, lengths: Tensor) -> Encoded:
        words = valid(lengths, embedded.shape[1])[:, :, None]
        states = embedded * words
        total = states.cumsum(1)[:, -1]  # the last digits of `states.sum(1)` depend on the padding
        counts = (words & (embedded != 0).any(2, keepdim=True)).sum(1).clamp_min(1)
        return Encoded(total if self.pooling == "sum" else total / counts, states)
