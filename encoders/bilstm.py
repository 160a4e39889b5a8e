"""BiLSTM-max, BiLSTM-last and BiLSTM-Att (Conneau et al. 2018, section 3.1 and appendix)."""

from collections.abc import Callable
from typing import Literal

from torch import Tensor, nn

from encoder_lab.errors import InputError
from encoders.encoder import Encoded, Encoder
from encoders.packed import BATCH_WORDS
from encoders.pooling import LAST, MAX
from encoders.recurrent import Bidirectional

POOLS = {"max": MAX, "last": LAST}


class BiLSTM(Encoder):
    """Projected word vectors, a bidirectional LSTM, and pooling of its states into the sentence vector.

    The defaults are 300 -> 1024 -> 2 layers of 256 units per direction -> 512: 4.2M weights in the layers and 0.3M in
    the projection. The paper has "2 layers of 512 hidden units (~4M parameters)" with "input embedding size 1024".
    Without a projection (None) the LSTM reads the word vectors directly.
    """

    batch_words = BATCH_WORDS

    def __init__(
        self,
        input_dim: int,
        dim: int = 512,
        layers: int = 2,
        projection: int | None = 1024,
        dropout: float = 0.1,
        pooling: Literal["max", "last"] = "max",
        attention: bool = False,
    ) -> None:
        super().__init__()
        if pooling not in POOLS:
            raise InputError(f"encoder.pooling={pooling}: choose one of {', '.join(POOLS)}")
        self.dim = self.state_dim = dim
        self.attention = attention
        self.projection = nn.Identity() if projection is None else nn.Linear(input_dim, projection)
        self.dropout = nn.Dropout(dropout)
        self.lstm = Bidirectional(nn.LSTM, input_dim if projection is None else projection, dim, layers, dropout)
        self.pool = POOLS[pooling]

    def forward(self, embedded: Tensor, lengths: Tensor) -> Encoded:
        states = self.lstm(self.dropout(self.projection(embedded)), lengths)  # (B, T, D)
        return Encoded(self.pool.padded(states, lengths), states)

    def over(self, words: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
        return self.lstm.over(self.projection(words), self.pool)
