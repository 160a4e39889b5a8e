"""The claims of the papers: claims_*.yaml have each with its source, its rule, and what it compares.

`compare` lists rules: fields of `Rule`, or arguments of `correlations`. A claim without it is decided by the function
of its name in claim_rules.py.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy.stats import norm

from encoder_lab.reports import claim_rules
from encoder_lab.reports.correlation import MIN_MODELS, SIGNIFICANCE_LEVEL, correlate, holm_adjusted
from encoder_lab.reports.evidence import Evidence, ModelName, Point, mean_point, model_title
from encoder_lab.reports.findings import Claim, Comparison, compare_scores

Side = list[str] | float  # [scores, encoder, objective] of Evidence.tables, `*` for any; or a score
Scored = tuple[str, ModelName]  # scores of Evidence.tables, and which
TINY = 1e-300  # p-value; smaller ones have no quotient


@dataclass(frozen=True)
class Rule:
    """Compares two models on every task that both have."""

    first: Side
    second: Side
    tasks: Sequence[str] = ("*",)  # patterns
    but: Sequence[str] = ()  # tasks left out
    each: Sequence[Any] = ("",)  # what `{each}` stands for
    against: Sequence[str] = ("", "")  # replaced in the name of the task: that of the second model
    mean: bool = False  # over the tasks, instead of each
    plus: Sequence[float] = (0, 0)  # points added to the scores
    within: float | None = None  # points: the scores differ by less; otherwise: the first is higher
    needed: bool = False  # the claim cannot hold without it
    about: str = "{task}, {first} over {second}"

    def comparisons(self, e: Evidence) -> Iterator[Comparison]:
        scores, *pattern = next(side for side in (self.first, self.second) if isinstance(side, list))
        stars = dict.fromkeys(
            tuple(part if symbol == "*" else "" for part, symbol in zip(name, pattern, strict=True))
            for name in e.tables[scores]
        )
        for star, value in product(stars, self.each):
            first, second = (_resolved_side(side, star, value) for side in (self.first, self.second))
            names = [model[1] if isinstance(model, tuple) else ("", "") for model in (first, second)]
            pairs = self._pairs(e, first, second, value)
            titles, sizes = list(map(model_title, names)), e.sizes.get(names[0], {})
            fields = {"first": titles[0], "second": titles[1], "encoder": star[0], "each": value}
            fields |= {"tasks": len(pairs), "smallest": min(sizes, default=0), "largest": max(sizes, default=0)}
            if self.mean and pairs:
                _, scores_of_first, scores_of_second = zip(*pairs, strict=True)
                pairs = [("", mean_point(scores_of_first), mean_point(scores_of_second))]
            for task, *points in pairs:
                point, rival = (p._replace(score=p.score + bonus) for p, bonus in zip(points, self.plus, strict=True))
                label = self.about.format(task=task, **fields)
                yield compare_scores(point, rival, label, self.within)._replace(needed=self.needed)

    def _pairs(
        self, e: Evidence, first: Scored | float, second: Scored | float, value: Any
    ) -> list[tuple[str, Point, Point]]:
        """Task, score and score; a score that is a number is that of every task."""
        by_task = [e.tables[m[0]].get(m[1], {}) if isinstance(m, tuple) else {} for m in (first, second)]
        scores = by_task[0] if isinstance(first, tuple) else dict.fromkeys(by_task[1], Point(first, 0))
        rivals = by_task[1] if isinstance(second, tuple) else dict.fromkeys(by_task[0], Point(second, 0))
        patterns, (old, new) = [pattern.format(each=value) for pattern in self.tasks], self.against
        pairs = [(task, task.replace(old, new)) for task in scores if _matches(task, patterns, self.but)]
        different = [(task, other) for task, other in pairs if other in rivals and (first, task) != (second, other)]
        return [(task, scores[task], rivals[other]) for task, other in different]


def correlations(
    e: Evidence, correlated: Sequence[str], sign: int, tasks: Sequence[str] = ("*",), but: Sequence[str] = ()
) -> Iterator[Comparison]:
    """Spearman's rho of probing tasks with downstream tasks, times `sign`; significant where the matrix says so.

    The margin is that of a normal difference with its p-value, at the level that Holm's correction leaves it.
    """
    if len(e.pairs) < MIN_MODELS:
        return
    sides = ({str(n): {t: p.score for t, p in pair[side].items()} for n, pair in enumerate(e.pairs)} for side in (0, 1))
    matrix = correlate(*sides)
    p = np.maximum(matrix.p_value, TINY)
    levels = SIGNIFICANCE_LEVEL * p / holm_adjusted(p)
    margins = np.abs(matrix.rho) * norm.isf(levels / 2) / np.maximum(norm.isf(p / 2), TINY)
    for (i, probe), (j, task) in product(enumerate(matrix.probing), enumerate(matrix.downstream)):
        if _matches(probe, correlated, but) and _matches(task, tasks):
            name = f"{'rho' if sign > 0 else 'minus rho'} of {probe} and {task} over {matrix.models[i, j]} models"
            yield Comparison(name, sign * float(matrix.rho[i, j]), float(margins[i, j]), joint=True)


def _matches(task: str, patterns: Sequence[str], but: Sequence[str] = ()) -> bool:
    return task not in but and any(fnmatchcase(task, pattern) for pattern in patterns)


def _resolved_side(side: Side, star: Sequence[str], value: Any) -> Scored | float:
    if not isinstance(side, list):
        return side
    scores, *parts = side
    encoder, objective = (s if part == "*" else part.format(each=value) for part, s in zip(parts, star, strict=True))
    return scores, (encoder, objective)


def _comparisons_of_rules(rules: Sequence[Mapping[str, Any]], e: Evidence) -> Iterator[Comparison]:
    for rule in rules:
        yield from correlations(e, **rule) if "correlated" in rule else Rule(**rule).comparisons(e)


def _read_claims(paper: str) -> Iterator[Claim]:
    text = (Path(__file__).parent / f"claims_{paper}.yaml").read_text(encoding="utf-8")
    for name, entry in yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)).items():
        if "claim" in entry:  # the others are lists that several claims share
            rules = entry.get("compare")
            by = partial(_comparisons_of_rules, rules) if rules else getattr(claim_rules, name.replace(" ", "_"))
            yield Claim(name, entry["claim"], entry["rule"], by)


CLAIMS = tuple(claim for paper in ("conneau2018", "chen2019", "beyer2021") for claim in _read_claims(paper))
