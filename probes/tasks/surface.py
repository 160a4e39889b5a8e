"""SentLen and WC: what can be seen without any grammar (Conneau et al. 2018, section 2)."""

from collections import Counter
from collections.abc import Sequence

from probes.task import Task
from probes.tasks.analysis import Analysis
from probes.tasks.sampling import Sizes, balanced, too_small

BINS = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 28))  # words, as in the published files
MOST_WORDS, FEWEST_PER_WORD = 1000, 20


def sent_len(sentences: Sequence[Analysis], sizes: Sizes) -> Task:
    """In which of six bins does the number of words lie?"""
    pools: dict[str, list[str]] = {str(i): [] for i in range(len(BINS))}
    for s in sentences:
        pools[str(next(i for i, (_, last) in enumerate(BINS) if len(s.words) <= last))].append(s.sentence)
    return balanced("SentLen", pools, sizes)


def word_content(sentences: Sequence[Analysis], sizes: Sizes) -> Task:
    """Which one of the target words is in the sentence?

    Targets are words from the middle of the frequency list that have sentences enough: 1,000 of them at the
    published size, fewer where the corpus or the wanted size is smaller. Each sentence holds exactly one.
    """
    frequency = Counter(word for s in sentences for word in set(s.words) if word.isalpha())
    wanted = max(2, min(MOST_WORDS, sizes.train // FEWEST_PER_WORD))
    need = sum(sizes) // wanted
    enough = sorted((w for w, n in frequency.items() if n >= 1.3 * need), key=lambda w: (-frequency[w], w))
    if len(enough) < wanted:
        enough = sorted(
            (w for w, n in frequency.items() if n >= 1.5 * FEWEST_PER_WORD), key=lambda w: (-frequency[w], w)
        )
    first = min(len(enough) // 3, max(0, len(enough) - wanted))
    targets = set(enough[first : first + wanted])
    pools: dict[str, list[str]] = {}
    for s in sentences:
        held = [word for word in s.words if word in targets]
        if len(held) == 1:
            pools.setdefault(held[0], []).append(s.sentence)
    if not pools:
        raise too_small("WC", frequency)
    return balanced("WC", pools, sizes)
