"""Discourse losses: predict the place of a sentence in its document (Chen et al. 2019, section 4)."""

from collections.abc import Mapping, Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from common.errors import InputError
from datamodules.batches import InDocument
from datamodules.discourse import SentencesInDocuments
from encoders.embedding import WordEmbedding
from encoders.encoder import Encoder
from objectives.layers import LOSSES, Term, feedforward
from objectives.metrics import MetricSums, perplexity, ratio
from objectives.objective import MakeOptimizer, Objective


class Discourse(Objective):
    """Predict neighbours (nsp), positions (spp), nesting level (nl), titles (sdt), or any combination.

    Loss: the weighted sum of the chosen losses. Each is the sum of one or two means over the sentences that have the
    target. Batch: InDocument. Score: the loss on dev. Each loss is also logged, with its accuracy in percent or its
    perplexity per word.
    """

    score = "val/loss"
    mode: Literal["min", "max"] = "min"

    def __init__(
        self,
        encoder: Encoder,
        embedding: WordEmbedding,
        data: SentencesInDocuments,
        optimizer: MakeOptimizer | None,
        seed: int,
        losses: Sequence[str] = ("nsp",),
        weights: Mapping[str, float] | None = None,
        hidden: int = 300,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(encoder, embedding, optimizer, seed)
        chosen = list(losses)
        if not chosen or len(set(chosen)) < len(chosen) or not set(chosen) <= set(LOSSES):
            raise InputError(f"objective.losses={chosen}: name some of {', '.join(LOSSES)}, each once")
        self.weights = dict(weights or {})
        self.targets = {f"{name}_{part}": target for name in chosen for part, target in LOSSES[name].items()}
        self.heads = nn.ModuleDict(
            {
                name: feedforward(encoder.dim, hidden, target.classes(data), dropout)
                for name, target in self.targets.items()
            }
        )

    def forward(self, batch: InDocument) -> dict[str, Term]:
        """The terms of all chosen losses, with names such as `nsp_previous`."""
        vector = self.encode(batch.sentence).vector
        return {name: self.targets[name].loss(head(vector), batch) for name, head in self.heads.items()}

    def total(self, means: Mapping[str, Tensor | float]) -> Tensor | float:
        """The weighted sum of mean losses; names as in `forward`."""
        return sum(self.weights.get(name.split("_")[0], 1.0) * mean for name, mean in means.items())

    def training_step(self, batch: InDocument, batch_idx: int) -> Tensor:
        means = {name: self.mean_over(term.nats, term.targets) for name, term in self(batch).items()}
        size = len(batch.sentence.lengths)
        for name, mean in means.items():
            self.log_score(f"train/{name}_loss", mean.detach(), batch_size=size)
        loss = torch.as_tensor(self.total(means))
        self.log_score("train/loss", loss.detach(), batch_size=size, prog_bar=True)
        return loss

    def on_validation_epoch_start(self) -> None:
        self._sums = {name: MetricSums("nats", "targets", "correct") for name in self.targets}

    def validation_step(self, batch: InDocument, batch_idx: int) -> None:
        for name, term in self(batch).items():
            self._sums[name].add(**term._asdict())

    def on_validation_epoch_end(self) -> None:
        means: dict[str, Tensor | float] = {}
        for name, tally in self._sums.items():
            sums = tally.totals(self)
            mean = means[name] = ratio(sums["nats"], sums["targets"])
            accuracy = 100 * ratio(sums["correct"], sums["targets"])
            reports = self.targets[name].reports
            self.log_score(f"val/{name}_loss", mean)
            self.log_score(f"val/{name}_{reports}", accuracy if reports == "accuracy" else perplexity(mean))
        self.log_score("val/loss", self.total(means), prog_bar=True)
