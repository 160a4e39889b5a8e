"""The settings of a probing classifier: a grid of cells that compete on dev."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from encoder_lab.errors import InputError
from encoder_lab.settings.check import refuse_wrong_fields
from encoder_lab.settings.types import Count, Fraction, ZeroOrMore

MAX_EXTRA_L2 = 4  # powers of ten that are tried beyond the default L2 values, at most
SENTEVAL_ONLY = ("max_passes", "block", "tenacity", "batch", "reduction", "optimiser")  # settings of Grid


Result = TypeVar("Result")


@dataclass(frozen=True)
class Grid:
    """The cells (width, dropout, L2) that compete on dev, and how they are trained.

    `senteval` is the published protocol, `modern` a cheaper one; docs/probing_protocol.md describes both. The
    settings of `SENTEVAL_ONLY` apply to `senteval` only.
    """

    widths: Annotated[
        tuple[ZeroOrMore, ...], Field(min_length=1, description="sigmoid units; [0] is logistic regression")
    ] = (50, 100, 200)
    dropouts: Annotated[tuple[Fraction, ...], Field(min_length=1, description="between the two layers")] = (
        0.0,
        0.1,
        0.2,
    )
    l2: Annotated[
        tuple[Annotated[float, Field(ge=0, le=1e6)], ...],
        Field(min_length=1, description="penalties, ascending: the first wins a tie"),
    ] = (1e-5, 1e-4, 1e-3, 1e-2)
    protocol: Annotated[Literal["modern", "senteval"], "modern | senteval, see docs/probing_protocol.md"] = "modern"
    block_mb: Annotated[Count | None, "memory of classifiers trained together; null: 32, no limit on a GPU"] = None
    max_passes: Annotated[ZeroOrMore, "no block of passes starts after more"] = 200
    block: Annotated[Count, "passes between two evaluations on dev"] = 4
    tenacity: Annotated[Count, "early-stopping patience: evaluations without improvement, in total"] = 5
    batch: Annotated[Count, "sentences"] = 64
    reduction: Annotated[Literal["mean", "sum"], "mean | sum: of the loss of a batch"] = "mean"
    memory_mb: Annotated[Count, "above the vectors: half for the features of a task, half for its classifiers"] = 2048
    optimiser: Annotated[
        Literal["adam", "rmsprop"], "of protocol=senteval, as all below but memory_mb: adam | rmsprop (rate 0.01)"
    ] = "adam"

    def __post_init__(self) -> None:
        refuse_wrong_fields(self, "probes.classifier")
        for name in ("widths", "dropouts", "l2"):
            values = list(getattr(self, name))
            if len(set(values)) < len(values):
                raise InputError(f"probes.classifier.{name}={values}: give each value once")
            object.__setattr__(self, name, tuple(values))  # settings give lists
        if 0 in self.widths and len(self.widths) > 1:
            raise InputError(f"widths={list(self.widths)}: 0 is logistic regression; give it alone")
        idle = [name for name in SENTEVAL_ONLY if getattr(self, name) != getattr(Grid, name)]
        if self.protocol == "modern" and idle:
            raise InputError(f"probes.classifier.{idle[0]}= is a setting of protocol=senteval; else leave it out")

    @property
    def is_logistic(self) -> bool:
        """Whether there is no hidden layer."""
        return not any(self.widths)

    def logistic(self) -> "Grid":
        """Logistic regression over the same L2 values."""
        return replace(self, widths=(0,))

    def cell(self, width: int, dropout: float, l2: float) -> "Grid":
        """The grid of one cell."""
        return replace(self, widths=(width,), dropouts=(dropout,), l2=(l2,))

    def settings(self) -> list[tuple[int, float]]:
        """Width and dropout of each group of cells; logistic regression has no dropout."""
        return [(0, 0.0)] if self.is_logistic else [(w, d) for w in self.widths for d in self.dropouts]


def best_of_l2(
    grid: Grid, fit: Callable[[list[float]], Sequence[Result]], score: Callable[[Result], float]
) -> tuple[float, Result]:
    """The L2 value with the best score and its result; the smallest value wins a tie.

    While the best of the default values is the smallest or the largest, alone, the next power of ten is tried too.
    """
    values = sorted(grid.l2)
    results = dict(zip(values, fit(values), strict=True))
    for _ in range(MAX_EXTRA_L2 if grid.l2 == Grid.l2 else 0):
        best = max(sorted(results), key=lambda l2: score(results[l2]))
        other_scores = [score(results[l2]) for l2 in results if l2 != best]
        if min(results) < best < max(results) or score(results[best]) <= max(other_scores):
            break
        further = float(f"{10 * best if best == max(results) else best / 10:.9g}")  # 1e-5 / 10 is not 1e-6
        results[further] = fit([further])[0]
    best = max(sorted(results), key=lambda l2: score(results[l2]))
    return best, results[best]


FRONT = "front"  # its name among the hyperparameters of a score
FrontPoint = tuple[float, float]  # complexity and dev accuracy of a cell


def pareto_front(points: Iterable[FrontPoint]) -> list[list[float]]:
    """The points that no simpler one equals, the simplest first (Pimentel et al. 2020, Pareto probing)."""
    best: list[list[float]] = []
    rounded = ((round(complexity, 2), round(accuracy, 2)) for complexity, accuracy in points)
    for complexity, accuracy in sorted(rounded, key=lambda point: (point[0], -point[1])):
        if not best or accuracy > best[-1][1]:
            best.append([complexity, accuracy])
    return best
