"""BoV: a bag of vectors, the mean of a sentence's word vectors (Conneau et al. 2018, section 4)."""

from torch import Tensor

from encoders.encoder import Encoded, Encoder
from encoders.pooling import mean_pool, valid


class BagOfVectors(Encoder):
    """The mean of the word vectors; nothing to train."""

    def __init__(self, input_dim: int) -> None:
        super().__init__()
        self.dim = self.state_dim = input_dim

    def forward(self, embedded: Tensor, lengths: Tensor) -> Encoded:
        words = valid(lengths, embedded.shape[1])[:, :, None]
        return Encoded(mean_pool(embedded, lengths), embedded * words)
