"""Published claims, decided by our numbers: holds, fails, cannot tell."""

import math
from collections.abc import Callable, Iterable, Sequence
from inspect import cleandoc
from typing import Literal, NamedTuple

from probes.report.evidence import Evidence, Point

Verdict = Literal["holds", "fails", "cannot tell"]

RULE = """\
Each claim is a number of comparisons. One tells if the difference is larger than its 95% interval. If less than a third
of the comparisons tell, one cannot tell; else the claim holds if at least three quarters of those go its way, and fails
otherwise."""
TELLING, FOR = 1 / 3, 3 / 4


class Comparison(NamedTuple):
    """`difference` is positive where it goes the claim's way; `half` of its 95% interval."""

    about: str
    difference: float
    half: float

    @property
    def says(self) -> int:
        """1 for the claim, -1 against it, 0 if it does not tell."""
        return 0 if not abs(self.difference) > self.half else 1 if self.difference > 0 else -1


Claim = Callable[[Evidence], Iterable[Comparison]]


class Finding(NamedTuple):
    """A claim and what became of it."""

    name: str
    claim: str
    rule: str
    comparisons: list[Comparison]

    @property
    def verdict(self) -> Verdict:
        telling = [c.says for c in self.comparisons if c.says]
        if not telling or len(telling) < TELLING * len(self.comparisons):
            return "cannot tell"
        return "holds" if telling.count(1) >= FOR * len(telling) else "fails"

    @property
    def numbers(self) -> str:
        """How many comparisons go which way, and the clearest on each side."""
        if not self.comparisons:
            return "no runs for it"
        count = {way: sum(c.says == way for c in self.comparisons) for way in (1, -1, 0)}
        said = [f"{count[1]} for, {count[-1]} against, {count[0]} within the interval"]
        for way in (1, -1):
            clearest = max((c for c in self.comparisons if c.says == way), key=_clarity, default=None)
            if clearest:
                said.append(f"{clearest.about} {clearest.difference:+.1f} ± {clearest.half:.1f}")
        return "; ".join(said)


def _clarity(comparison: Comparison) -> float:
    return abs(comparison.difference) - comparison.half


def check(claims: Sequence[Claim], evidence: Evidence) -> list[Finding]:
    """Every claim on some evidence. A claim's docstring says what is claimed, then, after an empty line, the rule."""
    found = []
    for claim in claims:
        said, _, rule = cleandoc(claim.__doc__ or "").partition("\n\n")
        comparisons = [c for c in claim(evidence) if math.isfinite(c.difference)]
        found.append(Finding(claim.__name__.replace("_", " "), _line(said), _line(rule), comparisons))
    return found


def above(first: Point, second: Point, about: str) -> Comparison:
    """That the first score is higher."""
    return Comparison(about, first.score - second.score, math.hypot(first.half, second.half))


def within(first: Point, second: Point, points: float, about: str) -> Comparison:
    """That two scores differ by less than so many points."""
    return Comparison(about, points - abs(first.score - second.score), math.hypot(first.half, second.half))


def as_markdown(found: Sequence[Finding]) -> str:
    lines = ["| finding | claim | rule | comparisons | verdict |", "|---|---|---|---|---|"]
    lines += [f"| {f.name} | {f.claim} | {f.rule} | {f.numbers} | **{f.verdict}** |" for f in found]
    return "\n".join([*lines, "", *RULE.splitlines()]) + "\n"


def _line(text: str) -> str:
    return " ".join(text.split())
