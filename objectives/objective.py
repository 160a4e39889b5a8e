"""The base of all objectives: an encoder on word vectors, an optimiser, one score that selects."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from datamodules.batches import Sentences
from encoders.embedding import WordEmbedding
from encoders.encoder import Encoded, Encoder
from encoders.example import EXAMPLE_KEY, example_vectors, warn_of_other_vectors
from encoders.load import SavedRun
from objectives.likelihood import SentenceLikelihood
from objectives.metrics import MetricSums

READS_STATES_REASON = "it reads the states of the words too, and erasing a property from each leaves it in all of them"
MakeOptimizer = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]


class Objective(pl.LightningModule):
    """A LightningModule around an encoder. Subclasses define the prediction and the score that selects.

    The random numbers of a training step are a function of (seed, step). Nothing between two steps, such as probing,
    can change training, and a resumed run draws the same numbers as an uninterrupted one.
    """

    score: str = "val/loss"  # the validation score that selects the best checkpoint, e.g. "val/bleu"
    trains = True
    no_likelihood = "it predicts no sentence from the one before"  # why it cannot say how surprising a text is
    trains_all = True  # whether each step trains every weight; DDP must know

    def __init__(self, encoder: Encoder, embedding: WordEmbedding, optimizer: MakeOptimizer | None, seed: int) -> None:
        super().__init__()
        self.encoder, self.embedding = encoder, embedding
        self.make_optimizer, self.seed = optimizer, seed
        self._example: object = None  # of the checkpoint that a run continues from
        # by training score of this epoch: total and number of examples
        self._train_sums: dict[str, tuple[Tensor | float, Tensor | float]] = {}

    @cached_property
    def mode(self) -> Literal["min", "max"]:
        """Whether the lowest or the highest score selects."""
        return "min" if self.score.endswith(("loss", "perplexity")) else "max"

    @classmethod
    def without_likelihood(cls, _settings: Mapping[str, Any], /) -> str:
        """Why the objective of a run with these settings gives no text a probability; empty where it does."""
        return cls.no_likelihood

    @classmethod
    def without_use(cls, _settings: Mapping[str, Any], /) -> str:
        """Why suite=use cannot measure an objective with these settings; empty where it can."""
        return "" if cls.examine is not Objective.examine else "it has no method `examine`"

    def likelihood(self) -> SentenceLikelihood:
        """The probability of a sentence given the vector of the one before; only without a `without_likelihood`."""
        raise NotImplementedError

    def likelihood_files(self) -> dict[str, Path]:
        """What `saved_likelihood` needs besides the weights: the names of files in a run folder, and their sources."""
        return {}

    @classmethod
    def saved_likelihood(cls, saved: SavedRun, ends: bool = False) -> SentenceLikelihood:
        """The likelihood of a run folder; `ends`: also score the mark that ends a sentence. Raises InputError."""
        raise NotImplementedError

    def setup(self, stage: str) -> None:
        """Tells DDP not to send buffers (the word vectors) at every step: they are equal in all processes."""
        buffers = [name for name, _ in self.named_buffers()]
        DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(self, buffers)

    def encode(self, sentences: Sentences) -> Encoded:
        """Sentence vectors (B, D) and word states (B, T, H)."""
        return self.encoder(self.embedding(sentences.ids), sentences.lengths)

    def examine(self, batch: Any, decode: bool = True) -> dict[str, Tensor]:
        """Counts (B,) of each example of a validation batch, by name; `decode`: also those that need a decoded text."""
        raise NotImplementedError

    def scores_of(self, sums: Mapping[str, float]) -> dict[str, float]:
        """The validation scores of counts, summed over examples: "val/loss" and others."""
        raise NotImplementedError

    def on_validation_epoch_start(self) -> None:
        self._sums = MetricSums()

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self._sums.add(**self.examine(batch))

    def on_validation_epoch_end(self) -> None:
        sums = self._sums.totals(self)
        for name, value in self.scores_of(sums).items() if sums else ():  # or validation_step is its own
            self.log_score(name, value, prog_bar=name in (self.score, "val/perplexity"))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        assert self.make_optimizer is not None
        optimizer = self.make_optimizer([p for p in self.parameters() if p.requires_grad])
        # Lightning does not clip gradients that a fused optimiser unscales itself, so unscale them first
        optimizer._step_supports_amp_scaling = False  # type: ignore[attr-defined]
        return optimizer

    def on_train_batch_start(self, batch: object, batch_idx: int) -> None:
        seed = (self.seed * 1_000_003 + self.global_step) * 4099 + self.global_rank
        torch.default_generator.manual_seed(seed)  # torch.manual_seed formats the stack for each absent device
        if self.device.type == "cuda":
            torch.cuda.manual_seed(seed)

    def log(self, name: str, value: Any, *args: Any, **options: Any) -> None:
        """As Lightning's; but without `on_step` logs the epoch's mean, not the last batch, and only to the run log."""
        options = {key: option for key, option in options.items() if option is not None}
        if not options.get("on_step"):
            options = {"on_step": False, "on_epoch": True, "logger": False, **options}
        super().log(name, value, *args, **options)

    def log_score(self, name: str, value: Tensor | float, batch_size: Tensor | int = 1, prog_bar: bool = False) -> None:
        """Record a score of this epoch; the run log writes it to metrics.csv and TensorBoard."""
        if name.startswith("train/"):
            total, examples = self._train_sums.get(name, (0.0, 0))
            this = value.double() if isinstance(value, Tensor) else value
            self._train_sums[name] = (total + batch_size * this, examples + batch_size)
            if isinstance(batch_size, Tensor) and not prog_bar:
                return  # 0 in all of an epoch would be NaN in Lightning; `train_means` is what is written
        weight = cast(int, batch_size)  # Lightning only multiplies and adds it
        self.log(name, value, batch_size=weight, prog_bar=prog_bar)

    def mean_over(self, total: Tensor, count: Tensor | int, name: str = "") -> Tensor:
        """`total / count`, scaled so that its mean over processes is that of the global batch; 0 if count is 0.

        `name`: of the training score that it is; the mean of an epoch is then over all that was counted.
        """
        processes = self.trainer.world_size if self._trainer else 1
        everywhere = torch.as_tensor(count)
        if processes > 1:
            everywhere = everywhere.to(total.device, total.dtype, copy=True)
            torch.distributed.all_reduce(everywhere)  # Lightning's all_reduce adds a barrier
        mean = total * processes / everywhere.clamp(min=1)
        if name:
            self.log_score(name, mean.detach(), everywhere.double() / processes, prog_bar=name == "train/loss")
        return mean

    def train_means(self) -> dict[str, float]:
        """The mean of each training score over the epoch, with the steps before a resume within it."""
        sums = self._mean_train_sums()
        self._train_sums = {}
        return {name: total / examples for name, (total, examples) in sums.items() if examples}

    def _mean_train_sums(self) -> dict[str, list[float]]:
        """Total and examples of each training score: the sum over all processes, divided by their number."""
        pairs = torch.tensor([[float(total), float(n)] for total, n in self._train_sums.values()], dtype=torch.float64)
        if self._train_sums and self.trainer.world_size > 1:
            pairs = self.trainer.strategy.reduce(pairs.to(self.device), reduce_op="mean")
        return dict(zip(self._train_sums, pairs.tolist(), strict=True))

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint[EXAMPLE_KEY] = example_vectors(self.encoder, self.embedding.dim)
        checkpoint["train_sums"] = {name: pair for name, pair in self._mean_train_sums().items() if pair[1]}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        sums = checkpoint.get("train_sums", {})
        self._train_sums = {name: (total, examples) for name, (total, examples) in sums.items()}
        self._example = checkpoint.get(EXAMPLE_KEY)

    def on_fit_start(self) -> None:
        """With the weights of a resumed run."""
        path = Path(self.trainer.ckpt_path or "")
        warn_of_other_vectors(path, self.encoder, self.embedding.dim, self._example)
