"""What every objective shares: an encoder over frozen word vectors, an optimiser, one score that selects."""

from collections.abc import Callable, Iterable
from typing import Literal

import pytorch_lightning as pl
import torch
from torch import Tensor, nn

from datamodules.batches import Sentences
from encoders.embedding import WordEmbedding
from encoders.encoder import Encoded, Encoder

MakeOptimizer = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]


class Objective(pl.LightningModule):
    """A LightningModule around an encoder. Subclasses state what is predicted and which score selects.

    Random numbers of a training step are a function of (seed, step): nothing that happens between two
    steps, probing included, can change training, and a resumed run draws what the killed one would have.
    """

    score: str  # the validation score that selects the best checkpoint, e.g. "val/bleu"
    mode: Literal["min", "max"] = "max"
    trains = True

    def __init__(self, encoder: Encoder, embedding: WordEmbedding, optimizer: MakeOptimizer | None, seed: int) -> None:
        super().__init__()
        self.encoder, self.embedding = encoder, embedding
        self.make_optimizer, self.seed = optimizer, seed

    def encode(self, sentences: Sentences) -> Encoded:
        """Sentence vectors (B, D) and word states (B, T, H)."""
        return self.encoder(self.embedding(sentences.ids), sentences.lengths)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        assert self.make_optimizer is not None
        return self.make_optimizer([p for p in self.parameters() if p.requires_grad])

    def on_train_batch_start(self, batch: object, batch_idx: int) -> None:
        torch.manual_seed((self.seed * 1_000_003 + self.global_step) * 4099 + self.global_rank)

    def log_score(self, name: str, value: Tensor | float, batch_size: int = 1, prog_bar: bool = False) -> None:
        """Keep a score of this epoch; the run log writes it to metrics.csv and TensorBoard by epoch."""
        self.log(name, value, batch_size=batch_size, prog_bar=prog_bar, on_step=False, on_epoch=True, logger=False)
