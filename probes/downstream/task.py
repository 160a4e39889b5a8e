"""What a downstream task is: sentences or pairs of them, with classes or scores."""

from typing import Literal, NamedTuple

import numpy as np

Kind = Literal["nested", "folds", "splits", "relatedness", "similarity"]


class Items(NamedTuple):
    """N sentences, or N pairs, with what is known of them."""

    first: list[str]  # whitespace-tokenised
    second: list[str]  # empty where the task is about single sentences
    gold: np.ndarray  # (N,) int64 classes from 0, or float64 scores

    @property
    def sentences(self) -> list[str]:
        return self.first + self.second


class Downstream(NamedTuple):
    """One downstream task. `kind` tells how it is scored:

    `nested`: part `all`; folds inside folds, as there is no official split (InnerKFoldClassifier of the toolkit).
    `folds`: parts `train` and `test`; L2 chosen by folds of train (KFoldClassifier).
    `splits`: parts `train`, `dev` and `test` (SplitClassifier).
    `relatedness`: the same parts, scores in `rated`; a small regression.
    `similarity`: any number of named parts; the cosine of the two vectors, no training.
    """

    name: str
    kind: Kind
    parts: dict[str, Items]
    classes: int = 0
    rated: tuple[float, float] = (0.0, 5.0)  # the lowest and the highest score
    positive: int | None = None  # the class whose F1 is reported besides
