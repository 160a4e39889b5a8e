"""The interface of a task: items of k texts, the reader of their vectors or surprisals, and the score."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from encoder_lab.errors import InputError

# N texts, or N lists of texts, which stand for the mean of their vectors
Texts = Sequence[str] | Sequence[Sequence[str]]
Needs = Literal["vectors", "surprisal", "loss", "use", "scored", "bag"]


class Items(NamedTuple):
    """N items of k texts each, with their gold classes or scores."""

    texts: tuple[Texts, ...]  # k columns of N; whitespace-tokenised
    gold: np.ndarray  # (N,) int64 classes from 0, or float64 scores

    @property
    def sentences(self) -> list[str]:
        first = self.texts[0]
        if len(self.texts) == 1 and isinstance(first, list) and first and isinstance(first[0], str):
            return first  # no copy: called often, and long
        return [text for column in self.texts for group in column for text in texts_of(group)]


def texts_of(group: str | Sequence[str]) -> Sequence[str]:
    """The texts of one text or of a list."""
    return [group] if isinstance(group, str) else group


def single(sentences: Sequence[str], gold: np.ndarray) -> Items:
    """Items of one sentence each."""
    return Items((sentences,), gold)


class Outcome(NamedTuple):
    """The score of one task, in percent; a correlation is times 100, as in the papers' tables."""

    dev: float
    test: float
    low: float  # 95% interval of the test score
    high: float
    correct: np.ndarray  # (N_test,) bool: which test items are right, (N_test, K) of K answers; empty: a correlation
    hyperparameters: dict[str, Any]  # chosen on dev, and the front of the grid
    details: Mapping[str, float] = {}  # second measures of the same predictions
    seconds: float = 0.0  # which the evaluation measures
    chance: float | None = None  # the test score without knowledge: the most frequent class, 0 of a correlation
    domains: str = ""  # of a correlation: its predictions (probes/correlations.py)
    warnings: Sequence[str] = ()  # given each time the score is shown, also from a cache


class Task(Protocol):
    """A task of a suite. Its kind decides how vectors become a score (probes/classification.py is one)."""

    @property
    def name(self) -> str:
        """The name in tables."""

    @property
    def suite(self) -> str:
        """The name of its folder in probes/."""

    @property
    def needs(self) -> Needs:
        """What a model must give: vectors of sentences, surprisals of texts, or vectors and what uses them: its
        objective (loss) or other tasks (use). Or scores of other tasks (scored), also of its bag of vectors (bag).
        """

    @property
    def reader(self) -> str:
        """What reads them, as probes.csv names it: mlp, logreg, regression, cosine, surprisal, loss, error."""

    @property
    def baselines(self) -> Sequence[str]:
        """The baselines that need no model."""

    @property
    def sentences(self) -> Sequence[str]:
        """Every text that a model must encode, or score as a whole."""

    @property
    def fingerprint(self) -> str:
        """The same fingerprint means the same items, read with the same settings."""

    @property
    def data(self) -> str:
        """A fingerprint of all items, independent of what reads them."""

    @property
    def test_items(self) -> str:
        """A fingerprint of the test items; where it is equal, two models can be compared item by item."""

    def score(self, readings: Any, device: str) -> Outcome:
        """Read the task out of what it needs of a model: Vectors, with a classifier that runs on `device`, or the
        surprisals of its sentences (probes/surprisals.py).
        """

    def baseline(self, name: str) -> Outcome:
        """What one of `baselines` predicts."""


NO_ITEMS = np.empty(0, dtype=bool)  # which test items are right, where the score is of none


class WithoutBaselines:
    """A task that no baseline scores."""

    suite: str
    baselines: ClassVar[tuple[str, ...]] = ()

    def baseline(self, name: str) -> Outcome:
        raise InputError(f"model={name}: suite={self.suite} has no baselines")


@dataclass(frozen=True)
class DerivedTask(WithoutBaselines):
    """A task that is derived from another one, and has its name and data."""

    task: Task

    @property
    def name(self) -> str:
        return self.task.name

    @property
    def sentences(self) -> Sequence[str]:
        return self.task.sentences

    @property
    def data(self) -> str:
        return self.task.data

    @property
    def test_items(self) -> str:
        return self.data


def name_key(name: str) -> str:
    """The name of a task without capitals and hyphens, as users may leave these out."""
    return name.replace("-", "").lower()


def content_hash(*parts: object) -> str:
    """A fingerprint of some content: arrays by their bytes, items by their texts and gold, the rest by repr."""
    digest = sha256()
    for part in parts:
        if isinstance(part, Items):
            for column in part.texts:
                digest.update(repr(list(column)).encode())
            part = part.gold
        digest.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()[:16]


def warn_of_wrong_sizes(parts: Mapping[str, Iterable[Items]], published: Mapping[str, int]) -> None:
    """Print a line for each task of another size, by more than a tenth; those not published are the user's own."""
    for name in (name for name in parts if name in published):
        items, expected = sum(len(part.gold) for part in parts[name]), published[name]
        if abs(items - expected) > expected / 10:
            line = f"{name}: {items:,} items, but {expected:,} are published; its scores are not those of the task"
            print(f"warning: {line}", file=sys.stderr)
