"""Tense, SubjNum, ObjNum, SOMO and CoordInv (Conneau et al. 2018, section 2)."""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from probes.task import Task
from probes.tasks.analysis import Analysis, Target
from probes.tasks.sampling import Sizes, balanced, balanced_within, spread_forms, take_turns

SWAPPED = ("NN", "NNS", "VB", "VBD", "VBZ", "VBP", "VBG", "VBN")  # nouns and verbs that SOMO replaces
TRIES = 60  # candidates looked at for each replacement
COMPARABLE = 0.7  # largest difference of log(1 + count) on either side
NOT_REPLACED = frozenset({"be", "am", "is", "are", "was", "were", "been", "being", "do", "does", "did", "done"}) | {
    "have",
    "has",
    "had",
    "having",
}


def by_target(
    name: str, find: Callable[[Analysis], Target | None], sentences: Sequence[Analysis], sizes: Sizes
) -> Task:
    """A class that one word form decides; no form is in two splits."""
    found = [(target.label, target.form, s.sentence) for s in sentences if (target := find(s))]
    forms = {sentence: form for _, form, sentence in found}
    splits = spread_forms(found, sizes)
    turns = [{label: take_turns(pool, forms.__getitem__) for label, pool in split.items()} for split in splits]
    return balanced_within(name, turns, sizes)


def odd_man_out(sentences: Sequence[Analysis], sizes: Sizes, random: np.random.Generator) -> Task:
    """Has a noun or verb been replaced by another (C), or is the sentence as it was (O)?

    The replacement has the same tag, and forms bigrams with both neighbours whose corpus log-frequencies are
    comparable to the original ones. A replacing word serves one split only.
    """
    bigrams = Counter(pair for s in sentences for pair in zip(("<s>", *s.words), s.words, strict=False))
    tagged: dict[str, Counter[str]] = {}
    for s in sentences:
        for word, tag in zip(s.words, s.tags, strict=True):
            if tag in SWAPPED and word.lower() not in NOT_REPLACED:
                tagged.setdefault(tag, Counter())[word] += 1
    draws = {tag: _Draws(counts, random) for tag, counts in sorted(tagged.items())}
    shares = np.cumsum([size / sum(sizes) for size in sizes])
    splits: list[dict[str, list[str]]] = [{"C": [], "O": []} for _ in sizes]
    for turn, s in enumerate(sentences):
        home = int(np.searchsorted(shares, _unit(s.sentence)))
        if min(len(pool) for pool in splits[home].values()) >= sizes[home] / 2:
            continue
        if turn % 2:
            splits[home]["O"].append(s.sentence)
        elif changed := _replace_one(s, home, shares, draws, bigrams, random):
            splits[home]["C"].append(changed)
    return balanced_within("SOMO", splits, sizes)


class _Draws:
    """Words of one tag, drawn by their frequency."""

    def __init__(self, counts: Counter[str], random: np.random.Generator) -> None:
        self.words = sorted(counts)
        self.edges = np.cumsum([counts[word] for word in self.words])
        self.random = random

    def some(self, n: int) -> list[str]:
        places = self.random.integers(self.edges[-1], size=n)
        return [self.words[i] for i in np.searchsorted(self.edges, places, side="right")]


def _replace_one(
    s: Analysis, home: int, shares: np.ndarray, draws: dict, bigrams: Counter, random: np.random.Generator
) -> str | None:
    places = [
        i for i, (w, t) in enumerate(zip(s.words, s.tags, strict=True)) if t in draws and w.lower() not in NOT_REPLACED
    ]
    if not places:
        return None
    i = int(random.choice(places))
    before, after = ("<s>", *s.words)[i], (*s.words, "</s>")[i + 1]

    def differences(word: str) -> tuple[float, float]:
        sides = ((before, word), (before, s.words[i])), ((word, after), (s.words[i], after))
        left, right = (abs(math.log1p(bigrams[new]) - math.log1p(bigrams[old])) for new, old in sides)
        return left, right

    best, least = None, math.inf
    for word in draws[s.tags[i]].some(TRIES):
        if word == s.words[i] or int(np.searchsorted(shares, _unit(word))) != home:
            continue
        left, right = differences(word)
        if max(left, right) <= COMPARABLE and left + right < least:
            best, least = word, left + right
    return " ".join([*s.words[:i], best, *s.words[i + 1 :]]) if best else None


def _unit(text: str) -> float:
    """A number in [0, 1) that only the text decides."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big") / 2**48


def coordination_inversion(sentences: Sequence[Analysis], sizes: Sizes) -> Task:
    """Have two coordinate clauses changed places (I), or not (O)?

    Balanced in clause length: for each difference d between the clauses' lengths, as the reader sees them, as
    many sentences are inverted as are not.
    """
    known = {s.sentence for s in sentences}
    groups: dict[int, list[Analysis]] = {}
    for s in sentences:
        if s.clauses:
            begin, end, begin2, end2 = s.clauses
            groups.setdefault((end - begin) - (end2 - begin2), []).append(s)
    ranked: dict[str, list[tuple[int, str]]] = {"I": [], "O": []}
    for d in sorted(groups):
        if -d not in groups:
            continue
        even = 2 * (min(len(groups[d]), len(groups[-d])) // 2)
        for turn, s in enumerate(groups[d][:even]):
            inverted = _invert(s)
            if turn % 2 and inverted not in known:
                ranked["I"].append((turn // 2, inverted))
            elif turn % 2 == 0:
                ranked["O"].append((turn // 2, s.sentence))
    pools = {label: [text for _, text in sorted(pairs, key=lambda p: p[0])] for label, pairs in ranked.items()}
    return balanced("CoordInv", pools, sizes)


def _invert(s: Analysis) -> str:
    """The second clause first; the capital letter moves with the beginning of the sentence."""
    assert s.clauses is not None
    begin, end, begin2, end2 = s.clauses
    first, second = list(s.words[begin:end]), list(s.words[begin2:end2])
    if begin == 0 and s.words[0][:1].isupper():
        second[0] = second[0][:1].upper() + second[0][1:]
        if not s.tags[0].startswith("NNP") and first[0] != "I" and not first[0].startswith("I'"):
            first[0] = first[0][:1].lower() + first[0][1:]
    return " ".join([*s.words[:begin], *second, *s.words[end:begin2], *first, *s.words[end2:]])
