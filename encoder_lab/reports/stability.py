"""How far the order of models depends on how they were probed (Eger et al. 2020): rank correlation between settings."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.stats import spearmanr

from encoder_lab.errors import InputError
from encoder_lab.reports.correlation import FEWEST
from encoder_lab.reports.drawing import in_order
from encoder_lab.reports.models import identity, setting_text
from encoder_lab.reports.runs import Run
from encoder_lab.reports.table import final_rows

Scores = Mapping[str, Mapping[str, Mapping[tuple, float]]]  # condition -> task -> model -> mean score over its seeds


class Stability(NamedTuple):
    """The models of one task in their order under two settings of probing."""

    task: str
    first: str
    second: str
    models: int
    rho: float  # Spearman
    same_best: bool


def scores_by_condition(runs: Sequence[Run], suite: str, epoch: str) -> Scores:
    """The scores of the models under each setting of probing: classifier, sizes, and what else differs in `probes`."""
    texts = [
        {key: setting_text(run.settings[key]) for key in run.settings if key.startswith("probes.")} for run in runs
    ]
    keys = [key for key in dict.fromkeys(key for text in texts for key in text) if _differs(key, texts)]
    each: dict[str, dict[str, dict[tuple, list[float]]]] = {}
    for run, text in zip(runs, texts, strict=True):
        said = [f"{key.removeprefix('probes.').removeprefix('classifier.')}={text.get(key, '-')}" for key in keys]
        for reader in ("mlp", "logreg"):
            for task, row in final_rows(run, suite, epoch, reader).items():
                if row.classifier == reader:
                    at = each.setdefault(", ".join([reader, *said]), {}).setdefault(task, {})
                    at.setdefault(identity(run, "probes."), []).append(row.test_accuracy)
    return {
        condition: {task: {model: float(np.mean(s)) for model, s in at.items()} for task, at in tasks.items()}
        for condition, tasks in each.items()
    }


def _differs(key: str, texts: Sequence[Mapping[str, str]]) -> bool:
    return len({text.get(key, "") for text in texts}) > 1 and not key.endswith("_target_")


def stability(scores: Scores) -> list[Stability]:
    """Every task under every two settings of probing that have four models in common.

    Raises InputError where no two settings have.
    """
    found = []
    for first, second in combinations(scores, 2):
        for task in in_order([task for task in scores[first] if task in scores[second]]):
            ours, theirs = scores[first][task], scores[second][task]
            models = [model for model in ours if model in theirs]
            if len(models) >= FEWEST:
                a, b = ([side[model] for model in models] for side in (ours, theirs))
                rho = float(spearmanr(a, b).statistic) if len(set(a)) > 1 < len(set(b)) else float("nan")
                found.append(Stability(task, first, second, len(models), rho, np.argmax(a) == np.argmax(b)))
    if not found:
        raise InputError(
            f"no two settings of probing have {FEWEST} models in common; evaluate the same models again, as with "
            "probes.train_size=300 or probes.classifier.widths=[0]"
        )
    return found


def as_text(found: Sequence[Stability]) -> str:
    """A block for each two settings: rank correlation by task, their mean, and how often the best model is the same."""
    blocks = []
    for first, second in dict.fromkeys((s.first, s.second) for s in found):
        these = [s for s in found if (s.first, s.second) == (first, second)]
        rhos = [s.rho for s in these]
        lines = [
            f"{s.task:<12} {s.rho:6.2f}  {s.models} models, best {'same' if s.same_best else 'other'}" for s in these
        ]
        mean = f"{np.nanmean(rhos):6.2f}" if not np.isnan(rhos).all() else "   nan"
        same = sum(s.same_best for s in these)
        lines.append(f"{'mean':<12} {mean}  best is the same in {same} of {len(these)} tasks")
        blocks.append("\n".join([f"{first}  against  {second}", *lines]))
    return "\n\n".join(blocks) + "\n"
