"""CoordInv: are two coordinate clauses inverted? (Conneau et al. 2018, section 2)"""

from collections.abc import Iterator, Sequence

import numpy as np

from probes.probing.build.analysis import Analysis, Clauses
from probes.probing.build.pool import Pool, Sizes
from probes.probing.build.sampling import TaskDraft, balanced
from probes.probing.build.tags import TagSet
from probes.probing.build.writing import capitalise, uncapitalise


def coordination_inversion(pool: Pool, sizes: Sizes) -> TaskDraft:
    """Are the clauses of `S and S` inverted (I) or in their original order (O)?

    Balanced in clause length: for each difference in length between first and second clause, about half of the
    sentences are inverted.
    """
    originals = {s.sentence for s in pool.all()}
    sources: dict[str, str] = {}
    splits = []
    differences: dict[str, int] = {}
    for split in pool.splits:
        classes: dict[str, list[str]] = {"I": [], "O": []}
        for group in _balanced_groups([s for s in split if s.clauses and swap_clauses(s, pool.tags) not in originals]):
            for turn, s in enumerate(group):
                text = s.sentence if turn % 2 else swap_clauses(s, pool.tags)
                classes["O" if turn % 2 else "I"].append(text)
                sources[text] = s.sentence
                differences[text] = _length_difference(s) * (1 if turn % 2 else -1)
        splits.append(classes)
    draft = balanced("CoordInv", splits, sizes, sources=sources)
    for label in draft.task.classes:
        pairs = [pair for split in draft.task.parts for pair in zip(split.sentences, split.gold, strict=True)]
        values = [differences[s] for s, gold in pairs if draft.task.classes[gold] == label]
        draft.samples[label] = np.array(values)
        draft.controls[f"first minus second clause, {label}, mean words"] = sum(values) / len(values)
        draft.controls[f"first clause longer, {label}"] = sum(d > 0 for d in values) / len(values)
    return draft


def _clauses_of(s: Analysis) -> Clauses:
    assert s.clauses is not None
    return s.clauses


def _length_difference(s: Analysis) -> int:
    begin, end, begin2, end2 = _clauses_of(s)
    return (end - begin) - (end2 - begin2)


def _balanced_groups(sentences: Sequence[Analysis]) -> Iterator[tuple[Analysis, ...]]:
    """Groups, in order of preference, with equally many longer first clauses at even and at odd positions."""
    queues: dict[int, list[tuple[int, Analysis]]] = {}
    for index, s in enumerate(sentences):
        d = _length_difference(s)
        magnitude = abs(d).bit_length()  # 0, 1, 2 to 3, 4 to 7, more words
        queues.setdefault(magnitude if d > 0 else -magnitude, []).append((index, s))
    groups: list[tuple[int, tuple[Analysis, ...]]] = []
    for d, longer in queues.items():
        if d == 0:
            groups += [(b[0], (a[1], b[1])) for a, b in zip(longer[::2], longer[1::2], strict=False)]
        elif d > 0 and -d in queues:
            pairs = list(zip(longer, queues[-d], strict=False))
            for (a, b), (c, e) in zip(pairs[::2], pairs[1::2], strict=False):
                groups.append((max(a[0], b[0], c[0], e[0]), (a[1], c[1], b[1], e[1])))
    yield from (group for _, group in sorted(groups, key=lambda group: group[0]))


def swap_clauses(s: Analysis, tags: TagSet) -> str:
    """The sentence with the second clause first; the new first word gets the capital letter."""
    begin, end, begin2, end2 = _clauses_of(s)
    words = s.words
    first, second = words[begin:end], words[begin2:end2]
    if first[0][:1].isupper():
        second[0] = capitalise(second[0], tags.dotted)
        tag, word = s.tags.split(" ", 1)[0], first[0]
        if tag not in tags.names and word not in tags.capitals and word[1:] == word[1:].lower():
            first[0] = uncapitalise(word, tags.dotted)
    return " ".join([*words[:begin], *second, *words[end:begin2], *first, *words[end2:]])
