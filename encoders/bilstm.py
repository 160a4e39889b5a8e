"""BiLSTM-max, BiLSTM-last and BiLSTM-Att (Conneau et al. 2018, section 3.1 and appendix)."""

from collections.abc import Callable
from typing import Annotated, Literal

from torch import Tensor, nn

from encoder_lab.settings.types import Depth, Fraction, Width
from encoders.encoder import Encoded, Encoder
from encoders.packed import BATCH_WORDS
from encoders.pooling import END, LAST, MAX
from encoders.recurrent import Bidirectional

POOLS = {"max": MAX, "last": LAST, "end": END}


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
        dim: Annotated[Width, "sentence vector: 256 units per direction (Figure 3: 1024, 2048, 4096)"] = 512,
        layers: Annotated[Depth, "of LSTM units (section 3.3)"] = 2,
        projection: Annotated[Width | None, "width of the projected word vectors (1024: appendix); null: none"] = 1024,
        dropout: Annotated[
            Fraction, "on the projected words and between layers (no number in the paper; 0.1 in Vaswani et al. 2017)"
        ] = 0.1,
        pooling: Annotated[
            Literal["max", "last", "end"],
            "max, last (of each direction) or end (both directions at the last word: h_T)",
        ] = "max",
        attention: Annotated[bool, "decoders attend over the states; the sentence vector is the same"] = False,
    ) -> None:
        super().__init__()
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
        return self.lstm.pooled_reader(self.projection(words), self.pool)
