"""The rules of claims that compare more than two models task by task, each with the name of its claim (claims.py)."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy.stats import ttest_ind

from encoder_lab.reports.evidence import Evidence, ModelName, Point, Points, mean_point, model_title, share_point
from encoder_lab.reports.findings import Comparison, compare_scores
from encoder_lab.reports.layers import group_by_layer, layer_of
from encoder_lab.reports.published import published
from probes.discoeval import FACTS

NSP = ("BiGRU", "Baseline (NSP)")
SENTEVAL_TASKS = ("USS", "SSS", "SC", "Probing")
HUMAN_ITEMS = {"SP": 150, "BSO": 150, "DC": 100}  # items that a person answered: 50 of each domain (section 6)
MIN_DIFFERENCE = 10  # points


def probes_flatten_while_bleu_rises(e: Evidence) -> Iterator[Comparison]:
    for objective in ("NMT En-Fr", "NMT En-De", "NMT En-Fi"):
        moments = e.later_epochs(("BiLSTM-max", objective))
        if not moments:
            continue
        middle, last = moments[(len(moments) - 1) // 2], moments[-1]
        if middle.bleu is None or last.bleu is None:
            continue
        rise = last.bleu - middle.bleu
        yield Comparison(f"{objective} BLEU, last over middle epoch", rise, 0.5, needed=True, joint=True)
        for task in (task for task in middle.probing if task in last.probing and task not in ("SentLen", "WC")):
            label = f"{objective} {task}: 5 points minus the change from the middle epoch to the last"
            yield compare_scores(middle.probing[task], last.probing[task], label, within=5)


def alone_they_help_here_and_hurt_there(e: Evidence) -> Iterator[Comparison]:
    base = e.tables["groups"].get(NSP, {})
    for alone in ("+ SPP", "+ NL"):
        scores = e.tables["groups"].get(("BiGRU", alone), {})
        shared = [task for task in base if task in scores]
        compared = [compare_scores(scores[task], base[task], f"{task}, {alone} over NSP") for task in shared]
        if len(compared) > 1:
            highest = max(compared, key=lambda c: c.difference - c.margin)
            lowest = min(compared, key=lambda c: c.difference + c.margin)
            below = lowest._replace(label=f"minus that of {lowest.label}", difference=0 - lowest.difference)
            yield min(highest, below, key=lambda c: c.difference - c.margin)  # both are needed: the less clear decides


def bert_has_the_highest_mean(e: Evidence) -> Iterator[Comparison]:
    models = _complete_models(e)
    means = {name: mean_point(list(points.values())) for name, points in models.items()}
    for bert in filter(_is_bert, models):
        for rival in (name for name in models if not _is_bert(name)):
            label = f"mean of {len(models[bert])} DiscoEval tasks, {model_title(bert)} over {model_title(rival)}"
            yield compare_scores(means[bert], means[rival], label)


def bert_is_not_best_at_coherence(e: Evidence) -> Iterator[Comparison]:
    scores = {name: points["DC"] for name, points in _complete_models(e).items()}
    rivals = [point for name, point in scores.items() if not _is_bert(name)]
    for name, point in scores.items():
        if rivals and _is_bert(name):
            yield compare_scores(_best_point(rivals), point, f"DC, the best other model over {model_title(name)}")


def deeper_layers_know_more_of_discourse(e: Evidence) -> Iterator[Comparison]:
    for model, scores in scores_by_layer(e.tables["groups"]).items():
        layers, cut = list(scores.values()), len(scores) // 2
        for task in FACTS.groups.values():
            lower, upper = ([layer[task] for layer in part if task in layer] for part in (layers[:cut], layers[cut:]))
            if lower and upper:
                label = f"{model} {task}, upper over lower half of the layers"
                yield compare_scores(_best_point(upper), _best_point(lower), label)


def discourse_needs_deeper_layers_than_other_tasks(e: Evidence) -> Iterator[Comparison]:
    senteval = {name: {t: p for t, p in points.items() if t in SENTEVAL_TASKS} for name, points in e.discoeval.items()}
    references = [scores_by_layer(scores) for scores in (senteval, e.probing, e.logistic)]
    for model, layers in scores_by_layer(e.tables["groups"]).items():
        discourse, best = _best_layers(layers), [_best_layers(scores.get(model, {})) for scores in references]
        reference = max(best, key=len)
        if len(discourse) > 1 and len(reference) > 1 and len({*discourse, *reference}) > 1:
            low, high = ttest_ind(discourse, reference, equal_var=False).confidence_interval()
            difference = float(np.mean(discourse) - np.mean(reference))
            suite = "SentEval" if reference is best[0] else "probing tasks"
            means = f"{np.mean(discourse):.1f} for DiscoEval and {np.mean(reference):.1f} for {suite}"
            yield Comparison(f"{model}: mean best layer, {means}", difference, float(high - low) / 2)


def people_are_far_above_models(e: Evidence) -> Iterator[Comparison]:
    people = {row.task: row.score for row in published("chen2019_table5") if row.model == "Human"}
    for task, items in HUMAN_ITEMS.items():
        if scores := [points[task] for points in _complete_models(e).values()]:
            person = share_point(people[task], items)._replace(score=people[task] - MIN_DIFFERENCE)
            label = f"{task}, a person minus {MIN_DIFFERENCE} points over the best model"
            yield compare_scores(person, _best_point(scores), label)


def connectives_differ_by_sense(e: Evidence) -> Iterator[Comparison]:
    for name, points in e.tables["coherence"].items():
        named = {task: point._replace(answers=()) for task, point in points.items() if task.startswith("connectives_")}
        finite = {task: point for task, point in named.items() if math.isfinite(point.margin)}
        if len(finite) > 1:
            worst = min(finite, key=lambda task: finite[task].score + finite[task].margin)
            best = max(finite, key=lambda task: finite[task].score - finite[task].margin)
            limit = finite[worst]._replace(score=finite[worst].score + MIN_DIFFERENCE)
            label = f"{model_title(name)}: {best} over {worst} plus {MIN_DIFFERENCE} points"
            yield compare_scores(finite[best], limit, label)


def scores_by_layer(scores: Mapping[ModelName, Points]) -> dict[str, dict[int, Points]]:
    """By model, the scores of its layers by their numbers, from the first; only models with several."""
    models = group_by_layer((encoder, name, points) for (encoder, name), points in scores.items())
    return {model: layers for model, layers in models.items() if len(layers) > 1}


def _best_layers(layers: Mapping[int, Points]) -> list[int]:
    """The number of the best layer for each task that all have.

    Of several that are best at the precision that is printed the middle one, of two the lower: of the rules for ties
    this one gives Table 3 from the scores of Figure 8.
    """
    first, *rest = layers.values() or [{}]
    numbers = []
    for task in (task for task in first if all(task in points for points in rest)):
        scores = {number: round(points[task].score, 1) for number, points in layers.items()}
        best = [number for number, score in scores.items() if score == max(scores.values())]
        numbers.append(best[(len(best) - 1) // 2])
    return numbers


def _complete_models(e: Evidence) -> dict[ModelName, Points]:
    """Models, not single layers or people, that have all seven groups."""
    complete = {name: points for name, points in e.tables["groups"].items() if len(points) == len(FACTS.groups)}
    return {name: points for name, points in complete.items() if not layer_of(name[1])}


def _is_bert(name: ModelName) -> bool:
    return any(part.upper().startswith("BERT") for part in name)


def _best_point(points: Sequence[Point]) -> Point:
    return max(points, key=lambda point: point.score)
