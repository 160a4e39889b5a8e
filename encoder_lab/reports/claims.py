"""The claims of the papers, one function each: the claim with its source, the rule, and the comparisons that decide.

To add one: write a function from Evidence to comparisons, docstring as here. CLAIMS has every one of these files.
"""

from collections.abc import Iterator
from itertools import combinations

from encoder_lab.reports.coherence_claims import COHERENCE_CLAIMS
from encoder_lab.reports.comparisons import LAST, MAX, NMT, TRAINED, correlated, curves, over, title
from encoder_lab.reports.discourse_claims import DISCOURSE_CLAIMS
from encoder_lab.reports.evidence import BOV, Evidence, Point
from encoder_lab.reports.findings import Comparison, above, claims_in, within
from encoder_lab.reports.more_claims import MORE_CLAIMS
from probes.probing import FACTS

CHANCE = Point(50, 0)  # of two classes
SURFACE = ("SentLen", "WC")


def bov_is_at_chance_on_order(e: Evidence) -> Iterator[Comparison]:
    """A bag of vectors cannot do BShift, SOMO and CoordInv (Conneau et al. 2018, section 4, Baselines).

    BoV is within 6 points of 50% on each of the three.
    """
    for task in ("BShift", "SOMO", "CoordInv"):
        if score := e.probing.get(BOV, {}).get(task):
            yield within(score, CHANCE, 6, f"BoV {task}: 6 points minus the distance from 50%")


def bov_is_good_at_tense_and_number(e: Evidence) -> Iterator[Comparison]:
    """A bag of vectors does surprisingly well on Tense, SubjNum and ObjNum (section 4, Baselines).

    BoV is above 70% on each of the three.
    """
    for task in ("Tense", "SubjNum", "ObjNum"):
        if score := e.probing.get(BOV, {}).get(task):
            yield above(score, Point(70, 0), f"BoV {task} over 70%")


def encoders_outperform_bov(e: Evidence) -> Iterator[Comparison]:
    """Proper encoders are better than a bag of vectors (section 4, Encoding architectures).

    BiLSTM-max trained on NMT is above BoV on every task but WC.
    """
    for objective in NMT:
        yield from over(e.probing, (MAX, objective), BOV, but=("WC",))


def max_is_above_last(e: Evidence) -> Iterator[Comparison]:
    """BiLSTM-max outperforms BiLSTM-last in the probing tasks but SentLen (section 4, Encoding architectures).

    For each training objective and every task but SentLen, max is above last.
    """
    for objective in TRAINED:
        yield from over(e.probing, (MAX, objective), (LAST, objective), but=("SentLen",))


def last_is_above_max_in_length(e: Evidence) -> Iterator[Comparison]:
    """BiLSTM-last is better than BiLSTM-max only at SentLen (section 4, Encoding architectures).

    For each training objective, last is above max on SentLen.
    """
    for objective in TRAINED:
        yield from over(e.probing, (LAST, objective), (MAX, objective), only=("SentLen",))


def max_is_above_last_downstream(e: Evidence) -> Iterator[Comparison]:
    """BiLSTM-max outperforms BiLSTM-last in the downstream tasks (section 4 and Table 5).

    For each training objective and downstream task, max is above last.
    """
    for objective in TRAINED:
        yield from over(e.downstream, (MAX, objective), (LAST, objective))


def seq2tree_leads_in_syntax(e: Evidence) -> Iterator[Comparison]:
    """Seq2Tree is best at TopConst, Tense, SubjNum, ObjNum and TreeDepth (section 4, Training tasks).

    On these five, Seq2Tree is above each other objective that trained the same encoder.
    """
    syntax = ("TreeDepth", "TopConst", "Tense", "SubjNum", "ObjNum")
    for encoder in e.encoders(e.probing, "Seq2Tree"):
        for other in TRAINED:
            yield from over(e.probing, (encoder, "Seq2Tree"), (encoder, other), only=syntax)


def autoencoder_excels_at_length(e: Evidence) -> Iterator[Comparison]:
    """AutoEncoder training excels at SentLen (section 4, Training tasks).

    AutoEncoder is above each other objective that trained the same encoder on SentLen.
    """
    for encoder in e.encoders(e.probing, "AutoEncoder"):
        for other in TRAINED:
            yield from over(e.probing, (encoder, "AutoEncoder"), (encoder, other), only=("SentLen",))


def autoencoder_is_low_on_words(e: Evidence) -> Iterator[Comparison]:
    """AutoEncoder training, oddly, gets low WC (section 4, Training tasks).

    On WC, each of the three NMT objectives is above AutoEncoder with the same encoder.
    """
    for encoder in e.encoders(e.probing, "AutoEncoder"):
        for other in NMT:
            yield from over(e.probing, (encoder, other), (encoder, "AutoEncoder"), only=("WC",))


def nmt_knows_more_than_nli(e: Evidence) -> Iterator[Comparison]:
    """NMT makes encoders linguistically more aware than NLI (section 4, Training tasks).

    For BiLSTM-max and every task but WC, each NMT objective is above NLI.
    """
    for objective in NMT:
        yield from over(e.probing, (MAX, objective), (MAX, "NLI"), but=("WC",))


def nli_keeps_words(e: Evidence) -> Iterator[Comparison]:
    """WC is the one task where NLI is clearly better than NMT (section 4, Training tasks).

    For BiLSTM-max, NLI is above each NMT objective on WC.
    """
    for objective in NMT:
        yield from over(e.probing, (MAX, "NLI"), (MAX, objective), only=("WC",))


def nli_is_best_downstream(e: Evidence) -> Iterator[Comparison]:
    """NLI is the best source task for downstream tasks (section 4 and appendix, Table 5).

    For each encoder and downstream task, NLI is above each other training objective.
    """
    for encoder in e.encoders(e.downstream, "NLI"):
        for other in TRAINED:
            yield from over(e.downstream, (encoder, "NLI"), (encoder, other))


def untrained_max_detects_odd_words(e: Evidence) -> Iterator[Comparison]:
    """BiLSTM-max does well on SOMO, where BoV fails, without any training (section 4, Training tasks).

    Untrained BiLSTM-max is above BoV and at least 5 points above chance on SOMO.
    """
    if score := e.probing.get((MAX, "Untrained"), {}).get("SOMO"):
        yield above(score, Point(55, 0), "untrained BiLSTM-max SOMO over 55%")
        yield from over(e.probing, (MAX, "Untrained"), BOV, only=("SOMO",))


def target_languages_are_alike(e: Evidence) -> Iterator[Comparison]:
    """NMT probing performance hardly depends on the target language (section 4, Figure 1).

    For each encoder and task, two target languages differ by less than 5 points.
    """
    for encoder in e.encoders(e.probing):
        for pair in combinations(NMT, 2):
            first, second = (e.probing.get((encoder, objective), {}) for objective in pair)
            for task in (task for task in first if task in second):
                about = f"{encoder} {task}: 5 points minus the distance of {' and '.join(pair)}"
                yield within(first[task], second[task], 5, about)


def words_are_learnt_with_epochs(e: Evidence) -> Iterator[Comparison]:
    """WC keeps increasing with epochs for NMT and SkipThought (section 4, Figure 1).

    In each such run of BiLSTM-max, WC is higher after the last epoch than after the first.
    """
    for objective, (first, *_, last) in curves(e, (*NMT, "SkipThought")):
        if "WC" in first.probing and "WC" in last.probing:
            yield above(last.probing["WC"], first.probing["WC"], f"{objective} WC, last over first epoch")


def length_is_forgotten_with_epochs(e: Evidence) -> Iterator[Comparison]:
    """SentLen decreases with epochs (section 4, Figure 1).

    In each NMT and SkipThought run of BiLSTM-max, SentLen is lower after the last epoch than after the first.
    """
    for objective, (first, *_, last) in curves(e, (*NMT, "SkipThought")):
        if "SentLen" in first.probing and "SentLen" in last.probing:
            about = f"{objective} SentLen, first over last epoch"
            yield above(first.probing["SentLen"], last.probing["SentLen"], about)


def probes_flatten_while_bleu_rises(e: Evidence) -> Iterator[Comparison]:
    """NMT probing curves flatten early while BLEU keeps increasing (section 4, Figure 1).

    In each NMT run of BiLSTM-max, from the middle epoch to the last, BLEU rises by more than half a point (necessary),
    and every task but WC and SentLen changes by less than 5 points.
    """
    for objective, moments in curves(e, NMT):
        middle, last = moments[(len(moments) - 1) // 2], moments[-1]
        if middle.bleu is None or last.bleu is None:
            continue
        yield Comparison(f"{objective} BLEU, last over middle epoch", last.bleu - middle.bleu, 0.5, needed=True)
        for task in (task for task in middle.probing if task in last.probing and task not in SURFACE):
            about = f"{objective} {task}: 5 points minus the change from the middle epoch to the last"
            yield within(middle.probing[task], last.probing[task], 5, about)


def linear_readout_is_enough(e: Evidence) -> Iterator[Comparison]:
    """Logistic regression comes close to the MLP (appendix, Table 4).

    For each model and task, the MLP is less than 5 points above logistic regression.
    """
    for name, scores in e.probing.items():
        linear = e.logistic.get(name, {})
        for task in (task for task in scores if task in linear and task not in FACTS.one_reader):
            about = f"{title(name)} {task}: 5 points minus the lead of the MLP"
            yield above(linear[task]._replace(score=linear[task].score + 5), scores[task], about)


def words_go_with_downstream(e: Evidence) -> Iterator[Comparison]:
    """WC is positively correlated with all downstream tasks over models (section 4, Figure 2).

    For each downstream task, Spearman's rho with WC over the models that have both is positive; the intervals are
    corrected for all pairs of tasks, as in the figure.
    """
    yield from correlated(e, "WC", 1)


def length_goes_against_downstream(e: Evidence) -> Iterator[Comparison]:
    """SentLen is negatively correlated with most downstream tasks over models (section 4, Figure 2).

    For each downstream task, Spearman's rho with SentLen over the models that have both is negative; the intervals are
    corrected for all pairs of tasks, as in the figure.
    """
    yield from correlated(e, "SentLen", -1)


CLAIMS = (*claims_in(globals()), *MORE_CLAIMS, *DISCOURSE_CLAIMS, *COHERENCE_CLAIMS)
