"""Natural language inference: does a premise entail a hypothesis? (Conneau et al. 2017; 2018, section 3.2)"""

from collections.abc import Mapping
from typing import Annotated, Literal

import torch
from torch import Tensor
from torch.nn import functional

from datamodules.batches import PADDING, LabelledPair, Sentences
from datamodules.corpus import LABELS
from datamodules.nli import InferencePairs
from encoder_lab.settings.types import Fraction, Width
from encoders.embedding import WordEmbedding
from encoders.encoder import Encoder
from objectives.layers import classifier
from objectives.metrics import ratio
from objectives.objective import MakeOptimizer, Objective


class NLI(Objective):
    """Entailment, neutral or contradiction, from [u, v, |u-v|, u*v] of premise u and hypothesis v.

    Loss: mean cross-entropy. Batch: LabelledPair. Score: accuracy in percent.
    """

    score = "val/accuracy"
    no_likelihood = "it labels pairs of sentences, and predicts no words"

    def __init__(
        self,
        encoder: Encoder,
        embedding: WordEmbedding,
        data: InferencePairs,
        optimizer: MakeOptimizer | None,
        seed: int,
        head: Annotated[
            Literal["mlp", "linear", "nonlinear"],
            "mlp; InferSent's three layers: linear, or nonlinear (dropout and tanh)",
        ] = "mlp",
        hidden: Annotated[Width, "units (Conneau et al. 2018, appendix); InferSent has 512"] = 100,
        dropout: Annotated[Fraction, "before every layer of mlp and nonlinear"] = 0.0,
    ) -> None:
        super().__init__(encoder, embedding, optimizer, seed)
        self.head = classifier(head, 4 * encoder.dim, hidden, len(LABELS), dropout)

    def forward(self, batch: LabelledPair) -> Tensor:
        """Scores (B, 3) of the labels."""
        sides = batch.premise, batch.hypothesis
        if batch.label.device.type == "cpu":  # multiplies padding as slowly as words
            u, v = (self.encode(side).vector for side in sides)
        else:  # half as many kernels: a step of an H100 is 1.2 to 1.7 times as fast (docs/gpu.md)
            u, v = self.encode(concat_batches(*sides)).vector.chunk(2)
        return self.head(pair_features(u, v))

    def training_step(self, batch: LabelledPair, batch_idx: int) -> Tensor:
        nats = functional.cross_entropy(self(batch), batch.label, reduction="sum")
        return self.mean_over(nats, len(batch.label), "train/loss")

    def examine(self, batch: LabelledPair, decode: bool = True) -> dict[str, Tensor]:
        scores = self(batch)
        nats = functional.cross_entropy(scores, batch.label, reduction="none")
        return {"nats": nats, "right": scores.argmax(1) == batch.label, "pairs": torch.ones_like(batch.label)}

    def scores_of(self, sums: Mapping[str, float]) -> dict[str, float]:
        loss, accuracy = ratio(sums["nats"], sums["pairs"]), 100 * ratio(sums["right"], sums["pairs"])
        return {"val/loss": loss, "val/accuracy": accuracy}


def concat_batches(first: Sentences, second: Sentences) -> Sentences:
    """Two batches as one, the second after the first."""
    steps = max(first.ids.shape[1], second.ids.shape[1])
    ids = [functional.pad(side.ids, (0, steps - side.ids.shape[1]), value=PADDING) for side in (first, second)]
    return Sentences(torch.cat(ids), torch.cat([first.lengths, second.lengths]))


def pair_features(u: Tensor, v: Tensor) -> Tensor:
    """[u, v, |u-v|, u*v]: (B, D) twice to (B, 4D)."""
    return torch.cat([u, v, (u - v).abs(), u * v], 1)
