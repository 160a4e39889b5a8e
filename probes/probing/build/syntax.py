"""TopConst (Conneau et al. 2018, section 2)."""

from collections import Counter

from probes.probing.build.analysis import Analysis
from probes.probing.build.pool import Pool, Sizes
from probes.probing.build.sampling import SHARE, TaskDraft, balanced, deciding, enough
from probes.probing.build.tags import TagSet

FREQUENT_TOPS = 19
OTHER = "OTHER"


def top_constituents(pool: Pool, sizes: Sizes, name: str = "TopConst") -> TaskDraft:
    """Which constituents follow below the clause? The 19 most frequent sequences, and OTHER.

    A sequence ends with a full stop and has no other punctuation, as in the published files. If fewer than 19 such
    sequences have enough sentences, sequences with commas and similar marks are added, but none with quotation marks.
    """
    notes = []
    forbidden = pool.tags.punctuation
    frequent = _frequent(pool, sizes, forbidden)
    if len(frequent) < FREQUENT_TOPS:
        forbidden = pool.tags.quotes
        without, frequent = frequent, _frequent(pool, sizes, forbidden)
        notes += ["sequences with commas take part: too few are without"] if frequent != without else []

    def sequence(s: Analysis) -> str | None:
        return (s.top if s.top in frequent else OTHER) if _allowed(s.top, forbidden, pool.tags) else None

    while True:
        draft = balanced(name, pool.by_class(sequence), sizes)
        if frequent <= set(draft.task.classes):
            break
        frequent &= set(draft.task.classes)  # classes that the plan left out belong to OTHER
    if len(frequent) < FREQUENT_TOPS:
        notes.append(f"{len(frequent)} sequences and OTHER: the others have too few sentences")
    draft.notes.extend(notes)
    return draft


def _allowed(top: str, forbidden: frozenset[str], tags: TagSet) -> bool:
    *labels, last = top.split("_")
    return last == tags.full_stop and forbidden.isdisjoint(labels)


def _frequent(pool: Pool, sizes: Sizes, forbidden: frozenset[str]) -> set[str]:
    """The most frequent sequences with enough sentences."""
    splits, requested = deciding(pool.splits, sizes)
    counts = [Counter(s.top for s in split if _allowed(s.top, forbidden, pool.tags)) for split in splits]
    totals = sum(counts, Counter[str]())
    reach = min(1.0, totals.total() / sum(requested) / 2)  # a small corpus cannot fill the requested size
    least = [SHARE * reach * size / (FREQUENT_TOPS + 1) for size in requested]
    least[0] = max(least[0], enough(FREQUENT_TOPS + 1, requested))
    candidates = [top for top in totals if all(part[top] >= n for part, n in zip(counts, least, strict=True))]
    return set(sorted(candidates, key=lambda top: (-totals[top], top))[:FREQUENT_TOPS])
