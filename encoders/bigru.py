"""BiGRU: the encoder of DiscoEval's own models (Chen et al. 2019, section 4 and appendix A)."""

from collections.abc import Callable
from typing import Annotated

from torch import Tensor, nn

from encoder_lab.settings.types import Depth, Fraction, Width
from encoders.encoder import Encoded, Encoder
from encoders.packed import BATCH_WORDS
from encoders.pooling import MEAN
from encoders.recurrent import Bidirectional


class BiGRU(Encoder):
    """One bidirectional GRU layer over the word vectors; the mean of its states is the sentence vector."""

    batch_words = BATCH_WORDS

    def __init__(
        self,
        input_dim: int,
        dim: Annotated[Width, "sentence vector: 1200 units per direction (appendix A)"] = 2400,
        layers: Annotated[Depth, "of GRU units (appendix A)"] = 1,
        dropout: Annotated[Fraction, "between layers, if there are several"] = 0.0,
    ) -> None:
        super().__init__()
        self.dim = self.state_dim = dim
        self.gru = Bidirectional(nn.GRU, input_dim, dim, layers, dropout)

    def forward(self, embedded: Tensor, lengths: Tensor) -> Encoded:
        states = self.gru(embedded, lengths)  # (B, T, D)
        return Encoded(MEAN.padded(states, lengths), states)

    def over(self, words: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
        return self.gru.pooled_reader(words, MEAN)
