"""Verdicts on published claims from our numbers: holds, fails, cannot tell; as text, and as rows of dots."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import norm

from encoder_lab.errors import InputError
from encoder_lab.reports.chart import Axis, Chart, ChartSection, DataSeries, row_axis, signed_ticks
from encoder_lab.reports.compare import paired_by_items
from encoder_lab.reports.correlation import SIGNIFICANCE_LEVEL, holm_adjusted
from encoder_lab.reports.evidence import Evidence, Point
from encoder_lab.reports.runs import grouped
from encoder_lab.reports.text import for_markdown
from probes.statistics import Interval, StandardError, errors_of, mean_of_runs, mean_of_tasks, p_value

VERDICT_RULE = """\
Each claim is a number of comparisons. A comparison is significant if the difference is larger than its 95% interval.
Where both runs have answers.csv for the same test items, the interval is that of the paired difference; otherwise it is
that of scores on different items, which is usually too wide for the same items. The claim holds if at least a third of
the comparisons are significant and three quarters of those support it, each necessary one among them. It fails if a
third are significant and three quarters of those contradict it, or if a necessary comparison contradicts it. Otherwise
the verdict is: cannot tell.
The last column has the verdict if a claim's comparisons must be significant together (Holm's correction)."""
TELLING_SHARE, MAJORITY_SHARE = 1 / 3, 3 / 4
NOTHING_TO_COMPARE = """\
These runs have no scores for any of the {} claims. A claim compares certain models, tasks and epochs: give the folders
of all runs of a study. `claim=NAME` says what one claim compares; for an unknown name, the error lists them all."""
SIGN_COLOURS = {1: "#0072B2", -1: "#D55E00", 0: "#9A9A9A"}  # for the claim, against it, within the interval
VERDICT_COLOURS = {"holds": SIGN_COLOURS[1], "fails": SIGN_COLOURS[-1], "cannot tell": "#6E6E6E"}
MAX_POSITION = 30.0  # half-intervals: what is farther away is drawn here
BINS_PER_FACTOR = 16  # of the axis, for each factor of e: dots in one bin are stacked


class Comparison(NamedTuple):
    """`difference` is positive if it supports the claim; `margin` is half of its 95% interval."""

    label: str
    difference: float
    margin: float
    needed: bool = False  # the claim cannot hold without it
    paired: bool = False  # item by item
    joint: bool = False  # its interval is that of all comparisons together, or its margin is none but a limit
    errors: Sequence[StandardError] = ()  # of the test items and of the seeds, where there are several

    @property
    def p_value(self) -> float:
        """Two-sided: the level at which the interval reaches 0; with one seed of a normal difference."""
        if self.errors:
            return p_value(self.difference, self.errors)
        if not self.margin:
            return float(not self.difference)
        return float(2 * norm.sf(abs(self.difference) * norm.ppf(1 - SIGNIFICANCE_LEVEL / 2) / self.margin))

    @property
    def sign(self) -> int:
        """1 for the claim, -1 against it, 0 if it is not significant."""
        return 0 if not abs(self.difference) > self.margin else 1 if self.difference > 0 else -1

    def __str__(self) -> str:
        digits = 1 if self.margin >= 1 else 2
        return f"{self.label}: {self.difference:+z.{digits}f} ± {self.margin:.{digits}f}"


class Claim(NamedTuple):
    """What a paper states with its source, the rule that decides it, and its comparisons."""

    name: str
    claim: str
    rule: str
    compare: Callable[[Evidence], Iterable[Comparison]]


class Finding(NamedTuple):
    """A claim with its comparisons and verdict."""

    name: str
    claim: str
    rule: str
    comparisons: list[Comparison]

    @property
    def verdict(self) -> Literal["holds", "fails", "cannot tell"]:
        if any(c.needed and c.sign < 0 for c in self.comparisons):
            return "fails"
        telling = [c.sign for c in self.comparisons if c.sign]
        if not telling or len(telling) < TELLING_SHARE * len(self.comparisons):
            return "cannot tell"
        if telling.count(-1) >= MAJORITY_SHARE * len(telling):
            return "fails"
        proven = all(c.sign > 0 for c in self.comparisons if c.needed)
        return "holds" if proven and telling.count(1) >= MAJORITY_SHARE * len(telling) else "cannot tell"

    @property
    def corrected(self) -> "Finding":
        """The finding where only comparisons count that are significant together (Holm 1979)."""
        adjusted = holm_adjusted(np.array([math.nan if c.joint else c.p_value for c in self.comparisons]))
        pairs = zip(self.comparisons, adjusted <= SIGNIFICANCE_LEVEL, strict=True)
        return self._replace(comparisons=[c if sure or c.joint else c._replace(margin=math.inf) for c, sure in pairs])

    @property
    def numbers(self) -> str:
        """How many comparisons are for and against, and the clearest of each, or the one nearest to significance."""
        if not self.comparisons:
            return "no scores for it"
        count = {sign: sum(c.sign == sign for c in self.comparisons) for sign in (1, -1, 0)}
        counts = f"{count[1]} for, {count[-1]} against, {count[0]} within the interval"
        signs = (1, -1) if count[1] + count[-1] else (0,)
        sides = [[c for c in self.comparisons if c.sign == sign] for sign in signs]
        return "; ".join([counts, *(str(max(side, key=_clarity)) for side in sides if side)])

    @property
    def full_text(self) -> str:
        """The claim, its rule and every comparison, the clearest first."""
        ordered = sorted(self.comparisons, key=lambda c: (-c.sign, -_clarity(c)))
        marks = {1: "for    ", -1: "against", 0: "within "}
        head = f"{self.name}: {self.verdict} (with Holm's correction: {self.corrected.verdict})"
        counts = f"{self.numbers.partition(';')[0]}; {pairing_note([self])}"
        return "\n".join([head, self.claim, self.rule, counts, *(f"  {marks[c.sign]} {c}" for c in ordered)]) + "\n"


def _clarity(comparison: Comparison) -> float:
    return abs(comparison.difference) - comparison.margin


def check_claims(claims: Sequence[Claim], evidence: Evidence) -> list[Finding]:
    """Check every claim."""
    findings = []
    for claim in claims:
        comparisons = [c for c in claim.compare(evidence) if math.isfinite(c.difference) and not math.isnan(c.margin)]
        findings.append(Finding(*claim[:3], comparisons))
    return findings


def compare_scores(first: Point, second: Point, label: str, within: float | None = None) -> Comparison:
    """Compares scores by one of two rules: the first is higher, or both differ by less than `within` points.

    With the interval of the difference, item by item where their items are the same. `label` gets the scores; one
    without an interval is a limit that it names.
    """
    seeds = _paired_differences(first, second)
    margin = math.hypot(first.margin, second.margin)
    if seeds:
        _, low, high = mean_of_runs(seeds)
        margin = (high - low) / 2
    errors = [error for runs in ([seeds] if seeds else [first.seeds, second.seeds]) for error in errors_of(runs)]
    has_variance = any(math.isfinite(error.degrees_of_freedom) for error in errors)
    difference = first.score - second.score
    difference = difference if within is None else within - abs(difference)
    scores = " and ".join(f"{p.score:.1f} ± {p.margin:.1f}" for p in (first, second) if p.margin)
    text = f"{label} ({scores})" if scores else label
    return Comparison(text, difference, margin, paired=bool(seeds), errors=errors if has_variance else ())


def _paired_differences(first: Point, second: Point) -> list[Interval]:
    """Of each seed, item by item; of means over tasks the mean of theirs. None if any items are not the same."""
    if first.parts and len(first.parts) == len(second.parts):
        tasks = list(map(_paired_differences, first.parts, second.parts))
        return mean_of_tasks(tasks) if all(tasks) else []
    return [seed[:3] for seed in paired_by_items(first.answers, second.answers)]


def as_markdown(findings: Sequence[Finding], notes: Sequence[str] = ()) -> str:
    """A table of the claims that have scores, the names of the others, how they were decided, `notes` on the runs."""
    if not any(f.comparisons for f in findings):
        return "\n".join([NOTHING_TO_COMPARE.format(len(findings)), *map(for_markdown, notes)]) + "\n"
    lines = ["| finding | claim | rule | comparisons | verdict | corrected |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {f.name} | {f.claim} | {f.rule} | {for_markdown(f.numbers)} | **{f.verdict}** | {f.corrected.verdict} |"
        for f in findings
        if f.comparisons
    ]
    silent = [f.name for f in findings if not f.comparisons]
    without = [f"No scores for {len(silent)} of {len(findings)} claims: {', '.join(silent)}.", ""] if silent else []
    below = [*without, *VERDICT_RULE.splitlines(), pairing_note(findings), *map(for_markdown, notes)]
    return "\n".join([*lines, "", *below]) + "\n"


def pairing_note(findings: Sequence[Finding]) -> str:
    """A sentence with the number of paired comparisons."""
    paired = [comparison.paired for finding in findings for comparison in finding.comparisons]
    return f"{sum(paired)} of {len(paired)} comparisons are paired."


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
    """The place of a dot: the difference in halves of its interval, at most MAX_POSITION to each side."""
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
