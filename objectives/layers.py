"""Small networks on top of sentence vectors: classifiers and the four discourse losses (Chen et al. 2019)."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from datamodules.batches import Bag, InDocument, Position
from datamodules.discourse import UNKNOWN_LEVEL, SentencesInDocuments


class Logits(nn.Linear):
    """The last layer. Under autocast only its product has lower precision, not the sum with the bias.

    A bias near -10, as of a rare word, would otherwise lose the digits that differ between two sentences.
    """

    def forward(self, features: Tensor) -> Tensor:
        return functional.linear(features, self.weight).to(self.bias.dtype) + self.bias


def classifier(head: str, width: int, hidden: int, classes: int, dropout: float) -> nn.Sequential:
    """A network from features (B, width) to scores (B, classes).

    "mlp": one hidden layer with tanh (Conneau et al. 2018, appendix, does not name the function). "linear" and
    "nonlinear": the three layers of InferSent, without or with dropout and tanh between them.
    """
    hidden_layers = {"mlp": 1, "linear": 2, "nonlinear": 2}
    layers: list[nn.Module] = []
    for _ in range(hidden_layers[head]):
        layer = nn.Linear(width, hidden)
        layers += [layer] if head == "linear" else [nn.Dropout(dropout), layer, nn.Tanh()]
        width = hidden
    last = Logits(width, classes)
    return nn.Sequential(*layers, *([] if head == "linear" else [nn.Dropout(dropout)]), last)


def feedforward(width: int, hidden: int, classes: int, dropout: float) -> nn.Sequential:
    """Two hidden layers with ReLU (Chen et al. 2019, appendix A)."""
    first, second = nn.Linear(width, hidden), nn.Linear(hidden, hidden)
    steps = [first, nn.ReLU(), nn.Dropout(dropout), second, nn.ReLU(), nn.Dropout(dropout)]
    return nn.Sequential(*steps, Logits(hidden, classes))


class LossTerm(NamedTuple):
    """One prediction for each sentence of a batch; all three are 0 for a sentence without a target."""

    nats: Tensor  # (B,)
    targets: Tensor  # (B,) 1 with a target
    correct: Tensor  # (B,) 1 where the prediction is correct; 0 for bags


def bag_loss(logits: Tensor, bag: Bag) -> LossTerm:
    """Mean -log p(w) over the words w of each bag; logits (B, V). Empty bags do not count."""
    mask = torch.arange(bag.ids.shape[1], device=bag.ids.device) < bag.sizes[:, None]
    picked = functional.log_softmax(logits, 1).gather(1, bag.ids) * mask  # (B, W); avoids counts of shape (B, V)
    nats = -picked.sum(1) / bag.sizes.clamp(min=1)
    return LossTerm(nats, (bag.sizes > 0).long(), torch.zeros_like(bag.sizes))


def class_loss(logits: Tensor, gold: Tensor) -> LossTerm:
    """Cross-entropy of the gold classes (B,), -1 where unknown."""
    nats = functional.cross_entropy(logits, gold, ignore_index=UNKNOWN_LEVEL, reduction="none")
    labelled = gold != UNKNOWN_LEVEL
    return LossTerm(nats, labelled.long(), ((logits.argmax(1) == gold) & labelled).long())


def position_loss(logits: Tensor, position: Position) -> LossTerm:
    """Cross-entropy of a position among the positions that exist."""
    positions = torch.arange(logits.shape[1], device=logits.device)
    return class_loss(logits.masked_fill(positions >= position.total[:, None], -torch.inf), position.value)


class Head(NamedTuple):
    """What defines one prediction from the sentence vector: its number of classes, its loss, its second score."""

    classes: Callable[[SentencesInDocuments], int]
    loss: Callable[[Tensor, InDocument], LossTerm]
    metric: Literal["accuracy", "perplexity"]


LOSSES: dict[str, dict[str, Head]] = {
    "nsp": {  # neighbouring sentence prediction, section 4.1
        "previous": Head(lambda d: d.bag_sizes["source"], lambda y, b: bag_loss(y, b.previous), "perplexity"),
        "next": Head(lambda d: d.bag_sizes["source"], lambda y, b: bag_loss(y, b.next), "perplexity"),
    },
    "nl": {  # nesting level, section 4.2
        "level": Head(lambda d: d.classes.levels, lambda y, b: class_loss(y, b.level), "accuracy")
    },
    "spp": {  # sentence and paragraph position, section 4.3
        "sentence": Head(lambda d: d.classes.sentences, lambda y, b: position_loss(y, b.in_paragraph), "accuracy"),
        "paragraph": Head(lambda d: d.classes.paragraphs, lambda y, b: position_loss(y, b.in_document), "accuracy"),
    },
    "sdt": {  # section and document title, section 4.4
        "section": Head(lambda d: d.bag_sizes["section"], lambda y, b: bag_loss(y, b.section_title), "perplexity"),
        "document": Head(lambda d: d.bag_sizes["document"], lambda y, b: bag_loss(y, b.document_title), "perplexity"),
    },
}
