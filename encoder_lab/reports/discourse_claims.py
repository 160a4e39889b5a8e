"""The claims of Chen et al. 2019 about discourse, one function each, as in claims.py."""

from collections.abc import Iterator, Mapping

import numpy as np
from scipy.stats import ttest_ind

from encoder_lab.reports.comparisons import title
from encoder_lab.reports.evidence import Evidence, ModelName, Point, Points, mean_of, share_point
from encoder_lab.reports.findings import Comparison, above, claims_in
from encoder_lab.reports.layers import by_layer, layer_of
from encoder_lab.reports.published import published

DISCOEVAL = ("SP", "BSO", "DC", "SSP", "PDTB-E", "PDTB-I", "RST-DT")
SENTEVAL = ("USS", "SSS", "SC", "Probing")
NSP = ("BiGRU", "Baseline (NSP)")
PEOPLE = {"SP": 150, "BSO": 150, "DC": 100}  # items that a person answered: 50 of each domain (section 6)
FAR = 10  # points


def position_and_nesting_help_together(e: Evidence) -> Iterator[Comparison]:
    """NSP with SPP and NL is best on DiscoEval, 0.6 points above NSP on average (section 5.2).

    The mean over the DiscoEval tasks is higher for NSP + SPP + NL than for NSP alone.
    """
    yield from _means(e, ("BiGRU", "+ SPP + NL"), NSP)


def together_they_help_more_than_alone(e: Evidence) -> Iterator[Comparison]:
    """SPP and NL have complementary effects: together they are better than either alone (section 5.2).

    The mean over the DiscoEval tasks is higher for NSP + SPP + NL than for NSP + SPP and for NSP + NL.
    """
    for alone in ("+ SPP", "+ NL"):
        yield from _means(e, ("BiGRU", "+ SPP + NL"), ("BiGRU", alone))


def alone_they_help_here_and_hurt_there(e: Evidence) -> Iterator[Comparison]:
    """The NL or SPP loss alone has complex effects across tasks (section 5.2).

    Of NSP + SPP and of NSP + NL, some DiscoEval task is above NSP alone and some other is below it.
    """
    base = groups(e.discoeval.get(NSP, {}))
    for alone in ("+ SPP", "+ NL"):
        more = groups(e.discoeval.get(("BiGRU", alone), {}))
        compared = [above(more[task], base[task], f"{task}, {alone} over NSP") for task in base if task in more]
        if len(compared) > 1:
            yield max(compared, key=lambda c: c.difference - c.half)
            lowest = min(compared, key=lambda c: c.difference + c.half)
            yield lowest._replace(about=f"minus that of {lowest.about}", difference=-lowest.difference)


def titles_hurt(e: Evidence) -> Iterator[Comparison]:
    """The SDT loss generally hurts on DiscoEval, most on the tasks about positions, SP and BSO (section 5.2).

    The mean over the DiscoEval tasks, SP and BSO are each higher for NSP alone than for NSP + SDT.
    """
    titles = ("BiGRU", "+ SDT")
    yield from _means(e, NSP, titles)
    base, more = groups(e.discoeval.get(NSP, {})), groups(e.discoeval.get(titles, {}))
    for task in ("SP", "BSO"):
        if task in base and task in more:
            yield above(base[task], more[task], f"{task}, NSP over + SDT")


def titles_help_unsupervised_similarity(e: Evidence) -> Iterator[Comparison]:
    """SDT is the most helpful loss for USS, the similarity of sentences without training (section 5.2).

    On USS, NSP + SDT is above NSP alone, NSP + SPP and NSP + NL.
    """
    yield from _leads(e, "USS", "+ SDT")


def nesting_helps_supervised_similarity(e: Evidence) -> Iterator[Comparison]:
    """NL gives the biggest improvement in SSS, similarity and entailment with training (section 5.2).

    On SSS, NSP + NL is above NSP alone, NSP + SPP and NSP + SDT.
    """
    yield from _leads(e, "SSS", "+ NL")


def bert_has_the_highest_mean(e: Evidence) -> Iterator[Comparison]:
    """BERT has the highest average on DiscoEval by a large margin (section 5.2).

    The mean over the DiscoEval tasks is higher for each BERT than for each model that is not BERT.
    """
    names = _whole_models(e)
    for bert in filter(_is_bert, names):
        for other in names:
            if not _is_bert(other):
                yield from _means(e, bert, other)


def bert_is_not_best_at_coherence(e: Evidence) -> Iterator[Comparison]:
    """BERT does not have the best DC: small models trained on their neighbours do (section 5.2, Table 2).

    On DC, the best model that is not BERT is above each BERT.
    """
    coherence = {name: groups(e.discoeval[name])["DC"] for name in _whole_models(e)}
    others = [point for name, point in coherence.items() if not _is_bert(name)]
    for name, point in coherence.items():
        if others and _is_bert(name):
            best = max(others, key=lambda p: p.score)
            yield above(best, point, f"DC, the best other model over {title(name)}")


def neighbours_help(e: Evidence) -> Iterator[Comparison]:
    """Training on neighbouring sentences helps: BERT over ELMo, Skip-thought over InferSent (section 5.2).

    The mean over the DiscoEval tasks is higher for BERT-Base than for ELMo, and for Skip-thought than for InferSent.
    """
    for more, less in (("BERT-Base", "ELMo"), ("Skip-thought", "InferSent")):
        yield from _means(e, ("", more), ("", less))


def deeper_layers_know_more_of_discourse(e: Evidence) -> Iterator[Comparison]:
    """On DiscoEval, deeper layers are better than shallow ones (section 6, Figure 8).

    For each model and DiscoEval task, the best layer of the upper half is above the best of the lower half.
    """
    for model, scores in layers_of(e.discoeval).items():
        layers = [groups(points) for points in scores.values()]
        half = len(layers) // 2
        for task in DISCOEVAL:
            lower, upper = ([layer[task] for layer in part if task in layer] for part in (layers[:half], layers[half:]))
            if lower and upper:
                best = [max(part, key=lambda p: p.score) for part in (upper, lower)]
                yield above(best[0], best[1], f"{model} {task}, upper over lower half of the layers")


def discourse_needs_deeper_layers_than_other_tasks(e: Evidence) -> Iterator[Comparison]:
    """The best layers for DiscoEval are deeper than those for SentEval (section 6, Table 3).

    For each model, the mean number of the best layer is higher over DiscoEval tasks than over SentEval groups, or over
    probing tasks where the layers have scores of these; the interval is that of Welch's t-test over tasks.
    """
    probing, linear = layers_of(e.probing), layers_of(e.logistic)
    for model, layers in layers_of(e.discoeval).items():
        ours = _best_layers({number: groups(points) for number, points in layers.items()})
        senteval = {number: {t: p for t, p in points.items() if t in SENTEVAL} for number, points in layers.items()}
        others = (senteval, probing.get(model, {}), linear.get(model, {}))
        best = [_best_layers(some) for some in others]
        theirs = max(best, key=len)
        if len(ours) > 1 and len(theirs) > 1 and len({*ours, *theirs}) > 1:
            low, high = ttest_ind(ours, theirs, equal_var=False).confidence_interval()
            difference = float(np.mean(ours) - np.mean(theirs))
            other = "SentEval" if theirs is best[0] else "probing tasks"
            means = f"{np.mean(ours):.1f} for DiscoEval and {np.mean(theirs):.1f} for {other}"
            yield Comparison(f"{model}: mean best layer, {means}", difference, float(high - low) / 2)


def coherence_needs_a_hidden_layer(e: Evidence) -> Iterator[Comparison]:
    """DC has low accuracy with all models unless the classifier has a hidden layer (section 6, Table 4).

    For each model, DC is above DC without the hidden layer.
    """
    for name, scores in e.discoeval.items():
        full, less = groups(scores).get("DC"), analysis(scores, "DC", "without hidden layer")
        if full and less:
            yield above(full, less, f"DC, {title(name)}, with over without")


def context_helps_position(e: Evidence) -> Iterator[Comparison]:
    """The four context sentences help to tell the position of a sentence (section 6, Table 6).

    For each model, SP is above SP without its context sentences.
    """
    for name, scores in e.discoeval.items():
        full = scores.get("SP with context") or groups(scores).get("SP")
        less = analysis(scores, "SP", "without context")
        if full and less:
            yield above(full, less, f"SP, {title(name)}, with over without context")


def people_are_far_above_models(e: Evidence) -> Iterator[Comparison]:
    """A person is far above the best classifier on SP, BSO and DC (section 6, Table 5).

    On each of the three, the person of the paper is more than 10 points above the best model.
    """
    people = {row.task: row.score for row in published("chen2019_table5") if row.model == "Human"}
    for task, items in PEOPLE.items():
        scores = [groups(e.discoeval[name])[task] for name in _whole_models(e)]
        if scores:
            person = share_point(people[task], items)._replace(score=people[task] - FAR)
            best = max(scores, key=lambda p: p.score)
            yield above(person, best, f"{task}, a person minus {FAR} points over the best model")


def _leads(e: Evidence, group: str, best: str) -> Iterator[Comparison]:
    """One additional loss over the others, and over none, on a group of SentEval's tasks."""
    ours = e.discoeval.get(("BiGRU", best), {})
    for other in (NSP[1], "+ SDT", "+ SPP", "+ NL"):
        theirs = e.discoeval.get(("BiGRU", other), {})
        if other != best and group in ours and group in theirs:
            yield above(ours[group], theirs[group], f"{group}, {best} over {other}")


def groups(points: Points) -> dict[str, Point]:
    """The seven groups: as they are, or the mean over domains (SP: SParxiv, SProc, ...)."""
    by_group = {}
    single = {task: point for task, point in points.items() if task not in DISCOEVAL and " " not in task}
    for group in DISCOEVAL:
        domains = [point for task, point in single.items() if task.startswith(group.removesuffix("-DT"))]
        if group in points or domains:
            by_group[group] = points.get(group) or mean_of(domains)
    return by_group


def analysis(points: Points, group: str, less: str) -> Point | None:
    """The score of a group with something left out, the mean over its domains; None where there is none."""
    domains = [point for task, point in points.items() if task.startswith(group) and task.endswith(f" {less}")]
    return mean_of(domains) if domains else None


def layers_of(scores: Mapping[ModelName, Points]) -> dict[str, dict[int, Points]]:
    """By model, the scores of its layers by their numbers, from the first; only models with several."""
    models = by_layer((encoder, name, points) for (encoder, name), points in scores.items())
    return {model: layers for model, layers in models.items() if len(layers) > 1}


def _best_layers(layers: Mapping[int, Points]) -> list[int]:
    """The number of the best layer for each task that all have.

    Of several that are best at the precision that is printed the middle one, of two the lower: of the rules for ties
    this one gives Table 3 from the scores of Figure 8.
    """
    first, *others = layers.values() or [{}]
    numbers = []
    for task in (task for task in first if all(task in points for points in others)):
        scores = {number: round(points[task].score, 1) for number, points in layers.items()}
        best = [number for number, score in scores.items() if score == max(scores.values())]
        numbers.append(best[(len(best) - 1) // 2])
    return numbers


def _whole_models(e: Evidence) -> list[ModelName]:
    """Models, not single layers or people, that have all seven groups."""
    whole = [name for name, points in e.discoeval.items() if len(groups(points)) == len(DISCOEVAL)]
    return [(encoder, model) for encoder, model in whole if not layer_of(model)]


def _is_bert(name: ModelName) -> bool:
    return any(part.upper().startswith("BERT") for part in name)


def _means(e: Evidence, first: ModelName, second: ModelName) -> Iterator[Comparison]:
    """The mean over the DiscoEval tasks that both have, of the first over the second."""
    ours, theirs = (groups(e.discoeval.get(name, {})) for name in (first, second))
    shared = [task for task in ours if task in theirs]
    if shared:
        first_mean, second_mean = (mean_of([points[task] for task in shared]) for points in (ours, theirs))
        about = f"mean of {len(shared)} DiscoEval tasks, {title(first)} over {title(second)}"
        yield above(first_mean, second_mean, about)


DISCOURSE_CLAIMS = claims_in(globals())
