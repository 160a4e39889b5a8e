"""Verdicts on published claims from our numbers: holds, fails, cannot tell."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import norm

from encoder_lab.reports.correlation import SIGNIFICANCE_LEVEL, holm_adjusted
from encoder_lab.reports.escape import for_markdown
from encoder_lab.reports.evidence import Evidence, Point
from probes.correlations import compare_correlations
from probes.results import Answers
from probes.statistics import (
    Interval,
    PairedComparison,
    StandardError,
    compare,
    errors_of,
    mean_of_runs,
    mean_of_tasks,
    p_value,
)

Verdict = Literal["holds", "fails", "cannot tell"]

VERDICT_RULE = """\
Each claim is a number of comparisons. A comparison is significant if the difference is larger than its 95% interval.
Where both runs have answers.csv for the same test items, the interval is that of the paired difference; otherwise it is
that of scores on different items, which is usually too wide for the same items. The claim holds if at least a third of
the comparisons are significant and three quarters of those support it. It fails if a third are significant and three
quarters of those contradict it, or if a necessary comparison contradicts it. Otherwise the verdict is: cannot tell.
The last column has the verdict if a claim's comparisons must be significant together (Holm's correction)."""
TELLING_SHARE, MAJORITY_SHARE = 1 / 3, 3 / 4
NOTHING_TO_COMPARE = """\
These runs have no scores for any of the {} claims. A claim compares certain models, tasks and epochs: give the folders
of all runs of a study. `claim=NAME` says what one claim compares; for an unknown name, the error lists them all."""


class Comparison(NamedTuple):
    """`difference` is positive if it supports the claim; `margin` is half of its 95% interval."""

    label: str
    difference: float
    margin: float
    needed: bool = False  # the claim cannot hold without it
    paired: bool = False  # item by item
    joint: bool = False  # its interval is that of all comparisons together
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
    def verdict(self) -> Verdict:
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
    """Compare: the first score is higher, or two scores differ by less than `within` points.

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


def paired_by_items(first: Sequence[Answers], second: Sequence[Answers]) -> list[PairedComparison]:
    """Two models item by item, seed by seed or all with the only one; none where their test items are others."""
    sizes = {len(first), len(second)}
    if 0 in sizes or len(sizes - {1}) > 1:
        return []
    pairs = [(first[seed % len(first)], second[seed % len(second)]) for seed in range(max(sizes))]
    if any(a.test != b.test or a.sizes != b.sizes for a, b in pairs):
        return []
    return [compare_correlations(a.domains, b.domains) if a.domains else compare(a.right, b.right) for a, b in pairs]


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
