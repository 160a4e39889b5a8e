"""What every objective shares: an encoder over frozen word vectors, an optimiser, one score that selects."""

from collections.abc import Callable, Iterable
from typing import Any, Literal

import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

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
    trains_all = True  # every weight at every step; DDP must be told where it is not so

    def __init__(self, encoder: Encoder, embedding: WordEmbedding, optimizer: MakeOptimizer | None, seed: int) -> None:
        super().__init__()
        self.encoder, self.embedding = encoder, embedding
        self.make_optimizer, self.seed = optimizer, seed
        self._train_sums: dict[str, tuple[Tensor | float, float]] = {}  # of training scores in this epoch, and examples

    def setup(self, stage: str) -> None:
        """Buffers are alike in all processes for good: DDP would send the word vectors at every step."""
        DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(
            self, [name for name, _ in self.named_buffers()]
        )

    def encode(self, sentences: Sentences) -> Encoded:
        """Sentence vectors (B, D) and word states (B, T, H)."""
        return self.encoder(self.embedding(sentences.ids), sentences.lengths)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        assert self.make_optimizer is not None
        optimizer = self.make_optimizer([p for p in self.parameters() if p.requires_grad])
        # Lightning clips no gradients that a fused optimiser will unscale by itself; so they are unscaled before
        optimizer._step_supports_amp_scaling = False  # type: ignore[attr-defined]
        return optimizer

    def on_train_batch_start(self, batch: object, batch_idx: int) -> None:
        torch.manual_seed((self.seed * 1_000_003 + self.global_step) * 4099 + self.global_rank)

    def log_score(self, name: str, value: Tensor | float, batch_size: int = 1, prog_bar: bool = False) -> None:
        """Keep a score of this epoch; the run log writes it to metrics.csv and TensorBoard by epoch."""
        if name.startswith("train/"):
            total, examples = self._train_sums.get(name, (0.0, 0))
            this = value.double() if isinstance(value, Tensor) else value
            self._train_sums[name] = (total + batch_size * this, examples + batch_size)
        self.log(name, value, batch_size=batch_size, prog_bar=prog_bar, on_step=False, on_epoch=True, logger=False)

    def mean_over(self, total: Tensor, count: Tensor | int) -> Tensor:
        """`total / count` of the global batch, 0 of nothing: the processes' average is what one process would have."""
        processes = self.trainer.world_size if self._trainer else 1
        everywhere = torch.as_tensor(count)
        if processes > 1:
            everywhere = everywhere.to(total.device, total.dtype, copy=True)
            torch.distributed.all_reduce(everywhere)  # Lightning's own would make every process wait at a barrier too
        return total * processes / everywhere.clamp(min=1)

    def train_means(self) -> dict[str, float]:
        """The mean of each training score over the epoch that ends here.

        Lightning's own means forget what came before a resume within the epoch.
        """
        sums = self._sums_of_a_process()
        self._train_sums = {}
        return {name: total / examples for name, (total, examples) in sums.items()}

    def _sums_of_a_process(self) -> dict[str, list[float]]:
        """Total and examples of each training score, the mean over the processes: that of all, divided evenly."""
        pairs = torch.tensor([[float(total), n] for total, n in self._train_sums.values()], dtype=torch.float64)
        if self._train_sums and self.trainer.world_size > 1:
            pairs = self.trainer.strategy.reduce(pairs.to(self.device), reduce_op="mean")
        return dict(zip(self._train_sums, pairs.tolist(), strict=True))

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["train_sums"] = self._sums_of_a_process()

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        kept = checkpoint.get("train_sums", {})
        self._train_sums = {name: (total, examples) for name, (total, examples) in kept.items()}
