"""The downstream suite: features of sentences and pairs, the scorer of each kind of task, intervals."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.metrics import f1_score

from probes.classifiers.classifier import Grid, Labelled, Score, as_tensors, probe
from probes.classifiers.grid import Tensors
from probes.downstream.folds import Folded, by_folds, nested
from probes.downstream.relatedness import correlation, regression
from probes.downstream.similarity import cosines, rank_correlation, similarity
from probes.downstream.task import Downstream, Items
from probes.statistics import fisher, wilson

CLASSIFIERS = {"relatedness": "regression", "similarity": "cosine"}  # as probes.csv names them; the others: logreg


class Outcome(NamedTuple):
    """One task's score, in percent; a correlation is times 100, as in the papers' tables."""

    dev: float
    test: float
    low: float  # 95% interval of the test score
    high: float
    correct: np.ndarray  # (N_test,) bool; empty where the score is a correlation
    hyperparameters: dict[str, float | int | str]
    details: dict[str, float]  # other measures of the same predictions
    seconds: float


@dataclass(frozen=True)
class Vectors:
    """The vectors of a suite's distinct sentences."""

    matrix: np.ndarray  # (N, D)
    row: dict[str, int]

    def of(self, sentences: Sequence[str]) -> np.ndarray:
        return self.matrix[[self.row[sentence] for sentence in sentences]]

    def features(self, items: Items) -> np.ndarray:
        """The vector u of a sentence (N, D); |u - v| and u * v of a pair (N, 2D)."""
        u = self.of(items.first)
        if not items.second:
            return u
        v = self.of(items.second)
        return np.concatenate([np.abs(u - v), u * v], 1)


def sentences_of(tasks: Sequence[Downstream]) -> list[str]:
    """The distinct sentences of some tasks, in a fixed order."""
    return list(dict.fromkeys(s for task in tasks for part in task.parts.values() for s in part.sentences))


def score_downstream(task: Downstream, vectors: Vectors, grid: Grid, folds: int, seed: int, device: str) -> Outcome:
    """Score one task. `grid` is logistic regression; SentEval's settings (PROTOCOL of each kind: see Downstream)."""
    started = time.monotonic()

    def made(part: Items) -> Tensors:
        return as_tensors(Labelled(vectors.features(part), part.gold), device)

    parts = task.parts
    if task.kind == "similarity":
        outcome = _similarity(
            {name: (cosines(vectors.of(p.first), vectors.of(p.second)), p.gold) for name, p in parts.items()}
        )
    elif task.kind == "relatedness":
        data = [made(parts[part]) for part in ("train", "dev", "test")]
        dev, found, chosen = regression(data[0], data[1], data[2], task.rated, grid, seed)
        outcome = _relatedness(100 * dev, found, parts["test"].gold, chosen)
    elif task.kind == "splits":
        train, dev_part, test = (Labelled(vectors.features(p), p.gold) for p in parts.values())
        outcome = _split(probe(train, dev_part, test, task.classes, grid, seed, device))
    elif task.kind == "folds":
        found_by = by_folds(made(parts["train"]), made(parts["test"]), task.classes, folds, grid, seed, task.name)
        outcome = _folded(found_by, parts["test"].gold, task)
    else:
        whole = nested(made(parts["all"]), task.classes, folds, grid, seed, task.name)
        outcome = _folded(whole, parts["all"].gold, task)
    return outcome._replace(seconds=time.monotonic() - started)


def score_majority(task: Downstream) -> Outcome:
    """What can be had without vectors: the most frequent class of the training part; of correlations, nothing.

    Conneau et al. 2018, Table 5, "Chance".
    """
    if task.kind == "similarity":
        return _similarity({name: (np.zeros(len(part.gold)), part.gold) for name, part in task.parts.items()})
    whole = task.parts.get("all")
    train, test = (whole or task.parts[part] for part in ("train", "test"))
    if task.kind == "relatedness":
        return _relatedness(0.0, np.full(len(test.gold), train.gold.mean()), test.gold, {})
    most = int(np.bincount(train.gold).argmax())
    dev = task.parts.get("dev", train)
    return _classified(100 * float((dev.gold == most).mean()), np.full(len(test.gold), most), test.gold, task, {})


def _folded(found: Folded, gold: np.ndarray, task: Downstream) -> Outcome:
    chosen = {"l2": " ".join(f"{value:g}" for value in found.l2)} if len(found.l2) > 1 else {"l2": found.l2[0]}
    outcome = _classified(found.dev_accuracy, found.predicted, gold, task, dict(chosen))
    return outcome._replace(test=found.test_accuracy)  # the mean over the folds


def _classified(
    dev: float, predicted: np.ndarray, gold: np.ndarray, task: Downstream, chosen: dict[str, float | int | str]
) -> Outcome:
    correct, positive = predicted == gold, task.positive
    details = {} if positive is None else {"f1": 100 * float(f1_score(gold, predicted, pos_label=positive))}
    low, high = wilson(int(correct.sum()), len(correct))
    return Outcome(dev, 100 * float(correct.mean()), low, high, correct, chosen, details, 0.0)


def _split(score: Score) -> Outcome:
    low, high = wilson(int(score.test_correct.sum()), len(score.test_correct))
    chosen = {"l2": score.hyperparameters["l2"]}
    return Outcome(score.dev_accuracy, score.test_accuracy, low, high, score.test_correct, chosen, {}, 0.0)


def _relatedness(dev: float, found: np.ndarray, gold: np.ndarray, chosen: dict[str, float]) -> Outcome:
    r = correlation(found, gold)
    details = {"spearman": 100 * rank_correlation(found, gold), "mse": float(np.mean((found - gold) ** 2))}
    return _correlated(dev, r, len(gold), dict(chosen), details)


def _similarity(domains: dict[str, tuple[np.ndarray, np.ndarray]]) -> Outcome:
    details = similarity(domains)
    size = sum(len(gold) for _, gold in domains.values())
    return _correlated(details["mean pearson"], details["mean pearson"] / 100, size, {}, details)


def _correlated(
    dev: float, r: float, pairs: int, chosen: dict[str, float | int | str], details: dict[str, float]
) -> Outcome:
    low, high = fisher(r, pairs)
    return Outcome(dev, 100 * r, 100 * low, 100 * high, np.empty(0, dtype=bool), chosen, details, 0.0)
