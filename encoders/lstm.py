"""A unidirectional LSTM (Conneau et al. 2018, footnote 2: "consistently poorer results")."""

from typing import Annotated, Literal

from torch import Tensor, nn

from encoder_lab.settings.types import Depth, Fraction, Width
from encoders.encoder import Encoded, Encoder
from encoders.pooling import end_pool, max_pool, valid
from encoders.recurrent import recurrent_output


class ForwardLSTM(Encoder):
    """Projected word vectors, an LSTM from the first word to the last, and its last or its largest state."""

    def __init__(
        self,
        input_dim: int,
        dim: Annotated[Width, "units and sentence vector"] = 512,
        layers: Annotated[Depth, "of LSTM units (section 3.3)"] = 2,
        projection: Annotated[Width | None, "width of the projected word vectors (1024: appendix); null: none"] = 1024,
        dropout: Annotated[Fraction, "on the projected words and between layers"] = 0.1,
        pooling: Annotated[Literal["max", "last"], "max or last: the last state or the largest"] = "last",
    ) -> None:
        super().__init__()
        self.dim = self.state_dim = dim
        self.projection = nn.Identity() if projection is None else nn.Linear(input_dim, projection)
        self.dropout = nn.Dropout(dropout)
        width = input_dim if projection is None else projection
        between = dropout if layers > 1 else 0.0
        self.lstm = nn.LSTM(width, dim, layers, batch_first=True, dropout=between)
        self.pool = {"max": max_pool, "last": end_pool}[pooling]

    def forward(self, embedded: Tensor, lengths: Tensor) -> Encoded:
        states = recurrent_output(self.lstm, self.dropout(self.projection(embedded)))[0]  # (B, T, D)
        states = states * valid(lengths, states.shape[1])[:, :, None]
        return Encoded(self.pool(states, lengths), states)
