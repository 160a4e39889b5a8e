"""A classification task: labelled items in three parts; the classifier is the best of a grid on dev."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field
from typing import Literal

import numpy as np

from encoder_lab.storage.code import code_of
from probes.baselines import BASELINES, score_baseline
from probes.classifiers.classifier import Grid, Labelled, Score, probe
from probes.statistics import wilson_interval
from probes.task import Items, Outcome, content_hash, single
from probes.vectors import FeatureMaker, Vectors, sentence_vector

SecondMeasures = Callable[[np.ndarray, Items], dict[str, float]]  # classes predicted (N,) for N items, to percent


@dataclass(frozen=True)
class Classification:
    """Train a classifier on the features of `train`, choose it on `dev`, score it on `test`."""

    name: str  # the paper's: SentLen, WC, TreeDepth, ...
    classes: list[str]  # sorted labels of the training items
    train: Items
    dev: Items
    test: Items
    _: KW_ONLY
    suite: str = "probing"
    grid: Grid = field(default_factory=Grid)  # the classifiers that compete on dev
    seed: int = 1
    features: FeatureMaker = sentence_vector  # of the vectors of an item's texts
    sorted_by_length: bool = False  # the training items, as the published toolkit shows them to its classifier
    second: SecondMeasures | None = None  # other measures of the predictions on test
    cell_of: "Classification | None" = None  # this task chooses the cell of the grid; None: `dev` does
    originals: Sequence[str] = ()  # what its changed sentences were: training text is without them too
    orders: int = 1  # test items in a row that are the same texts in other orders: right or wrong together, mostly
    needs: Literal["vectors"] = "vectors"

    @property
    def parts(self) -> tuple[Items, Items, Items]:
        return self.train, self.dev, self.test

    @property
    def sentences(self) -> list[str]:
        """Every text, part by part."""
        return [sentence for part in self.parts for sentence in part.sentences]

    @property
    def reader(self) -> str:
        """The name of the classifier in tables."""
        return "logreg" if self.grid.is_logistic else "mlp"

    @property
    def baselines(self) -> tuple[str, ...]:
        """Baselines that read words need items of one sentence."""
        return tuple(BASELINES) if len(self.train.texts) == 1 else ("majority",)

    @property
    def data(self) -> str:
        """A fingerprint of the items, independent of the classifier."""
        return content_hash(self.name, self.classes, *self.parts)

    @property
    def fingerprint(self) -> str:
        second = [self.second.__qualname__, code_of(self.second)] if self.second else []
        settings = {name: value for name, value in asdict(self.grid).items() if name != "memory_mb"}  # changes no score
        features = getattr(self.features, "__qualname__", repr(self.features))
        reading = features, code_of(self.features), settings, self.seed, self.sorted_by_length
        chosen_by = [self.cell_of.fingerprint] if self.cell_of else []
        return content_hash(self.data, *reading, *second, *chosen_by)

    @property
    def test_items(self) -> str:
        return content_hash(self.classes, self.test)

    def score(self, vectors: Vectors, device: str) -> Outcome:
        """The best classifier of the grid on the test items."""
        copies = 2 if self.grid.protocol == "modern" else 1  # features as they are, and standardised
        items = copies * sum(len(part.gold) for part in self.parts)
        item_bytes = (self.grid.memory_mb << 19) // items

        def labelled(items: Items) -> Labelled:
            return Labelled(vectors.features(items, self.features, device, item_bytes * len(items.gold)), items.gold)

        train = in_published_order(self.train) if self.sorted_by_length else self.train
        splits = labelled(train), labelled(self.dev), labelled(self.test)
        best = probe(*splits, len(self.classes), self.grid, self.seed, device, vectors.bfloat16)
        return self._outcome(best)

    def baseline(self, name: str) -> Outcome:
        """One of `baselines`, fitted to the training items."""
        return self._outcome(score_baseline(name, *self.parts))

    def _outcome(self, score: Score) -> Outcome:
        """The outcome of a classifier, with the 95% interval of its test accuracy."""
        chance = 100 * float((self.test.gold == np.bincount(self.train.gold).argmax()).mean())
        details = self.second(score.predicted, self.test) if self.second else {}
        dev, test, correct, chosen, _ = score
        correct = correct if self.orders == 1 else correct.reshape(-1, self.orders)
        interval = wilson_interval(correct.sum() / self.orders, len(correct))
        return Outcome(dev, test, *interval, correct, chosen, details, chance=chance)


def in_published_order(items: Items) -> Items:
    """Items sorted by number of tokens, then label, as the published toolkit shows them to its classifier."""
    (sentences,) = items.texts
    order = np.lexsort([items.gold, np.array([len(str(sentence).split()) for sentence in sentences])])
    return single([sentences[row] for row in order], items.gold[order])  # type: ignore[misc]
