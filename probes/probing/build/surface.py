"""SentLen and WC: what can be seen without any grammar (Conneau et al. 2018, section 2)."""

from collections import Counter

from common.errors import InputError
from probes.probing.build.pool import Pool, Sizes
from probes.probing.build.sampling import Draft, balanced

BINS = (8, 12, 16, 20, 25, 28)  # the longest of each, in words, as in the published files
MOST_WORDS = 1000
FIRST_RANK = 2000  # published: the first 1,000 words behind it
SHORTEST_WORD = 4  # letters
FEWEST_PER_WORD = 20  # training sentences; published: 100
SPARE = (1.5, 2.2, 3.3, 5.0, 7.5, 11.0)  # times as many sentences must hold a word as are wanted of it; tried in turn


def sent_len(pool: Pool, sizes: Sizes) -> Draft:
    """In which of six bins does the number of words lie?"""
    splits: list[dict[str, list[str]]] = [{} for _ in sizes]
    for classes, split in zip(splits, pool.splits, strict=True):
        for s in split:
            classes.setdefault(str(sum(s.length > longest for longest in BINS)), []).append(s.sentence)
    return balanced("SentLen", splits, sizes)


def word_content(pool: Pool, sizes: Sizes) -> Draft:
    """Which one of the target words is in the sentence, once?

    Targets are lower-case words of four letters or more from the middle of the frequency list, that have sentences
    enough: 1,000 at the published size, fewer where the corpus or the wanted size is smaller.
    """
    having = Counter(word for s in pool.all() for word in set(s.words))
    ranked = sorted(pool.words, key=lambda word: (-pool.words[word], word))
    rank = {word: place for place, word in enumerate(ranked, start=1)}
    able = [w for w in ranked if len(w) >= SHORTEST_WORD and w.isalpha() and w.islower()]
    wanted = max(2, min(MOST_WORDS, sizes.train // FEWEST_PER_WORD, sizes.dev, sizes.test))
    best: Draft | None = None
    for spare in SPARE:
        need = spare * sum(sizes) / wanted
        able = [w for w in able if having[w] >= need]
        skipped = min(sum(rank[w] <= FIRST_RANK for w in able), len(able) // 3, max(0, len(able) - wanted))
        try:
            draft = balanced(
                "WC", _having_one(pool, set(able[skipped : skipped + wanted])), sizes, FEWEST_PER_WORD // 2
            )
        except InputError:
            if best is None and spare == SPARE[-1]:
                raise
            continue
        if best is None or draft.task.train.labels.size > best.task.train.labels.size:
            best = draft
        if best.task.train.labels.size > sizes.train - len(best.task.classes):
            break
    assert best is not None  # else the last one raised
    ranks = [rank[word] for word in best.task.classes]
    best.controls.update({"target words": len(ranks), "highest rank": min(ranks), "lowest rank": max(ranks)})
    return best


def _having_one(pool: Pool, targets: set[str]) -> list[dict[str, list[str]]]:
    """Sentences by the one target that they hold."""
    splits: list[dict[str, list[str]]] = []
    for split in pool.splits:
        classes: dict[str, list[str]] = {}
        for s in split:
            held = [word for word in s.words if word in targets]
            if len(held) == 1:
                classes.setdefault(held[0], []).append(s.sentence)
        splits.append(classes)
    return splits
