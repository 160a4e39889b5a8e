"""How far the order of models depends on how they were probed (Eger et al. 2020): rank correlation between settings."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import mean
from typing import NamedTuple

import numpy as np
from scipy.stats import spearmanr

from encoder_lab.errors import InputError
from encoder_lab.reports.chart import in_paper_order
from encoder_lab.reports.correlation import MIN_MODELS
from encoder_lab.reports.models import INCIDENTAL_SETTINGS, model_identity, setting_text
from encoder_lab.reports.runs import Run, final_rows, grouped, settings_agree
from probes.facts import facts_of
from probes.results import ProbeRow
from probes.statistics import TIE_DIGITS

Scores = Mapping[str, Mapping[str, Mapping[tuple, Mapping[tuple, float]]]]  # condition -> task -> model -> seed


class Stability(NamedTuple):
    """The models of one task in their order under two settings of probing."""

    task: str
    first: str
    second: str
    seeds: list[int]  # how many of each model both settings have
    rho: float  # Spearman
    same_best: bool


def scores_by_condition(runs: Sequence[Run], suite: str, epoch: str) -> Scores:
    """The scores of the models under each setting of `probes` and of the suite: classifier, sizes, folds.

    The scores of a run in training, and those of its evaluations on tasks of the same corpus, are of one model.
    """
    scores: dict[str, dict[str, dict[tuple, dict[tuple, float]]]] = {}
    for condition, model, seeds, row in _rows_by_condition(runs, suite, epoch):
        models = scores.setdefault(condition, {}).setdefault(row.task, {})
        models.setdefault(model, {})[seeds] = facts_of(suite).sign * row.test_accuracy
    return scores


def mixed_items_notes(runs: Sequence[Run], suite: str, epoch: str) -> list[str]:
    """A note on the tasks with different test items of the models under one setting and one seed of the tasks."""
    scored = _rows_by_condition(runs, suite, epoch)
    tests = grouped(((row.task, name, seeds[0]), row.answers.test) for name, _, seeds, row in scored if row.answers)
    mixed = in_paper_order([task for (task, *_), of_models in tests.items() if len(set(of_models)) > 1])
    return [f"{', '.join(mixed)}: models are of different test sentences: do not compare them."] if mixed else []


def _rows_by_condition(runs: Sequence[Run], suite: str, epoch: str) -> Iterator[tuple[str, tuple, tuple, ProbeRow]]:
    """Each score with its setting, its model, and the seeds of the tasks and of the weights."""
    runs = [run for run in runs if run.has_suite(suite)]  # evaluations of other suites have not all of these settings
    prefixes = "probes.", f"{suite}."
    own = [{key: v for key, v in run.settings.items() if key.startswith(prefixes)} for run in runs]
    probed = [{key: setting_text(v) for key, v in each.items() if key not in INCIDENTAL_SETTINGS} for each in own]
    every = dict.fromkeys(key for settings in probed for key in settings if not key.endswith("_target_"))
    keys = [key for key in every if len({settings.get(key, "") for settings in probed}) > 1]
    for run, settings in zip(runs, probed, strict=True):
        trained = (each for each in runs if "model" not in each.settings and each.is_scored_by(run))
        model = next((each for each in trained if settings_agree(each, run, ("corpus.",))), run)
        seeds = run.settings.get("seed"), run.settings.get("run.seed", run.settings.get("seed"))
        names = [key.removeprefix("probes.").removeprefix("classifier.") for key in keys]
        values = [f"{name}={settings.get(key, '-')}" for name, key in zip(names, keys, strict=True)]
        for reader in ("mlp", "logreg"):
            for row in final_rows(run, suite, epoch, reader).values():
                if row.classifier == reader:
                    yield ", ".join([reader, *values]), model_identity(model, *prefixes), seeds, row


def stability(scores: Scores) -> list[Stability]:
    """Every task under every two settings that share four models, by their shared seeds. Raises InputError for none."""
    compared = []
    for first, second in combinations(scores, 2):
        for task in in_paper_order([task for task in scores[first] if task in scores[second]]):
            x, y = scores[first][task], scores[second][task]
            shared = {model: x[model].keys() & y.get(model, {}).keys() for model in x}
            seeds = {model: group for model, group in shared.items() if group}
            if len(seeds) >= MIN_MODELS:
                sides = ([mean(side[model][s] for s in group) for model, group in seeds.items()] for side in (x, y))
                a, b = ([round(score, TIE_DIGITS) for score in side] for side in sides)
                rho = float(spearmanr(a, b).statistic) if len(set(a)) > 1 < len(set(b)) else float("nan")
                same_best = [score == max(a) for score in a] == [score == max(b) for score in b]
                compared.append(Stability(task, first, second, [*map(len, seeds.values())], rho, same_best))
    if not compared:
        again = "evaluate the same models again, as with probes.train_size=300 or probes.classifier.widths=[0]"
        raise InputError(f"no two settings of probing have {MIN_MODELS} models in common; {again}")
    return compared


def as_text(compared: Sequence[Stability]) -> str:
    """A block for each two settings: rank correlation by task, their mean, and how often the best model is the same."""
    blocks = []
    for pair in dict.fromkeys((s.first, s.second) for s in compared):
        tasks = [s for s in compared if (s.first, s.second) == pair]
        rhos = [s.rho for s in tasks]
        best = ["same" if s.same_best else "other" for s in tasks]
        lines = []
        for s, same in zip(tasks, best, strict=True):
            few, many = min(s.seeds), max(s.seeds)
            unequal = f" of {few} to {many} seeds" if few < many else ""
            lines.append(f"{s.task:<12} {s.rho:6.2f}  {len(s.seeds)} models{unequal}, best {same}")
        average = f"{np.nanmean(rhos):6.2f}" if not np.isnan(rhos).all() else "   nan"
        lines.append(f"{'mean':<12} {average}  best is the same in {best.count('same')} of {len(tasks)} tasks")
        blocks.append("\n".join(["  against  ".join(pair), *lines]))
    return "\n\n".join(blocks) + "\n"
