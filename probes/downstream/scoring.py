"""Downstream tasks without a classifier grid of their own: folds, relatedness, similarity."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

import numpy as np
import torch
from scipy.stats import spearmanr
from sklearn.metrics import f1_score

from probes.classifiers.examples import Tensors
from probes.classifiers.grid import Grid
from probes.correlations import make_domain, pack_domains
from probes.downstream.folds import FoldScores, score_by_folds, score_nested
from probes.downstream.relatedness import fit_regression, pearson
from probes.statistics import fisher_interval, wilson_interval
from probes.task import NO_ITEMS, Items, Outcome, content_hash
from probes.vectors import Vectors, pair_features, sentence_vector

ScoringMethod = Literal["nested", "folds", "relatedness", "similarity"]
READERS = {"relatedness": "regression", "similarity": "cosine"}  # as probes.csv names them; the others: logreg


@dataclass(frozen=True)
class Downstream:
    """One downstream task. `method` is how it is scored:

    `nested`: part `all`; folds inside folds, as there is no official split (InnerKFoldClassifier of the toolkit).
    `folds`: parts `train` and `test`; L2 chosen by folds of train (KFoldClassifier).
    `relatedness`: parts `train`, `dev` and `test`, scores in `rated`; a small regression.
    `similarity`: any number of named parts; the cosine of the two vectors, no training.
    """

    name: str
    method: ScoringMethod
    parts: Mapping[str, Items]
    classes: int = 0
    rated: tuple[float, float] = (0.0, 5.0)  # the lowest and the highest score
    positive: int | None = None  # the class of which F1 is a second measure
    grid: Grid = field(default_factory=lambda: Grid().logistic())
    folds: int = 10
    seed: int = 1
    suite: str = "downstream"
    needs: Literal["vectors"] = "vectors"
    baselines: tuple[str, ...] = ("majority",)

    @property
    def reader(self) -> str:
        """The name of the classifier or measure in tables."""
        return READERS.get(self.method, "logreg")

    @property
    def sentences(self) -> list[str]:
        """Every text, part by part."""
        return [sentence for part in self.parts.values() for sentence in part.sentences]

    @property
    def data(self) -> str:
        items = [part for named in self.parts.items() for part in named]
        return content_hash(self.name, self.method, self.rated, self.classes, self.positive, *items)

    @property
    def fingerprint(self) -> str:
        return content_hash(self.data, asdict(self.grid), self.folds, self.seed)

    @property
    def test_items(self) -> str:
        if self.method == "similarity":
            return content_hash(*self.parts.values())
        return content_hash(self.parts["all" if "all" in self.parts else "test"])

    def score(self, vectors: Vectors, device: str) -> Outcome:
        """Score the task by its kind."""

        def tensors(part: Items) -> Tensors:
            features = vectors.features(part, sentence_vector if len(part.texts) == 1 else pair_features, device)[:]
            return Tensors(features, torch.as_tensor(part.gold, device=device))

        if self.method == "similarity":
            domains = {name: (_cosines(part, vectors), part.gold) for name, part in self.parts.items()}
            outcome = _similarity_outcome(domains)
        elif self.method == "relatedness":
            train, dev_part, test = (tensors(self.parts[part]) for part in ("train", "dev", "test"))
            dev, predicted, chosen = fit_regression(train, dev_part, test, self.rated, self.grid, self.seed)
            outcome = _relatedness_outcome(100 * dev, predicted, self.parts["test"].gold, chosen)
        elif self.method == "folds":
            train, test = tensors(self.parts["train"]), tensors(self.parts["test"])
            scores = score_by_folds(train, test, self.classes, self.folds, self.grid, self.seed, self.name)
            outcome = self._outcome_of_folds(scores, self.parts["test"].gold)
        else:
            scores = score_nested(tensors(self.parts["all"]), self.classes, self.folds, self.grid, self.seed, self.name)
            outcome = self._outcome_of_folds(scores, self.parts["all"].gold)
        return outcome._replace(chance=self.baseline("majority").test)

    def baseline(self, name: str) -> Outcome:
        """The most frequent class of the training part; 0 for a correlation.

        Conneau et al. 2018, Table 5, "Chance".
        """
        assert name == "majority"
        if self.method == "similarity":
            constant = {name: (np.zeros(len(part.gold)), part.gold) for name, part in self.parts.items()}
            return _similarity_outcome(constant)
        all_items = self.parts.get("all")
        train, test = (all_items or self.parts[part] for part in ("train", "test"))
        if self.method == "relatedness":
            return _relatedness_outcome(0.0, np.full(len(test.gold), train.gold.mean()), test.gold, {})
        majority = int(np.bincount(train.gold).argmax())
        dev = 100 * float((train.gold == majority).mean())
        return self._outcome_of_classes(dev, np.full(len(test.gold), majority), test.gold, {})

    def _outcome_of_folds(self, scores: FoldScores, gold: np.ndarray) -> Outcome:
        chosen = {"l2": " ".join(f"{value:g}" for value in scores.l2)} if len(scores.l2) > 1 else {"l2": scores.l2[0]}
        outcome = self._outcome_of_classes(scores.dev_accuracy, scores.predicted, gold, dict(chosen))
        return outcome._replace(test=scores.test_accuracy)  # the mean over the folds

    def _outcome_of_classes(
        self, dev: float, predicted: np.ndarray, gold: np.ndarray, chosen: dict[str, float | int | str]
    ) -> Outcome:
        correct, positive = predicted == gold, self.positive
        details = {} if positive is None else {"f1": 100 * float(f1_score(gold, predicted, pos_label=positive))}
        low, high = wilson_interval(int(correct.sum()), len(correct))
        return Outcome(dev, 100 * float(correct.mean()), low, high, correct, chosen, details)


def _cosines(part: Items, vectors: Vectors) -> np.ndarray:
    first, second = (vectors.features(Items((column,), part.gold), sentence_vector)[:].numpy() for column in part.texts)
    return cosines(first, second)


def _relatedness_outcome(dev: float, predicted: np.ndarray, gold: np.ndarray, chosen: dict[str, float]) -> Outcome:
    r = pearson(predicted, gold)
    details = {"spearman": 100 * spearman(predicted, gold), "mse": float(np.mean((predicted - gold) ** 2))}
    return _correlation_outcome(dev, [(r, predicted)], dict(chosen), details)


def _similarity_outcome(domains: dict[str, tuple[np.ndarray, np.ndarray]]) -> Outcome:
    details = similarity_measures(domains)
    parts = [(details[f"{name} pearson"] / 100, predicted) for name, (predicted, _) in domains.items()]
    return _correlation_outcome(details["mean pearson"], parts, {}, details)


def _correlation_outcome(
    dev: float,
    parts: Sequence[tuple[float, np.ndarray]],
    chosen: dict[str, float | int | str],
    details: dict[str, float],
) -> Outcome:
    r = float(np.mean([r for r, _ in parts]))
    reaches = [np.subtract(fisher_interval(of_domain, len(predicted)), of_domain) for of_domain, predicted in parts]
    below, above = np.linalg.norm(reaches, axis=0) / len(parts)  # domains have their own pairs, so their errors add
    low, high = r - below, r + above
    text = pack_domains([make_domain(*part) for part in parts])
    return Outcome(dev, 100 * r, float(100 * low), float(100 * high), NO_ITEMS, chosen, details, domains=text)


def cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The cosine (N,) of each pair of vectors (N, D); 0 where one of them is zero.

    Of float32, computed in float64: vectors of one direction have the same cosines, so that they tie.
    """
    first, second = first.astype(np.float64), second.astype(np.float64)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    exact = np.divide((first * second).sum(1), lengths, out=np.zeros(len(first)), where=lengths > 0)
    return exact.astype(np.float32).astype(np.float64)


def spearman(predicted: np.ndarray, gold: np.ndarray) -> float:
    """Spearman's rho; 0 where one side is constant."""
    return float(spearmanr(predicted, gold)[0]) if np.ptp(predicted) > 0 and np.ptp(gold) > 0 else 0.0


def similarity_measures(domains: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, float]:
    """Pearson and Spearman of cosines and gold scores, for each domain and in three summaries.

    `mean` weighs all domains equally and `wmean` by their pairs (SentEval); `all` pools the pairs (SimCSE).
    """
    measures: dict[str, float] = {}
    sizes = [len(gold) for _, gold in domains.values()]
    pooled = [np.concatenate(part) for part in zip(*domains.values(), strict=True)]
    for name, measure in (("pearson", pearson), ("spearman", spearman)):
        scores = {domain: 100 * measure(*pair) for domain, pair in domains.items()}
        measures |= {f"{domain} {name}": score for domain, score in scores.items()}
        measures[f"mean {name}"] = float(np.mean(list(scores.values())))
        measures[f"wmean {name}"] = float(np.average(list(scores.values()), weights=sizes))
        measures[f"all {name}"] = 100 * measure(pooled[0], pooled[1])
    return measures
