"""SP, BSO, DC and SSP from documents, as Chen et al. 2019, sections 3.2 to 3.5, describe them."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from probes.discoeval.build.documents import Part, PlainDocument, has_fitting_length
from probes.discoeval.items import SPLITS

ABSTRACT = re.compile(r"\W*abstract\W*", re.IGNORECASE)
INTRODUCTORY = re.compile(r"\bintroduction\b", re.IGNORECASE)
CONCLUSION = re.compile(r"\bconclu(sion|sions|ding)\b", re.IGNORECASE)
NEIGHBOUR_SAMPLE = 20  # documents among which the most similar one gives DC's replacement


class Row(NamedTuple):
    """A line of a published file."""

    label: str  # empty in BSO
    texts: list[str]


Rows = dict[str, list[Row]]  # by split
Usable = Callable[[str], bool]  # whether a sentence may be in an item
Builder = Callable[[list[PlainDocument], int, Random, Usable], list[Row]]


def build_task(group: str, documents: Mapping[str, list[PlainDocument]], sizes: Mapping[str, int], seed: int) -> Rows:
    """The rows of each split, at most as many as requested. No sentence of a split is in another one."""
    rows: Rows = {}
    taken: set[str] = set()

    def usable(sentence: str) -> bool:
        return sentence not in taken and has_fitting_length(sentence)

    for split in SPLITS:
        rows[split] = BUILDERS[group](documents[split], sizes[split], Random(f"{seed}/{group}/{split}"), usable)
        taken |= {text for row in rows[split] for text in row.texts}
    return rows


def build_positions(documents: list[PlainDocument], size: int, chance: Random, usable: Usable) -> list[Row]:
    """SP: five consecutive sentences, one of them moved to the front; the others keep their order.

    Of a document with an abstract, or else an introduction, the first five sentences of that, as in the paper.
    """
    windows = _windows([_beginning(document) for document in documents], 5, chance, usable)[:size]
    indices = _balanced_labels(range(5), len(windows), chance)
    return [
        Row(str(index), [window[index], *window[:index], *window[index + 1 :]])
        for (_, window), index in zip(windows, indices, strict=True)
    ]


def build_orders(documents: list[PlainDocument], size: int, chance: Random, usable: Usable) -> list[Row]:
    """BSO: two consecutive sentences in their true order."""
    return [Row("", window) for _, window in _windows(documents, 2, chance, usable)[:size]]


def build_coherence(documents: list[PlainDocument], size: int, chance: Random, usable: Usable) -> list[Row]:
    """DC: six consecutive sentences (1), and the same with one replaced (0), none of the outer two.

    The replacement is from the document with the largest share of the same categories, or without these about similar
    things, of a conversation from any other one; and as long as the sentence that it replaces.
    """
    similar = _SimilarDocuments([document for document in documents if any(map(usable, _sentences(document)))])
    rows: list[Row] = []
    windows = _windows(documents, 6, chance, usable)[: size // 2]
    for (document, window), index in zip(windows, _balanced_labels(range(1, 5), len(windows), chance), strict=True):
        other = similar.most_similar(document, chance)
        if other is None:
            return []
        length = len(window[index].split())
        choices = [s for s in _sentences(other) if usable(s) and s not in window]
        if choices:
            nearest = min(abs(len(s.split()) - length) for s in choices)
            new = chance.choice([s for s in choices if abs(len(s.split()) - length) == nearest])
            rows += [Row("0", [*window[:index], new, *window[index + 1 :]]), Row("1", window)]
    chance.shuffle(rows)
    return rows


def build_sections(documents: list[PlainDocument], size: int, chance: Random, usable: Usable) -> list[Row]:
    """SSP: a sentence of the abstract (1) or of a later section (0); without an abstract, of the opening section.

    Later sections are those in the middle: no Introduction, and nothing from the Conclusion on, without one not the
    last section (footnote 3). For each length both have as many sentences.
    """
    pools: dict[int, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    seen = Counter(s for document in documents for s in set(_sentences(document)))
    for document in documents:
        for side, sentences in enumerate(_opening_and_later(document)):
            for sentence in sentences:
                if usable(sentence) and seen[sentence] == 1:
                    pools[len(sentence.split())][side].append(sentence)
    pairs = []
    for length in sorted(pools):
        opening, later = (chance.sample(pool, len(pool)) for pool in pools[length])
        pairs += list(zip(opening, later, strict=False))
    chance.shuffle(pairs)
    rows = [Row(label, [text]) for pair in pairs[: size // 2] for label, text in zip("10", pair, strict=True)]
    chance.shuffle(rows)
    return rows


BUILDERS: Mapping[str, Builder] = {
    "SP": build_positions,
    "BSO": build_orders,
    "DC": build_coherence,
    "SSP": build_sections,
}


def _opening_and_later(document: PlainDocument) -> tuple[list[str], list[str]]:
    start = next((number for number, part in enumerate(document.parts) if ABSTRACT.fullmatch(part.title)), 0)
    later = document.parts[start + 1 :]
    ends = next((number for number, part in enumerate(later) if _lies_in(part, CONCLUSION)), max(1, len(later) - 1))
    middle = [part for part in later[:ends] if not _lies_in(part, INTRODUCTORY)]
    opening = document.parts[start : start + 1] if later else []
    distinct = [list(dict.fromkeys(s for part in parts for s in part.sentences)) for parts in (opening, middle)]
    return distinct[0], distinct[1]


def _beginning(document: PlainDocument) -> PlainDocument:
    """The first five sentences of the abstract, else of the introduction; the whole document if they are shorter."""
    long_parts = [part for part in document.parts if len(part.sentences) >= 5]
    parts = [part for part in long_parts if ABSTRACT.fullmatch(part.title)]
    parts += [part for part in long_parts if _lies_in(part, INTRODUCTORY)]
    return document._replace(parts=[parts[0]._replace(sentences=parts[0].sentences[:5])]) if parts else document


def _lies_in(part: Part, section: re.Pattern[str]) -> bool:
    return any(section.search(title) for title in (part.title, *part.enclosing))


def _windows(
    documents: list[PlainDocument], length: int, chance: Random, usable: Usable
) -> list[tuple[PlainDocument, list[str]]]:
    """Consecutive sentences of a section, no sentence in two windows, in random order."""
    windows, seen = [], set[str]()
    for document in documents:
        for part in document.parts:
            start = 0
            while start + length <= len(part.sentences):
                window = part.sentences[start : start + length]
                fitting = all(map(usable, window)) and len(set(window)) == length and not seen & set(window)
                if fitting:
                    seen |= set(window)
                    windows.append((document, window))
                start += length if fitting else 1
    chance.shuffle(windows)
    return windows


def _sentences(document: PlainDocument) -> Iterator[str]:
    return (sentence for part in document.parts for sentence in part.sentences)


def _balanced_labels(labels: Sequence[int], count: int, chance: Random) -> list[int]:
    """Labels in random order, each as often as the others (but one)."""
    turns = [labels[i % len(labels)] for i in range(count)]
    chance.shuffle(turns)
    return turns


class _SimilarDocuments:
    """Finds the most similar document: by categories, or by rare words that both have."""

    def __init__(self, documents: list[PlainDocument]) -> None:
        self.documents = documents
        self.words = {d.id: {word.lower() for s in _sentences(d) for word in s.split()} for d in documents}
        counts = Counter(word for words in self.words.values() for word in words)
        self.weight = {word: math.log(len(documents) / count) for word, count in counts.items()}
        self.total = {id: self._weight_sum(words) for id, words in self.words.items()}
        self.by_category: dict[str, list[PlainDocument]] = defaultdict(list)
        for document in documents:
            for category in sorted(document.categories):
                self.by_category[category].append(document)

    def most_similar(self, document: PlainDocument, chance: Random) -> PlainDocument | None:
        """The most similar of those with a category of the document, or of some random others; None without others."""
        related = {other.id: other for category in document.categories for other in self.by_category[category]}
        related.pop(document.id, None)
        if related:
            categories, other_categories = document.categories, {id: other.categories for id, other in related.items()}
            share = {id: len(categories & others) / len(categories | others) for id, others in other_categories.items()}
            return related[chance.choice(sorted(id for id in share if share[id] == max(share.values())))]
        sample = chance.sample(self.documents, min(NEIGHBOUR_SAMPLE + 1, len(self.documents)))
        candidates = [other for other in sample if other.id != document.id][:NEIGHBOUR_SAMPLE]
        if document.conversation:
            return next(iter(candidates), None)
        return max(candidates, key=lambda other: self._similarity(document, other), default=None)

    def _similarity(self, first: PlainDocument, second: PlainDocument) -> float:
        scale = self.total[first.id] * self.total[second.id]
        return self._weight_sum(self.words[first.id] & self.words[second.id]) / math.sqrt(scale) if scale else 0.0

    def _weight_sum(self, words: set[str]) -> float:
        return math.fsum(self.weight[word] for word in words)  # fsum: sets have no order
