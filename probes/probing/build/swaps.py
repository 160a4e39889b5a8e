"""BShift: are two words swapped? (Conneau et al. 2018, section 2)"""

from collections.abc import Callable
from random import Random

from probes.probing.build.analysis import Analysis
from probes.probing.build.pool import Pool, Sizes
from probes.probing.build.sampling import TaskDraft, balanced
from probes.probing.build.tags import TagSet

Places = Callable[[Analysis, TagSet, Random], tuple[int, int] | None]  # of two words to swap, if there are any


def bigram_shift(pool: Pool, sizes: Sizes) -> TaskDraft:
    """Are two neighbouring words swapped (I) or is the sentence as it was (O)?

    Never the first word (its capital letter would reveal the swap) or punctuation; no sentences with quotation marks.
    """
    return swapped("BShift", _neighbours, pool, sizes)


def _neighbours(s: Analysis, tags: TagSet, random: Random) -> tuple[int, int] | None:
    words, parts = s.words, s.tags.split(" ")
    places = [
        i
        for i in range(1, len(words) - 1)
        if words[i].lower() != words[i + 1].lower() and not {parts[i], parts[i + 1]} & tags.punctuation
    ]
    if not places:
        return None
    i = random.choice(places)
    return i, i + 1


def swapped(name: str, places: Places, pool: Pool, sizes: Sizes) -> TaskDraft:
    """Half of the sentences with two words swapped; those in which none can be are in neither half."""
    known = {s.sentence for s in pool.all()}
    sources: dict[str, str] = {}
    splits: list[dict[str, list[str]]] = [{"I": [], "O": []} for _ in sizes]
    for classes, split, size in zip(splits, pool.splits, sizes, strict=True):
        for s in split:
            if min(map(len, classes.values())) >= size / 2:
                break
            random = pool.random(s.sentence, name)
            changed = _swap(s, places, pool.tags, random)
            if changed is None or changed in known or changed in sources:
                continue
            if random.random() < 0.5:
                classes["O"].append(s.sentence)
            else:
                classes["I"].append(changed)
                sources[changed] = s.sentence
    return balanced(name, splits, sizes, sources=sources)


def _swap(s: Analysis, places: Places, tags: TagSet, random: Random) -> str | None:
    words = s.words
    if '"' in words or not tags.quotes.isdisjoint(s.tags.split(" ")) or not (pair := places(s, tags, random)):
        return None
    i, j = pair
    words[i], words[j] = words[j], words[i]
    return " ".join(words)
