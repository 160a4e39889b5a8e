"""TopConst (Conneau et al. 2018, section 2)."""

from collections import Counter

from probes.probing.build.analysis import Analysis
from probes.probing.build.pool import Pool, Sizes
from probes.probing.build.sampling import MIN_FILL_SHARE, TaskDraft, balanced, deciding_splits, needed_per_class
from probes.probing.build.tags import TagSet

MAX_SEQUENCES = 19
OTHER_LABEL = "OTHER"


def top_constituents(pool: Pool, sizes: Sizes, name: str = "TopConst") -> TaskDraft:
    """Which constituents follow below the clause? The 19 most frequent sequences, and OTHER.

    A sequence ends with a full stop and has no other punctuation, as in the published files. If fewer than 19 such
    sequences have enough sentences, sequences with commas and similar marks are added, but none with quotation marks.
    """
    notes = []
    forbidden = pool.tags.punctuation
    frequent = _frequent_sequences(pool, sizes, forbidden)
    if len(frequent) < MAX_SEQUENCES:
        forbidden = pool.tags.quotes
        without, frequent = frequent, _frequent_sequences(pool, sizes, forbidden)
        notes += ["sequences with commas take part: too few are without"] if frequent != without else []

    def sequence(s: Analysis) -> str | None:
        return (s.top if s.top in frequent else OTHER_LABEL) if _is_allowed(s.top, forbidden, pool.tags) else None

    while True:
        draft = balanced(name, pool.by_class(sequence), sizes)
        if frequent <= set(draft.task.classes):
            break
        frequent &= set(draft.task.classes)  # classes that the plan left out belong to OTHER
    if len(frequent) < MAX_SEQUENCES:
        notes.append(f"{len(frequent)} sequences and OTHER: the others have too few sentences")
    draft.notes.extend(notes)
    return draft


def _is_allowed(top: str, forbidden: frozenset[str], tags: TagSet) -> bool:
    *labels, last = top.split("_")
    return last == tags.full_stop and forbidden.isdisjoint(labels)


def _frequent_sequences(pool: Pool, sizes: Sizes, forbidden: frozenset[str]) -> set[str]:
    splits, requested = deciding_splits(pool.splits, sizes)
    counts = [Counter(s.top for s in split if _is_allowed(s.top, forbidden, pool.tags)) for split in splits]
    totals = sum(counts, Counter[str]())
    reach = min(1.0, totals.total() / sum(requested) / 2)  # a small corpus cannot fill the requested size
    least = [MIN_FILL_SHARE * reach * size / (MAX_SEQUENCES + 1) for size in requested]
    least[0] = max(least[0], needed_per_class(MAX_SEQUENCES + 1, requested))
    candidates = [top for top in totals if all(part[top] >= n for part, n in zip(counts, least, strict=True))]
    return set(sorted(candidates, key=lambda top: (-totals[top], top))[:MAX_SEQUENCES])
