"""SentLen and WC: surface properties (Conneau et al. 2018, section 2)."""

from collections import Counter
from collections.abc import Mapping
from functools import partial

from encoder_lab.errors import InputError
from probes.probing.build.analysis import Analysis
from probes.probing.build.pool import Pool, Sizes
from probes.probing.build.sampling import TaskDraft, balanced, largest_draft
from probes.probing.build.writing import is_word, letter_count

BIN_ENDS = (8, 12, 16, 20, 25, 28)  # longest sentence of each bin, in words, as in the published files
MAX_TARGET_WORDS = 1000
FIRST_RANK = 2000  # published: the 1,000 words from this rank on
MIN_WORD_LETTERS = 4  # letters
MIN_PER_WORD = 20  # training sentences; published: 100
RESERVES = (1.5, 2.2, 3.3, 5.0, 7.5, 11.0)  # sentences required per target word, as a multiple of those used; in turn


def sent_len(pool: Pool, sizes: Sizes) -> TaskDraft:
    """In which of six bins does the number of words lie?"""
    return balanced("SentLen", pool.by_class(lambda s: str(sum(s.length > longest for longest in BIN_ENDS))), sizes)


def word_content(pool: Pool, sizes: Sizes) -> TaskDraft:
    """Which target word is in the sentence? Each sentence has exactly one, once; with a capital it is another word.

    Targets are the words of the published ranks where all of these have enough sentences. Else they are words without
    capitals, of at least four letters (two of Chinese, Japanese or Korean), from the middle of the frequency list, with
    enough sentences: 1,000 targets at the published size, fewer if the corpus or the requested size is smaller.
    """
    sentence_counts = Counter(word for s in pool.all() for word in set(s.words))
    ranked = sorted(pool.words, key=lambda word: (-pool.words[word], word))
    rank = {word: number for number, word in enumerate(ranked, start=1)}
    candidates = [w for w in ranked if w == w.lower() and is_word(w) and letter_count(w) >= MIN_WORD_LETTERS]
    count = max(2, min(MAX_TARGET_WORDS, sizes.train // MIN_PER_WORD, sizes.dev, sizes.test))
    by_rank = ranked[FIRST_RANK : FIRST_RANK + count]
    if len(by_rank) == count and all(sentence_counts[word] * count >= sum(sizes) for word in by_rank):
        try:
            draft = balanced("WC", _sentences_by_target(pool, set(by_rank)), sizes, MIN_PER_WORD // 2)
            if draft.task.train.gold.size > sizes.train - len(draft.task.classes):
                return _add_ranks(draft, rank)
        except InputError:  # too few sentences have one of them alone
            pass

    def draft_with_reserve(spare: float) -> TaskDraft:
        usable = [w for w in candidates if sentence_counts[w] >= spare * sum(sizes) / count]
        skipped = min(sum(rank[w] <= FIRST_RANK for w in usable), len(usable) // 3, max(0, len(usable) - count))
        targets = set(usable[skipped : skipped + count])
        return balanced("WC", _sentences_by_target(pool, targets), sizes, MIN_PER_WORD // 2)

    return _add_ranks(largest_draft((partial(draft_with_reserve, spare) for spare in RESERVES), sizes), rank)


def _add_ranks(draft: TaskDraft, rank: Mapping[str, int]) -> TaskDraft:
    ranks = [rank[word] for word in draft.task.classes]
    draft.controls.update({"target words": len(ranks), "highest rank": min(ranks), "lowest rank": max(ranks)})
    return draft


def _sentences_by_target(pool: Pool, targets: set[str]) -> list[dict[str, list[str]]]:
    def only_target(s: Analysis) -> str | None:
        present = [word for word in s.words if word in targets]
        return present[0] if len(present) == 1 else None

    return pool.by_class(only_target)
