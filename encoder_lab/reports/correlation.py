"""Correlation of probing with downstream scores over models (Conneau et al. 2018, Figure 2)."""

import math
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np
import scipy  # which imports its parts at their first use

from encoder_lab.errors import InputError
from encoder_lab.reports.chart import ChartSection, HeatMap, in_paper_order
from encoder_lab.reports.table import Table

MIN_MODELS = 4  # models that a correlation needs
MAX_EXACT_MODELS = 8  # models; up to this many the test tries all permutations (8! = 40,320)
SIGNIFICANCE_LEVEL = 0.05  # of tests that are made together

ScoresByModel = Mapping[str, Mapping[str, float]]  # model -> task -> score


class Correlations(NamedTuple):
    """Spearman's rho between P probing and Q downstream tasks; NaN where fewer than four models have both."""

    probing: list[str]
    downstream: list[str]
    rho: np.ndarray  # (P, Q)
    p_value: np.ndarray  # (P, Q) two-sided, uncorrected
    significant: np.ndarray  # (P, Q) after Holm's correction over the matrix
    models: np.ndarray  # (P, Q) how many have both scores


def scores_of(table: Table) -> dict[str, dict[str, float]]:
    """The scores of a table's sentence embeddings: encoders, trained or not, and a bag of vectors."""
    names = [(f"{row.encoder} {row.name}", row) for row in table.rows]
    embed = [(name, row.cells) for name, row in names if row.competes or "BoV" in name]
    return {name: {task: cell.score for task, cell in cells.items()} for name, cells in embed}


def correlate(probing: ScoresByModel, downstream: ScoresByModel) -> Correlations:
    """Correlate two suites over the models that have both. Raises InputError for fewer than four."""
    shared = [model for model in probing if model in downstream]
    if len(shared) < MIN_MODELS:
        both = f"{len(shared)} models have both probing and downstream scores"
        raise InputError(f"{both}; a correlation needs {MIN_MODELS}")
    rows = in_paper_order([task for model in shared for task in probing[model]])
    columns = list(dict.fromkeys(task for model in shared for task in downstream[model]))
    pairs = [[_spearman([(probing[m].get(r), downstream[m].get(c)) for m in shared]) for c in columns] for r in rows]
    rho, p_value, models = np.moveaxis(np.array(pairs), 2, 0)
    return Correlations(rows, columns, rho, p_value, holm_adjusted(p_value) <= SIGNIFICANCE_LEVEL, models.astype(int))


def holm_adjusted(p_values: np.ndarray) -> np.ndarray:
    """The p-values of tests that are made together (Holm 1979); NaN is not a test and stays."""
    p = p_values.ravel()
    order = np.argsort(p)  # NaN last
    tests = np.count_nonzero(~np.isnan(p))
    together = np.empty(len(p))
    together[order] = np.minimum(np.maximum.accumulate(p[order] * np.maximum(tests - np.arange(len(p)), 1)), 1)
    return together.reshape(p_values.shape)


def _spearman(pairs: Sequence[tuple[float | None, float | None]]) -> tuple[float, float, int]:
    """Rho, its p-value and the number of complete pairs."""
    numbers = np.array(pairs, dtype=float).reshape(-1, 2)  # None as NaN
    first, second = numbers[np.isfinite(numbers).all(1)].T
    if len(first) < MIN_MODELS or np.ptp(first) == 0 or np.ptp(second) == 0:
        return math.nan, math.nan, len(first)
    rho, p_value = scipy.stats.spearmanr(first, second)
    if len(first) <= MAX_EXACT_MODELS:  # the approximation is far too small
        orders = np.array(list(permutations(scipy.stats.rankdata(first) - (len(first) + 1) / 2)))
        products = np.abs(orders @ scipy.stats.rankdata(second))
        p_value = (products >= products[0] - 1e-9).mean()
    return float(rho), float(p_value), len(first)


def chart_of_correlations(matrix: Correlations) -> ChartSection:
    """The matrix: red is a positive correlation, blue a negative one; what is not significant has no colour."""
    height, width = matrix.rho.shape
    texts = [["" if math.isnan(rho) else f"{rho:.2f}".replace("-", "−") for rho in row] for row in matrix.rho]
    hover = [
        [
            f"ρ {rho:.2f}, p {p:.3g}{'' if sure else ', not significant'}, {models} models"
            for rho, p, sure, models in zip(*row, strict=True)
        ]
        for row in zip(matrix.rho, matrix.p_value, matrix.significant, matrix.models, strict=True)
    ]
    shades = np.where(matrix.significant, (1 + matrix.rho) / 2, 0.5)
    models = " to ".join(map(str, dict.fromkeys((matrix.models.min(), matrix.models.max()))))
    title, inches = f"Spearman's ρ over {models} models", (2.6 + 0.62 * width, 1.9 + 0.42 * height)
    chart = HeatMap(title, matrix.probing, matrix.downstream, shades, texts, hover, "RdBu_r", inches)
    note = f"White: not significant at {SIGNIFICANCE_LEVEL} (Holm)."
    return ChartSection("probing against downstream", [chart], note=note)
