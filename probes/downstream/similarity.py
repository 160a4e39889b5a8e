"""Similarity without training: the cosine of two vectors compared with human scores (STS 2012 to 2016)."""

from collections.abc import Mapping

import numpy as np
from scipy.stats import spearmanr

from probes.downstream.relatedness import correlation


def cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The cosine (N,) of each pair of vectors (N, D); 0 where one of them is zero."""
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.divide((first * second).sum(1), lengths, out=np.zeros(len(first)), where=lengths > 0)


def rank_correlation(predicted: np.ndarray, gold: np.ndarray) -> float:
    """Spearman's rho; 0 where one side is constant."""
    return float(spearmanr(predicted, gold)[0]) if np.ptp(predicted) > 0 and np.ptp(gold) > 0 else 0.0


def similarity(domains: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, float]:
    """Pearson and Spearman of cosines and gold scores, for each domain and in three summaries.

    `mean` weighs all domains equally and `wmean` by their pairs (SentEval); `all` pools the pairs (SimCSE).
    """
    measures: dict[str, float] = {}
    sizes = [len(gold) for _, gold in domains.values()]
    pooled = [np.concatenate(part) for part in zip(*domains.values(), strict=True)]
    for name, measure in (("pearson", correlation), ("spearman", rank_correlation)):
        scores = {domain: 100 * measure(*pair) for domain, pair in domains.items()}
        measures |= {f"{domain} {name}": score for domain, score in scores.items()}
        measures[f"mean {name}"] = float(np.mean(list(scores.values())))
        measures[f"wmean {name}"] = float(np.average(list(scores.values()), weights=sizes))
        measures[f"all {name}"] = 100 * measure(pooled[0], pooled[1])
    return measures
