"""Claims as rows and their comparisons as dots: which published findings hold, at a glance."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from encoder_lab.errors import InputError
from encoder_lab.reports.drawing import GRID, new_figure
from encoder_lab.reports.findings import NOTHING_TO_COMPARE, Comparison, Finding

COLOURS = {1: "#0072B2", -1: "#D55E00", 0: "#9A9A9A"}  # for the claim, against it, within the interval
VERDICTS = {"holds": COLOURS[1], "fails": COLOURS[-1], "cannot tell": "#6E6E6E"}
WIDEST = 30.0  # half-intervals: what is farther away is drawn at this place
BINS = 16  # of the axis, for each factor of e: dots in one bin are stacked
ROW = 0.36  # inches
DOTS: dict[str, Any] = {"markersize": 4.2, "alpha": 0.75, "markeredgewidth": 0}


def draw_findings(findings: Sequence[Finding]) -> Figure:
    """A row for each claim with scores, a dot for each comparison, the verdict behind. Raises InputError for none."""
    drawn = [finding for finding in findings if finding.comparisons]
    if not drawn:
        nothing = NOTHING_TO_COMPARE.format(len(findings))
        raise InputError(f"no scores for {findings[0].name!r}" if len(findings) == 1 else " ".join(nothing.split()))
    figure = new_figure(9.6, 1.15 + ROW * len(drawn))
    axes = figure.add_subplot()
    places = [[place_of(comparison) for comparison in finding.comparisons] for finding in drawn]
    _axis(axes, max(3.0, *(1.15 * abs(x) for row in places for x in row)), [finding.name for finding in drawn])
    for row, finding in enumerate(drawn):
        _row(axes, row, finding, places[row])
    return figure


def place_of(comparison: Comparison) -> float:
    """Its difference in halves of its interval, at most WIDEST to each side."""
    ratio = comparison.difference / comparison.half if comparison.half else math.copysign(math.inf, comparison.sign)
    return float(np.clip(ratio if comparison.sign or comparison.half else 0.0, -WIDEST, WIDEST))


def _axis(axes: Axes, end: float, names: Sequence[str]) -> None:
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xlim(-end, end)
    axes.set_ylim(len(names) - 0.4, -0.6)
    ticks = [tick for tick in (1, 3, 10, 30) if tick <= end]
    axes.set_xticks([*(-tick for tick in reversed(ticks)), 0, *ticks])
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:+.0f}".replace("-", "−") if x else "0")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yticks(range(len(names)), names)
    axes.axvspan(-1, 1, color="#F1F1F1", zorder=0)
    axes.axvline(0, color="#BBBBBB", linewidth=0.8, zorder=1)
    axes.hlines(np.arange(len(names)), -end, end, color=GRID, linewidth=0.8, zorder=1)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=8.5)
    axes.set_xlabel("difference, in halves of its 95% interval, at most 30 (grey: not significant)", fontsize=8.5)
    for side, text in ((-1, "against the claim"), (1, "for the claim")):
        axes.text(side * end, -0.75, text, ha="left" if side < 0 else "right", color=COLOURS[side], fontsize=9)


def _row(axes: Axes, row: int, finding: Finding, places: Sequence[float]) -> None:
    """The dots of a claim, a diamond where the claim cannot hold without it, and the verdict."""
    looks = [(COLOURS[c.sign], "D" if c.needed else "o") for c in finding.comparisons]
    dots = list(zip(looks, places, stacked(places), strict=True))
    for colour, marker in dict.fromkeys(looks):
        x, heights = zip(*(dot[1:] for dot in dots if dot[0] == (colour, marker)), strict=True)
        axes.plot(x, row - np.array(heights), marker, color=colour, clip_on=False, **DOTS)
    count = Counter(c.sign for c in finding.comparisons)
    verdict = f"{finding.verdict}: {count[1]} for, {count[-1]} against, {count[0]} neither"
    where = axes.get_yaxis_transform()
    axes.text(1.02, row, verdict, transform=where, va="center", color=VERDICTS[finding.verdict], fontsize=8.5)


def stacked(places: Sequence[float]) -> list[float]:
    """Heights in a row, from -0.4 to 0.4, that keep dots in the same bin of the axis apart: 0, up, down, up, ..."""
    bins = [round(BINS * math.copysign(math.log1p(abs(x)), x)) for x in places]
    step = min(0.16, 0.8 / max(Counter(bins).values(), default=1))
    seen: Counter[int] = Counter()
    heights = []
    for which in bins:
        level = (seen[which] + 1) // 2
        heights.append(step * (level if seen[which] % 2 else -level))
        seen[which] += 1
    return heights
