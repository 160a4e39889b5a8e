"""SP, BSO, DC and SSP from documents, as Chen et al. 2019, sections 3.2 to 3.5, describe them."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from probes.discoeval.build.documents import PlainDocument, fits
from probes.discoeval.items import SPLITS

NEIGHBOURS = 20  # documents among which the most similar one gives DC's replacement


class Row(NamedTuple):
    """A line of a published file."""

    label: str  # empty in BSO
    texts: list[str]


Rows = dict[str, list[Row]]  # by split
Builder = Callable[[list[PlainDocument], int, Random, set[str]], list[Row]]


def build_task(group: str, documents: Mapping[str, list[PlainDocument]], sizes: Mapping[str, int], seed: int) -> Rows:
    """The rows of each split, at most as many as wanted. No sentence of a split is in another one."""
    rows: Rows = {}
    taken: set[str] = set()
    for split in SPLITS:
        rows[split] = BUILDERS[group](documents[split], sizes[split], Random(f"{seed}/{group}/{split}"), taken)
        taken |= {text for row in rows[split] for text in row.texts}
    return rows


def positions(documents: list[PlainDocument], size: int, chance: Random, taken: set[str]) -> list[Row]:
    """SP: five consecutive sentences, one of them moved to the front; the others keep their order."""
    found = _windows(documents, 5, chance, taken)[:size]
    places = _in_turn(range(5), len(found), chance)
    return [
        Row(str(place), [window[place], *window[:place], *window[place + 1 :]])
        for (_, window), place in zip(found, places, strict=True)
    ]


def orders(documents: list[PlainDocument], size: int, chance: Random, taken: set[str]) -> list[Row]:
    """BSO: two consecutive sentences in their true order."""
    return [Row("", window) for _, window in _windows(documents, 2, chance, taken)[:size]]


def coherence(documents: list[PlainDocument], size: int, chance: Random, taken: set[str]) -> list[Row]:
    """DC: six consecutive sentences (1), and the same with one replaced (0), none of the outer two.

    The replacement is from a document about similar things, and as long as the sentence that it replaces.
    """
    similar = _Similar([document for document in documents if any(map(_usable(taken), _sentences(document)))])
    rows: list[Row] = []
    wanted = _windows(documents, 6, chance, taken)[: size // 2]
    for (document, window), place in zip(wanted, _in_turn(range(1, 5), len(wanted), chance), strict=True):
        other = similar.to(document, chance)
        if other is None:
            return []
        length = len(window[place].split())
        choices = [s for s in _sentences(other) if _usable(taken)(s) and s not in window]
        if choices:
            nearest = min(abs(len(s.split()) - length) for s in choices)
            new = chance.choice([s for s in choices if abs(len(s.split()) - length) == nearest])
            rows += [Row("0", [*window[:place], new, *window[place + 1 :]]), Row("1", window)]
    chance.shuffle(rows)
    return rows


def sections(documents: list[PlainDocument], size: int, chance: Random, taken: set[str]) -> list[Row]:
    """SSP: a sentence of the abstract (1) or of a later section (0); without an abstract, of the opening section.

    Later sections are those in the middle, where there are any. For each length both have as many sentences.
    """
    pools: dict[int, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    seen = Counter(s for document in documents for s in set(_sentences(document)))
    for document in documents:
        for side, sentences in enumerate(_opening_and_later(document)):
            for sentence in sentences:
                if _usable(taken)(sentence) and seen[sentence] == 1:
                    pools[len(sentence.split())][side].append(sentence)
    pairs = []
    for length in sorted(pools):
        opening, later = (chance.sample(pool, len(pool)) for pool in pools[length])
        pairs += list(zip(opening, later, strict=False))
    chance.shuffle(pairs)
    rows = [Row(label, [text]) for pair in pairs[: size // 2] for label, text in zip("10", pair, strict=True)]
    chance.shuffle(rows)
    return rows


BUILDERS: Mapping[str, Builder] = {"SP": positions, "BSO": orders, "DC": coherence, "SSP": sections}


def _opening_and_later(document: PlainDocument) -> tuple[list[str], list[str]]:
    titles = [part.title.strip().lower() for part in document.parts]
    at = titles.index("abstract") if "abstract" in titles else 0
    later = document.parts[at + 1 :]
    middle = later[:-1] if len(later) > 1 else later
    opening = document.parts[at : at + 1] if later else []
    distinct = [list(dict.fromkeys(s for part in parts for s in part.sentences)) for parts in (opening, middle)]
    return distinct[0], distinct[1]


def _windows(
    documents: list[PlainDocument], length: int, chance: Random, taken: set[str]
) -> list[tuple[PlainDocument, list[str]]]:
    """Consecutive sentences of a section, no sentence in two windows, in random order."""
    found, seen = [], set[str]()
    usable = _usable(taken)
    for document in documents:
        for part in document.parts:
            start = 0
            while start + length <= len(part.sentences):
                window = part.sentences[start : start + length]
                fitting = all(map(usable, window)) and len(set(window)) == length and not seen & set(window)
                if fitting:
                    seen |= set(window)
                    found.append((document, window))
                start += length if fitting else 1
    chance.shuffle(found)
    return found


def _usable(taken: set[str]) -> Callable[[str], bool]:
    return lambda sentence: sentence not in taken and fits(sentence)


def _sentences(document: PlainDocument) -> Iterator[str]:
    return (sentence for part in document.parts for sentence in part.sentences)


def _in_turn(labels: Sequence[int], count: int, chance: Random) -> list[int]:
    """Labels in random order, each as often as the others (but one)."""
    found = [labels[i % len(labels)] for i in range(count)]
    chance.shuffle(found)
    return found


class _Similar:
    """Finds a document that shares rare words with another."""

    def __init__(self, documents: list[PlainDocument]) -> None:
        self.documents = documents
        self.words = {d.id: {word.lower() for s in _sentences(d) for word in s.split()} for d in documents}
        counts = Counter(word for words in self.words.values() for word in words)
        self.weight = {word: math.log(len(documents) / count) for word, count in counts.items()}
        self.total = {id: self._sum(words) for id, words in self.words.items()}

    def to(self, document: PlainDocument, chance: Random) -> PlainDocument | None:
        """The most similar of some random others; None where there is no other."""
        some = chance.sample(self.documents, min(NEIGHBOURS + 1, len(self.documents)))
        others = [other for other in some if other.id != document.id][:NEIGHBOURS]
        return max(others, key=lambda other: self._shared(document, other), default=None)

    def _shared(self, one: PlainDocument, other: PlainDocument) -> float:
        both = self.total[one.id] * self.total[other.id]
        return self._sum(self.words[one.id] & self.words[other.id]) / math.sqrt(both) if both else 0.0

    def _sum(self, words: set[str]) -> float:
        return math.fsum(self.weight[word] for word in words)  # fsum: sets have no order
