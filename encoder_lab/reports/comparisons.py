"""Comparisons that several claims are made of: one model over another, curves of epochs, correlations over models."""

from collections.abc import Iterator, Sequence

from scipy.stats import spearmanr

from encoder_lab.reports.evidence import EpochScores, Evidence, ModelName, PointsByModel, correlation_point
from encoder_lab.reports.findings import Comparison, above

NMT = ("NMT En-Fr", "NMT En-De", "NMT En-Fi")
TRAINED = (*NMT, "AutoEncoder", "Seq2Tree", "SkipThought", "NLI")
MAX, LAST, CONVNET = "BiLSTM-max", "BiLSTM-last", "Gated ConvNet"


def over(
    scores: PointsByModel, first: ModelName, second: ModelName, only: Sequence[str] = (), but: Sequence[str] = ()
) -> Iterator[Comparison]:
    """The first model over the second on every task that both have."""
    ours, theirs = scores.get(first, {}), scores.get(second, {}) if first != second else {}
    for task in ours:
        if task in theirs and task not in but and (not only or task in only):
            yield above(ours[task], theirs[task], f"{task}, {title(first)} over {title(second)}")


def title(name: ModelName) -> str:
    """The encoder and the objective of a model; once where they are the same."""
    return " ".join(part for part in dict.fromkeys(name) if part)


def curves(e: Evidence, objectives: tuple[str, ...]) -> Iterator[tuple[str, list[EpochScores]]]:
    """The epochs after the first pass over the data, of BiLSTM-max runs with three or more of them."""
    for objective in objectives:
        moments = [m for m in e.curves.get((MAX, objective), ()) if m.epoch > 0]
        if len(moments) >= 3:
            yield objective, moments


def correlated(e: Evidence, probe: str, sign: int, only: tuple[str, ...] = ()) -> Iterator[Comparison]:
    """Spearman's rho of a probing task with each downstream task, times `sign`; corrected for all pairs of tasks."""
    columns = list(dict.fromkeys(task for _, downstream in e.pairs for task in downstream))
    tests = len(columns) * len({task for probing, _ in e.pairs for task in probing})
    for task in (task for task in columns if not only or task in only):
        both = [(ours[probe].score, theirs[task].score) for ours, theirs in e.pairs if probe in ours and task in theirs]
        if len({x for x, _ in both}) > 1 and len({y for _, y in both}) > 1:
            rho = float(spearmanr(*zip(*both, strict=True))[0])
            about = f"{'rho' if sign > 0 else 'minus rho'} of {probe} and {task} over {len(both)} models"
            yield Comparison(about, sign * rho, correlation_point(rho, len(both), tests).half, joint=True)
