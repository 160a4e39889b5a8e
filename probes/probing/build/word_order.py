"""BShift and CoordInv (Conneau et al. 2018, section 2), FarSwap and WordOrder: the order of words and clauses."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations, pairwise
from random import Random

import numpy as np

from encoder_lab.errors import InputError
from probes.probing.build.analysis import Analysis, Clauses
from probes.probing.build.pool import Pool, Sizes
from probes.probing.build.sampling import TaskDraft, balanced, largest_draft
from probes.probing.build.tags import TagSet
from probes.probing.build.writing import capitalise, is_word, uncapitalise

PairChooser = Callable[[Analysis, TagSet, Random], tuple[int, int] | None]  # of two words to swap, if there are any


def neighbouring_pair(s: Analysis, tags: TagSet, random: Random) -> tuple[int, int] | None:
    """Two words of BShift, one after the other; None if there are none."""
    words, places = s.words, _swappable_positions(s, tags)
    positions = [i for i, j in pairwise(places) if j == i + 1 and words[i].lower() != words[j].lower()]
    if not positions:
        return None
    i = random.choice(positions)
    return i, i + 1


def _swappable_positions(s: Analysis, tags: TagSet) -> list[int]:
    return [i for i, part in enumerate(s.tags.split(" ")) if part not in tags.punctuation][1:]


def swap_task(name: str, choose: PairChooser, pool: Pool, sizes: Sizes) -> TaskDraft:
    """Are two words swapped (I) or is the sentence as it was (O)? Sentences in which none can be are left out.

    Never the first word (its capital letter would reveal the swap) or punctuation; no sentences with quotation marks.
    """
    originals = {s.sentence for s in pool.all()}
    sources: dict[str, str] = {}
    splits: list[dict[str, list[str]]] = [{"I": [], "O": []} for _ in sizes]
    for classes, split, size in zip(splits, pool.splits, sizes, strict=True):
        for s in split:
            if min(map(len, classes.values())) >= size / 2:
                break
            random = pool.random(s.sentence, name)
            changed = _swap_words(s, choose, pool.tags, random)
            if changed is None or changed in originals or changed in sources:
                continue
            if random.random() < 0.5:
                classes["O"].append(s.sentence)
            else:
                classes["I"].append(changed)
                sources[changed] = s.sentence
    return balanced(name, splits, sizes, sources=sources)


def _swap_words(s: Analysis, choose: PairChooser, tags: TagSet, random: Random) -> str | None:
    words = s.words
    if '"' in words or not tags.quotes.isdisjoint(s.tags.split(" ")) or not (pair := choose(s, tags, random)):
        return None
    i, j = pair
    words[i], words[j] = words[j], words[i]
    return " ".join(words)


MIN_DISTANCE, MAX_DISTANCE = 3, 8  # words from the first of a swapped pair to the second
CANDIDATE_WORDS = 60  # the most frequent words, of which pairs are made
MAX_PAIRS = 5

WordPair = tuple[str, str]


def far_pair(s: Analysis, tags: TagSet, random: Random) -> tuple[int, int] | None:
    """Two words of FarSwap, 3 to 8 words apart; None if there are none."""
    words = s.words
    pairs = [
        (i, j)
        for i, j in combinations(_swappable_positions(s, tags), 2)
        if MIN_DISTANCE <= j - i <= MAX_DISTANCE and words[i].lower() != words[j].lower()
    ]
    if not pairs:
        return None
    distance = random.choice(sorted({j - i for i, j in pairs}))
    return random.choice([pair for pair in pairs if pair[1] - pair[0] == distance])


def word_order(pool: Pool, sizes: Sizes) -> TaskDraft:
    """Which word of a pair came first? A sentence has one pair of those that the task asks about, each word once.

    Pairs share no words, and each word of a pair comes first as often as the other: which words are in the sentence
    does not say which one came first. Pairs are made of the most frequent words.
    """
    ranked = _choose_pairs(pool)
    if not ranked:
        raise InputError("no two frequent words stand in both orders in different sentences, each once")
    numbers = range(min(MAX_PAIRS, len(ranked)), 0, -1)
    best = largest_draft((partial(_draft_with_pairs, pool, sizes, ranked[:number]) for number in numbers), sizes)
    best.controls["pairs of words"] = len(best.task.classes) // 2
    return best


def _choose_pairs(pool: Pool) -> list[WordPair]:
    """Pairs without common words; those that occur in both orders in most sentences come first."""
    frequent = sorted((w for w in pool.words if is_word(w)), key=lambda w: (-pool.words[w], w))[:CANDIDATE_WORDS]
    first = Counter(pair for s in pool.all() for pair in combinations(_words_once(s, set(frequent)), 2))
    counts = {pair: min(first[pair], first[pair[::-1]]) for pair in first if pair[0] < pair[1]}
    chosen: list[WordPair] = []
    for pair in sorted(counts, key=lambda pair: (-counts[pair], pair)):
        if counts[pair] and not any(set(pair) & set(other) for other in chosen):
            chosen.append(pair)
    return chosen


def _words_once(s: Analysis, targets: set[str]) -> list[str]:
    """The wanted words that are in the sentence once, in small or capital letters, from left to right."""
    words = s.words
    counts = Counter(map(str.lower, words))
    return [word for word in words if word in targets and counts[word.lower()] == 1]


def _draft_with_pairs(pool: Pool, sizes: Sizes, pairs: Sequence[WordPair]) -> TaskDraft:
    """The task of these pairs; a pair is left out as a whole if one of its orders is too rare."""
    while True:
        splits = [_sentences_by_first_word(split, pairs) for split in pool.splits]
        draft = balanced("WordOrder", splits, sizes)
        classes = set(draft.task.classes)
        complete = [pair for pair in pairs if classes.issuperset(pair)]
        if 2 * len(complete) == len(classes):
            return draft
        pairs = complete


def _sentences_by_first_word(split: Sequence[Analysis], pairs: Sequence[WordPair]) -> dict[str, list[str]]:
    """Sentences that have one of the pairs, by the word of it that came first; both words equally often."""
    by_first_word: dict[str, list[str]] = {word: [] for pair in pairs for word in pair}
    for s in split:
        order = _words_once(s, set(by_first_word))
        complete = [pair for pair in pairs if pair[0] in order and pair[1] in order]
        if len(complete) == 1:
            by_first_word[min(complete[0], key=order.index)].append(s.sentence)
    for pair in pairs:
        count = min(len(by_first_word[word]) for word in pair)
        by_first_word.update({word: by_first_word[word][:count] for word in pair})
    return by_first_word


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
