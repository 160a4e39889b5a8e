"""BShift, TreeDepth and TopConst (Conneau et al. 2018, section 2)."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from probes.task import Task
from probes.tasks.analysis import PUNCTUATION, Analysis
from probes.tasks.sampling import Sizes, balanced, tilt

SHALLOWEST, DEEPEST = 5, 12
FREQUENT_TOPS = 19


def bigram_shift(sentences: Sequence[Analysis], sizes: Sizes, random: np.random.Generator) -> Task:
    """Are two neighbouring words swapped (I) or is the sentence as it was (O)?"""
    known = {s.sentence for s in sentences}
    pools: dict[str, list[str]] = {"I": [], "O": []}
    for turn, s in enumerate(sentences):
        if turn % 2:
            pools["O"].append(s.sentence)
            continue
        places = [
            i
            for i in range(len(s.words) - 1)
            if s.words[i] != s.words[i + 1] and not {s.tags[i], s.tags[i + 1]} & PUNCTUATION
        ]
        if places:
            i = int(random.choice(places))
            changed = " ".join([*s.words[:i], s.words[i + 1], s.words[i], *s.words[i + 2 :]])
            if changed not in known:
                pools["I"].append(changed)
    return balanced("BShift", pools, sizes)


def tree_depth(sentences: Sequence[Analysis], sizes: Sizes, random: np.random.Generator) -> Task:
    """How deep is the tree, 5 to 12? Sampled so that length says as little of depth as the corpus allows.

    Each depth draws its sentences with weights exp(rate * length), the rate chosen so that all depths have the
    same mean length.
    """
    pools: dict[str, list[Analysis]] = {}
    for s in sentences:
        if SHALLOWEST <= s.depth <= DEEPEST:
            pools.setdefault(str(s.depth), []).append(s)
    if not pools:
        return balanced("TreeDepth", {}, sizes)
    middle = float(np.mean([np.mean([len(s.words) for s in pool]) for pool in pools.values()]))
    drawn = {}
    for label in sorted(pools):
        lengths = np.array([len(s.words) for s in pools[label]], dtype=float)
        keys = random.exponential(size=len(lengths)) / tilt(lengths, middle)  # weighted draws, without return
        drawn[label] = [pools[label][i].sentence for i in np.argsort(keys, kind="stable")]
    return balanced("TreeDepth", drawn, sizes)


def top_constituents(sentences: Sequence[Analysis], sizes: Sizes) -> Task:
    """Which constituents follow below the clause? The 19 most frequent sequences, and OTHER."""
    counts = Counter(s.top for s in sentences)
    frequent = {top for top, _ in sorted(counts.items(), key=lambda c: (-c[1], c[0]))[:FREQUENT_TOPS]}
    pools: dict[str, list[str]] = {}
    for s in sentences:
        pools.setdefault(s.top if s.top in frequent else "OTHER", []).append(s.sentence)
    return balanced("TopConst", pools, sizes)
