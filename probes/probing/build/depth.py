"""TreeDepth: how deep is the tree? (Conneau et al. 2018, section 2)"""

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from probes.probing.build.analysis import MAX_WORDS, Analysis
from probes.probing.build.pool import DEPTH_COUNT, Pool, Sizes
from probes.probing.build.sampling import (
    MIN_PER_CLASS,
    Plan,
    TaskDraft,
    assemble_task,
    deciding_splits,
    needed_per_class,
    notes_on_left_out,
    scale_sizes,
    too_small_error,
)

MAX_DEPTH = 12  # of any tag set

ByDepth = dict[str, dict[int, list[str]]]  # depth, length in words: sentences in order of preference


def tree_depth(pool: Pool, sizes: Sizes) -> TaskDraft:
    """Sampled so that length does not predict depth: each depth has the same distribution of lengths.

    Short deep and long shallow sentences are rare. Extreme depths are left out if they would make the task too small.
    """
    splits = [_by_depth(split, pool.tags.depths) for split in pool.splits]
    lengths = range(MAX_WORDS + 1)
    counts_by_depth = [
        {depth: np.array([len(by_length.get(n, ())) for n in lengths]) for depth, by_length in split.items()}
        for split in splits
    ]
    chosen = _choose_depths(
        deciding_splits(counts_by_depth, sizes)[0], *deciding_splits(splits, sizes), pool.tags.depths
    )
    parts = []
    for split, counts, count in zip_longest(splits, counts_by_depth, chosen.counts):
        if count is None:
            sentences = _sentences_by_depth(split)
            parts.append({depth: sentences.get(depth, []) for depth in chosen.labels})
            continue
        shared = np.min([counts[depth] for depth in chosen.labels], axis=0)
        quotas = np.diff(np.cumsum(shared) * count // shared.sum(), prepend=0)  # in proportion, with sum `count`
        chosen_lengths = np.flatnonzero(quotas).tolist()
        parts.append({d: [s for n in chosen_lengths for s in split[d][n][: quotas[n]]] for d in chosen.labels})
    notes = notes_on_left_out(list(map(_sentences_by_depth, splits)), chosen)
    draft = assemble_task("TreeDepth", parts, sizes, notes)
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
) -> Plan:
    """Choose consecutive depths and the size that they allow; prefers more depths to more sentences."""
    best, best_value = None, 0
    for first in range(depths[0], depths[1]):
        for last in range(first + 1, depths[1] + 1):
            labels = [str(depth) for depth in range(first, last + 1)]
            if not all(label in split for split in counts_by_depth for label in labels):
                continue
            shared = [int(np.min([split[label] for label in labels], axis=0).sum()) for split in counts_by_depth]
            share = min(1 / len(labels), *(n / size for n, size in zip(shared, sizes, strict=True)))
            counts = scale_sizes(sizes, share)
            value = counts[0] * len(labels) ** 3
            if counts[0] >= needed_per_class(len(labels), sizes) and all(counts) and value > best_value:
                best, best_value = Plan(sorted(labels), counts), value
    if best is None:
        raise too_small_error("TreeDepth", [_sentences_by_depth(split) for split in splits], sizes, MIN_PER_CLASS)
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
