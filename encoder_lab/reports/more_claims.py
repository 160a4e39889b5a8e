"""Statements of Conneau et al. 2018 in passing, one function each, as in claims.py."""

from collections.abc import Iterator, Mapping

from encoder_lab.reports.comparisons import CONVNET, LAST, MAX, NMT, TRAINED, correlated, curves, over, title
from encoder_lab.reports.evidence import BOV, Evidence, ModelName, Point, Points, mean_of, share_point
from encoder_lab.reports.findings import Comparison, above, claims_in, within
from encoder_lab.reports.published import published
from probes.probing import FACTS

CHANCE = Point(50, 0)  # of two classes
WORDS, BIGRAMS = "NB-uni-tfidf", "NB-bi-tfidf"
CHECKED = 200  # test sentences of each task that a linguist checked (section 2)
PARSED = ("TreeDepth", "TopConst", "Tense", "SubjNum", "ObjNum")
NUANCED = ("TreeDepth", "SOMO", "CoordInv")
SIMILARITY = ("SST-2", "SST-5", "SICK-R", "STSB", "STS12", "STS13", "STS14", "STS15", "STS16")


def words_are_below_chance_on_odd_words(e: Evidence) -> Iterator[Comparison]:
    """Naive Bayes on words and bigrams is below chance on SOMO (section 4, Baselines).

    NB-uni-tfidf and NB-bi-tfidf are below 50% on SOMO.
    """
    for name in (WORDS, BIGRAMS):
        if score := baseline(e, name).get("SOMO"):
            yield above(CHANCE, score, f"SOMO, 50% over {name}")


def bigrams_help_only_with_order(e: Evidence) -> Iterator[Comparison]:
    """Bigrams bring little or nothing over words, except on BShift (section 4, Baselines).

    NB-bi-tfidf is above NB-uni-tfidf on BShift (necessary), and less than 5 points above it on each other task.
    """
    for task, (bigrams, words) in _in_both(baseline(e, BIGRAMS), baseline(e, WORDS)):
        if task == "BShift":
            yield above(bigrams, words, f"{task}, bigrams over words")._replace(needed=True)
        else:
            yield above(_plus(words, 5), bigrams, f"{task}, words plus 5 points over bigrams")


def vectors_know_more_syntax_than_words(e: Evidence) -> Iterator[Comparison]:
    """On TopConst and TreeDepth a bag of vectors is well above Naive Bayes (section 4, Baselines).

    BoV is above NB-uni-tfidf and NB-bi-tfidf on both.
    """
    for name in (WORDS, BIGRAMS):
        for task, (vectors, words) in _in_both(e.probing.get(BOV, {}), baseline(e, name)):
            if task in ("TopConst", "TreeDepth"):
                yield above(vectors, words, f"{task}, BoV over {name}")


def seq2tree_is_above_the_human_bound(e: Evidence) -> Iterator[Comparison]:
    """On most tasks of the parser Seq2Tree, which learned its errors, is above the human bound (section 4).

    On TreeDepth, TopConst, Tense, SubjNum and ObjNum, each encoder trained on Seq2Tree is above the human row of Table
    2; its interval is that of the 200 sentences that were checked.
    """
    human = _human()
    for encoder in e.encoders(e.probing, "Seq2Tree"):
        scores = e.probing[encoder, "Seq2Tree"]
        for task in (task for task in PARSED if task in scores):
            yield above(scores[task], human[task], f"{task}, {encoder} Seq2Tree over the human bound")


def hidden_layer_helps_with_nuances_alone(e: Evidence) -> Iterator[Comparison]:
    """Only on TreeDepth, SOMO and CoordInv does the MLP gain more than 3 points over logistic regression (appendix).

    For BiLSTM-max trained on NMT En-Fr, the gain is above 3 points on these three and below on the others.
    """
    name = (MAX, NMT[0])
    for task, (mlp, linear) in _in_both(e.probing.get(name, {}), e.logistic.get(name, {})):
        if task in NUANCED:
            yield above(mlp, _plus(linear, 3), f"{task}, the gain of the MLP over 3 points")
        elif task not in FACTS.one_reader:
            yield above(_plus(linear, 3), mlp, f"{task}, 3 points over the gain of the MLP")


def convnet_knows_as_much_as_lstm(e: Evidence) -> Iterator[Comparison]:
    """In probing as a whole Gated ConvNet is comparable to the best LSTM (section 4, Encoding architectures).

    For each training objective, the means of Gated ConvNet and BiLSTM-max over the tasks differ by less than 5 points.
    """
    for objective in TRAINED:
        if means := _means(e.probing, (CONVNET, objective), (MAX, objective)):
            yield within(means[0], means[1], 5, f"{objective}: 5 points minus the distance of the means")


def lstm_is_ahead_of_convnet_downstream(e: Evidence) -> Iterator[Comparison]:
    """Downstream the LSTM has a slight edge over Gated ConvNet (section 4 and Table 5).

    For each training objective, the mean over the downstream tasks is higher for BiLSTM-max than for Gated ConvNet.
    """
    for objective in TRAINED:
        if means := _means(e.downstream, (MAX, objective), (CONVNET, objective)):
            yield above(means[0], means[1], f"{objective}: the mean of BiLSTM-max over Gated ConvNet")


def untrained_max_is_good_downstream(e: Evidence) -> Iterator[Comparison]:
    """Untrained BiLSTM-max does well downstream, better than the other architectures (section 4 and appendix).

    On each downstream task, untrained BiLSTM-max is above untrained BiLSTM-last and Gated ConvNet.
    """
    for other in (LAST, CONVNET):
        yield from over(e.downstream, (MAX, "Untrained"), (other, "Untrained"))


def odd_words_stay_flat(e: Evidence) -> Iterator[Comparison]:
    """The curves of SOMO are mostly flat (section 4, Figure 1).

    In each NMT and SkipThought run of BiLSTM-max, SOMO changes by less than 5 points from the first epoch to the last.
    """
    for objective, (first, *_, last) in curves(e, (*NMT, "SkipThought")):
        if "SOMO" in first.probing and "SOMO" in last.probing:
            about = f"{objective} SOMO: 5 points minus the change from the first epoch to the last"
            yield within(first.probing["SOMO"], last.probing["SOMO"], 5, about)


def untrained_encoders_call_odd_words_everywhere(e: Evidence) -> Iterator[Comparison]:
    """On SOMO people accept most sentences (62%), untrained BiLSTM-max rates most as modified: 83% (section 4).

    Untrained BiLSTM-max calls more than 60% of the test sentences modified; people, where they were asked, fewer than
    half. About half of them are.
    """
    if rated := e.rated_odd.get((MAX, "Untrained"), {}).get("SOMO"):
        yield above(rated, Point(60, 0), "SOMO, sentences that untrained BiLSTM-max calls modified, over 60%")
    if people := e.rated_odd.get(("", "Hum. Eval."), {}).get("SOMO"):
        yield above(CHANCE, people, "SOMO, 50% over the sentences that people call modified")


def meaning_goes_with_downstream(e: Evidence) -> Iterator[Comparison]:
    """After WC, SOMO and CoordInv go with most downstream tasks (section 4, Figure 2).

    For each downstream task, Spearman's rho with SOMO and with CoordInv over the models is positive.
    """
    for probe in ("SOMO", "CoordInv"):
        yield from correlated(e, probe, 1)


def structure_goes_against_similarity(e: Evidence) -> Iterator[Comparison]:
    """TopConst and the number tasks go against similarity and sentiment: SST, STS, SICK-R (section 4, Figure 2).

    For each of these downstream tasks, Spearman's rho with TopConst, SubjNum and ObjNum over the models is negative.
    """
    for probe in ("TopConst", "SubjNum", "ObjNum"):
        yield from correlated(e, probe, -1, SIMILARITY)


def question_types_go_with_most_probes(e: Evidence) -> Iterator[Comparison]:
    """TREC is the downstream task that goes with most probing tasks (section 4, Figure 2).

    For each probing task but SentLen, Spearman's rho with TREC over the models is positive.
    """
    for probe in dict.fromkeys(task for probing, _ in e.pairs for task in probing if task != "SentLen"):
        yield from correlated(e, probe, 1, ("TREC",))


def size_helps_nli(e: Evidence) -> Iterator[Comparison]:
    """A larger sentence vector helps the probing tasks of NLI (appendix, Figure 3).

    For BiLSTM-max trained on NLI, the mean over the tasks is higher at the largest size than at the smallest.
    """
    for smallest, largest, about in _sizes(e, "NLI"):
        yield above(largest, smallest, about)


def size_does_not_help_nmt(e: Evidence) -> Iterator[Comparison]:
    """A larger sentence vector does not seem to help the probing tasks of NMT En-Fr (appendix, Figure 3).

    For BiLSTM-max trained on NMT En-Fr, the mean over the tasks rises by less than 2 points from the smallest size to
    the largest.
    """
    for smallest, largest, about in _sizes(e, NMT[0]):
        yield above(_plus(smallest, 2), largest, f"2 points minus the {about}")


def baseline(e: Evidence, name: str) -> Points:
    """The probing scores of a baseline, of the paper or of an evaluation."""
    return e.probing.get(("", name)) or e.probing.get(("Baselines", name), {})


def _human() -> dict[str, Point]:
    scores = (row for row in published("conneau2018_table2") if row.model == "Hum. Eval.")
    return {row.task: share_point(row.score, CHECKED) for row in scores}


def _plus(point: Point, points: float) -> Point:
    return point._replace(score=point.score + points)


def _in_both(first: Points, second: Points) -> Iterator[tuple[str, tuple[Point, Point]]]:
    return ((task, (first[task], second[task])) for task in first if task in second)


def _means(scores: Mapping[ModelName, Points], first: ModelName, second: ModelName) -> list[Point]:
    """The means of two models over the tasks that both have; none without one."""
    pairs = [pair for _, pair in _in_both(scores.get(first, {}), scores.get(second, {}))]
    return [mean_of(points) for points in zip(*pairs, strict=True)]


def _sizes(e: Evidence, objective: str) -> Iterator[tuple[Point, Point, str]]:
    """The means at the smallest and the largest size of BiLSTM-max, over the tasks that both have."""
    sizes = e.sizes.get((MAX, objective), {})
    if len(sizes) > 1:
        low, high = min(sizes), max(sizes)
        pairs = [pair for _, pair in _in_both(sizes[low], sizes[high])]
        if pairs:
            smallest, largest = map(mean_of, zip(*pairs, strict=True))
            about = f"mean of {len(pairs)} tasks, {title((MAX, objective))}, {high} over {low} dimensions"
            yield smallest, largest, about


MORE_CLAIMS = claims_in(globals())
