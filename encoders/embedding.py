"""Word ids to word vectors, frozen or trained."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from datamodules.batches import PADDING


class WordEmbedding(nn.Module):
    """A table of word vectors (V, E). A frozen table is not in checkpoints; otherwise it is a weight."""

    table: Tensor

    def __init__(self, matrix: np.ndarray, freeze: bool = True) -> None:
        super().__init__()
        table = torch.from_numpy(np.array(matrix, dtype=np.float32))
        self.dim = table.shape[1]
        if freeze:
            self.register_buffer("table", table, persistent=False)
        else:
            self.table = nn.Parameter(table)

    def forward(self, ids: Tensor) -> Tensor:
        """Vectors (B, T, E) of ids (B, T); the padding row gets no gradient."""
        return functional.embedding(ids, self.table, padding_idx=PADDING)
