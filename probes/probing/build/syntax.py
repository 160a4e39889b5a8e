"""TreeDepth: how deep is the tree? TopConst: what is below the clause? (Conneau et al. 2018, section 2)"""

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from probes.probing.build import sampling
from probes.probing.build.analysis import MAX_WORDS, Analysis
from probes.probing.build.pool import DEPTH_COUNT, Pool, Sizes
from probes.probing.build.tags import TagSet

MAX_DEPTH = 12  # of any tag set
MAX_SEQUENCES, OTHER_LABEL = 19, "OTHER"

ByDepth = dict[str, dict[int, list[str]]]  # depth, length in words: sentences in order of preference


def tree_depth(pool: Pool, sizes: Sizes) -> sampling.TaskDraft:
    """Sampled so that length does not predict depth: each depth has the same distribution of lengths.

    Short deep and long shallow sentences are rare. Extreme depths are left out if they would make the task too small.
    """
    splits = [_by_depth(split, pool.tags.depths) for split in pool.splits]
    lengths = range(MAX_WORDS + 1)
    counts_by_depth = [
        {depth: np.array([len(by_length.get(n, ())) for n in lengths]) for depth, by_length in split.items()}
        for split in splits
    ]
    chosen, sizes_of_splits = _choose_depths(
        sampling.deciding_splits(counts_by_depth, sizes)[0], *sampling.deciding_splits(splits, sizes), pool.tags.depths
    )
    parts = []
    for split, counts, count in zip_longest(splits, counts_by_depth, sizes_of_splits):
        if count is None:
            sentences = _sentences_by_depth(split)
            parts.append({depth: sentences.get(depth, []) for depth in chosen})
            continue
        shared = np.min([counts[depth] for depth in chosen], axis=0)
        quotas = np.diff(np.cumsum(shared) * count // shared.sum(), prepend=0)  # in proportion, with sum `count`
        chosen_lengths = np.flatnonzero(quotas).tolist()
        parts.append({d: [s for n in chosen_lengths for s in split[d][n][: quotas[n]]] for d in chosen})
    notes = sampling.notes_on_left_out(list(map(_sentences_by_depth, splits)), chosen)
    draft = sampling.assemble_task("TreeDepth", parts, sizes, notes)
    draft.controls["length-depth correlation before"] = _length_depth_correlation(pool.shape)
    draft.samples["lengths and depths"] = after = length_depth_counts(parts)
    draft.controls["length-depth correlation after"] = _length_depth_correlation(after[:, : MAX_DEPTH + 1])
    return draft


def _by_depth(split: Sequence[Analysis], depths: tuple[int, int]) -> ByDepth:
    by_depth: ByDepth = {}
    for s in split:
        if depths[0] <= s.depth <= depths[1]:
            by_depth.setdefault(str(s.depth), {}).setdefault(s.length, []).append(s.sentence)
    return by_depth


def _sentences_by_depth(split: ByDepth) -> dict[str, list[str]]:
    return {depth: [s for sentences in by_length.values() for s in sentences] for depth, by_length in split.items()}


def _choose_depths(
    counts_by_depth: Sequence[dict[str, np.ndarray]],
    splits: Sequence[ByDepth],
    sizes: Sequence[int],
    depths: tuple[int, int],
) -> sampling.Plan:
    """Choose consecutive depths and the size that they allow; prefers more depths to more sentences."""
    best, best_value = None, 0
    for first in range(depths[0], depths[1]):
        for last in range(first + 1, depths[1] + 1):
            labels = [str(depth) for depth in range(first, last + 1)]
            if not all(label in split for split in counts_by_depth for label in labels):
                continue
            shared = [int(np.min([split[label] for label in labels], axis=0).sum()) for split in counts_by_depth]
            share = min(1 / len(labels), *(n / size for n, size in zip(shared, sizes, strict=True)))
            counts = sampling.scale_sizes(sizes, share)
            value = counts[0] * len(labels) ** 3
            if counts[0] >= sampling.needed_per_class(len(labels), sizes) and all(counts) and value > best_value:
                best, best_value = (sorted(labels), counts), value
    if best is None:
        raise sampling.too_small_error(
            "TreeDepth", [_sentences_by_depth(split) for split in splits], sizes, sampling.MIN_PER_CLASS
        )
    return best


def length_depth_counts(parts: Sequence[dict[str, list[str]]]) -> np.ndarray:
    """The number of sentences by length and depth."""
    counts = np.zeros((MAX_WORDS + 1, DEPTH_COUNT), dtype=np.int64)
    for part in parts:
        for depth, sentences in part.items():
            for s in sentences:
                counts[s.count(" ") + 1, int(depth)] += 1
    return counts


def _length_depth_correlation(counts: np.ndarray) -> float:
    """Pearson's correlation of length and depth."""
    lengths, depths = np.indices(counts.shape)
    weights = counts / counts.sum()
    length, depth = lengths - (weights * lengths).sum(), depths - (weights * depths).sum()
    spread = np.sqrt((weights * length**2).sum() * (weights * depth**2).sum())
    return float((weights * length * depth).sum() / spread) if spread else 0.0


def top_constituents(pool: Pool, sizes: Sizes, name: str = "TopConst") -> sampling.TaskDraft:
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
        draft = sampling.balanced(name, pool.by_class(sequence), sizes)
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
    splits, requested = sampling.deciding_splits(pool.splits, sizes)
    counts = [Counter(s.top for s in split if _is_allowed(s.top, forbidden, pool.tags)) for split in splits]
    totals = sum(counts, Counter[str]())
    reach = min(1.0, totals.total() / sum(requested) / 2)  # a small corpus cannot fill the requested size
    least = [sampling.MIN_FILL_SHARE * reach * size / (MAX_SEQUENCES + 1) for size in requested]
    least[0] = max(least[0], sampling.needed_per_class(MAX_SEQUENCES + 1, requested))
    candidates = [top for top in totals if all(part[top] >= n for part, n in zip(counts, least, strict=True))]
    return set(sorted(candidates, key=lambda top: (-totals[top], top))[:MAX_SEQUENCES])
