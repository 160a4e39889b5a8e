"""Claims as rows and their comparisons as dots: which published findings hold, at a glance."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from encoder_lab.errors import InputError
from encoder_lab.reports.chart import Axis, Chart, ChartSection, DataSeries, row_axis, signed_ticks
from encoder_lab.reports.findings import NOTHING_TO_COMPARE, Comparison, Finding
from encoder_lab.reports.runs import grouped

SIGN_COLOURS = {1: "#0072B2", -1: "#D55E00", 0: "#9A9A9A"}  # for the claim, against it, within the interval
VERDICT_COLOURS = {"holds": SIGN_COLOURS[1], "fails": SIGN_COLOURS[-1], "cannot tell": "#6E6E6E"}
MAX_POSITION = 30.0  # half-intervals: what is farther away is drawn here
BINS_PER_FACTOR = 16  # of the axis, for each factor of e: dots in one bin are stacked


def chart_of_findings(findings: Sequence[Finding]) -> ChartSection:
    """A row for each claim with scores, a dot for each comparison, the verdict behind. Raises InputError for none."""
    compared = [finding for finding in findings if finding.comparisons]
    if not compared:
        nothing = NOTHING_TO_COMPARE.format(len(findings))
        raise InputError(f"no scores for {findings[0].name!r}" if len(findings) == 1 else " ".join(nothing.split()))
    series = [dots for row, finding in enumerate(compared) for dots in _dots(row, finding)]
    end = max(3.0, *(1.15 * abs(position_of(c)) for finding in compared for c in finding.comparisons))
    ticks = {tick: f"{tick:+.0f}".replace("-", "−") if tick else "0" for tick in signed_ticks(1)}
    x = Axis("difference, in halves of its 95% interval, at most 30", "grey: not significant", (-end, end), ticks, 1)
    size, title = (9.6, 1.15 + 0.36 * len(compared)), "against the claim (left), for it (right)"
    remarks = [_remark(finding) for finding in compared]
    rows = row_axis([finding.name for finding in compared])
    return ChartSection("findings", [Chart(title, x, rows, series, size, shaded=(-1, 1), remarks=remarks)])


def position_of(comparison: Comparison) -> float:
    """Its difference in halves of its interval, at most MAX_POSITION to each side."""
    ratio = comparison.difference / comparison.margin if comparison.margin else math.copysign(math.inf, comparison.sign)
    return float(np.clip(ratio if comparison.sign or comparison.margin else 0.0, -MAX_POSITION, MAX_POSITION))


def _dots(row: int, finding: Finding) -> list[DataSeries]:
    """The dots of a claim by their colour, a diamond where the claim cannot hold without it."""
    positions = [position_of(comparison) for comparison in finding.comparisons]
    looks = [(comparison.sign, comparison.needed) for comparison in finding.comparisons]
    points = zip(positions, stacked_heights(positions), map(str, finding.comparisons), strict=True)
    series = []
    for (sign, needed), group in grouped(zip(looks, points, strict=True)).items():
        x, heights, texts = zip(*group, strict=True)
        y = [row - height for height in heights]
        dots = DataSeries(finding.name, x, y, look=(SIGN_COLOURS[sign], "solid"), hover=texts, shape="points")
        series.append(replace(dots, marker="diamond" if needed else "circle"))
    return series


def _remark(finding: Finding) -> tuple[str, str]:
    count = Counter(comparison.sign for comparison in finding.comparisons)
    text = f"{finding.verdict}: {count[1]} for, {count[-1]} against, {count[0]} neither"
    return text, VERDICT_COLOURS[finding.verdict]


def stacked_heights(positions: Sequence[float]) -> list[float]:
    """Heights in a row, from -0.4 to 0.4, that keep dots in the same bin of the axis apart: 0, up, down, up, ..."""
    bins = [round(BINS_PER_FACTOR * math.copysign(math.log1p(abs(x)), x)) for x in positions]
    step = min(0.16, 0.8 / max(Counter(bins).values(), default=1))
    seen: Counter[int] = Counter()
    heights = []
    for number in bins:
        level = (seen[number] + 1) // 2
        heights.append(step * (level if seen[number] % 2 else -level))
        seen[number] += 1
    return heights
