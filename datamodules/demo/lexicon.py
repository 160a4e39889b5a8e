"""Parses the word tables of the demo world, once."""

from functools import cache
from typing import Any, NamedTuple

from datamodules.demo.word_lists import sections

VOWELS = "aeiouyäöå"
PHRASES = ("manner", "frequency", "opening", "times", "interjections")


class Noun(NamedTuple):
    """A noun in four languages."""

    lemma: str
    category: str  # its semantic class
    singular: str
    plural: str
    french: tuple[str, str, str]  # gender, singular, plural
    german: tuple[str, str, str, bool]  # gender, singular, plural, weak declension
    finnish: tuple[str, str]  # nominative, inflecting stem


class Verb(NamedTuple):
    """A verb in four languages."""

    base: str
    past: str
    participle: str
    objects: tuple[str, ...]
    french: tuple[str, str, str]  # present singular and plural, past participle
    german: tuple[str, str, str]  # infinitive, third person present and past
    finnish: tuple[str, ...]  # stem, past [, stem after the negative verb, past participle]


class Adjective(NamedTuple):
    """An adjective in four languages."""

    english: str
    french: tuple[str, str]  # masculine, feminine
    french_before: bool
    german: str
    finnish: tuple[str, str]  # nominative, inflecting stem
    categories: tuple[str, ...]


class Phrase(NamedTuple):
    """An uninflected word or phrase in four languages."""

    english: str
    french: str
    german: str
    finnish: str
    tense: str = "any"


class Name(NamedTuple):
    """A person's name; `woman` decides the pronoun."""

    forename: str
    surname: str | None
    woman: bool

    @property
    def parts(self) -> list[str]:
        return [part for part in (self.forename, self.surname) if part]


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]


def pair(text: str) -> tuple[str, str]:
    """Two forms, or one form twice."""
    parts = text.split()
    return parts[0], parts[-1]


def third_person(base: str) -> str:
    if base.endswith(("s", "x", "ch", "sh", "o")):
        return base + "es"
    return base[:-1] + "ies" if base.endswith("y") and base[-2] not in VOWELS[:5] else base + "s"


def past_tense(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in VOWELS[:5]:
        return base[:-1] + "ied"
    return base + doubled(base) + "ed"


def doubled(base: str) -> str:
    """The repeated last letter of stop -> stopped."""
    if base in ("forget", "admit", "travel"):  # final stress, or British spelling
        return base[-1]
    short = 3 <= len(base) <= 4 and base[-1] in "bdgmnpt" and base[-2] in "aeiou" and base[-3] not in "aeiou"
    return base[-1] if short and base not in ("open", "load", "iron") else ""


def progressive(base: str) -> str:
    if base.endswith("e") and not base.endswith("ee"):
        return base[:-1] + "ing"
    return base + doubled(base) + "ing"


def _noun(category: str, cells: list[str]) -> Noun:
    english, french, german, finnish = (cell.split() for cell in cells)
    plural = english[1] if len(english) > 1 else english[0] + "s"
    french_plural = french[2] if len(french) > 2 else french[0] + ("" if french[0][-1] in "sx" else "s")
    return Noun(
        english[0],
        category,
        english[0],
        plural,
        (french[1], french[0].replace("_", " "), french_plural.replace("_", " ")),
        (german[1], german[0], german[2], len(german) > 3),
        pair(cells[3]) if finnish else ("", ""),
    )


def _verb(english: str, objects: str, french: str, german: str, finnish: str) -> Verb:
    forms = english.split()
    past = forms[1] if len(forms) > 1 else past_tense(forms[0])
    in_french = french.split()
    if len(in_french) == 1:
        stem = french[:-2]
        in_french = [stem + "e", stem + "ent", stem + "é"]
    in_german = german.split()
    if len(in_german) == 1:
        stem = german[:-2]
        linking = "e" if stem[-1] in "dt" else ""
        in_german = [german, stem + linking + "t", stem + linking + "te"]
    return Verb(
        forms[0],
        past,
        forms[2] if len(forms) > 2 else past,
        tuple(objects.split()),
        (in_french[0], in_french[1], in_french[2]),
        (in_german[0], in_german[1], in_german[2]),
        tuple(finnish.split()),
    )


def _adjective(cells: list[str]) -> Adjective:
    english, french, german, finnish, categories = cells
    forms = french.split()
    return Adjective(english, (forms[0], forms[1]), "<" in forms, german, pair(finnish), tuple(categories.split()))


class Lexicon(NamedTuple):
    """All words of the demo world."""

    nouns: dict[str, list[Noun]]  # by class, the most frequent first
    transitive: dict[str, Verb]
    intransitive: list[Verb]
    saying: list[Verb]
    adjectives: dict[str, list[Adjective]]  # by class of noun
    opposites: dict[str, str]
    manner: list[Phrase]
    frequency: list[Phrase]
    opening: list[Phrase]
    times: list[Phrase]
    interjections: list[Phrase]
    women: list[str]
    men: list[str]
    surnames: list[str]
    cities: list[Noun]
    events: list[list[str]]

    def noun(self, lemma: str) -> Noun:
        return next(n for category in self.nouns.values() for n in category if n.lemma == lemma)


@cache
def lexicon() -> Lexicon:
    nouns, verbs, words = (sections(name) for name in ("nouns", "verbs", "words"))
    adjectives: dict[str, list[Adjective]] = {}
    for cells in rows(words["adjectives"]):
        adjective = _adjective(cells)
        for category in adjective.categories:
            adjectives.setdefault(category, []).append(adjective)
    opposites = dict(p.split() for p in words["opposites"].replace("\n", "|").split("|") if p.strip())
    lists: dict[str, Any] = {name: [Phrase(*c) for c in rows(words[name])] for name in PHRASES}
    lists |= {name: words[name].split() for name in ("women", "men", "surnames")}
    return Lexicon(
        nouns={category: [_noun(category, cells) for cells in rows(table)] for category, table in nouns.items()},
        transitive={v.base: v for v in (_verb(*cells) for cells in rows(verbs["transitive"]))},
        intransitive=[_verb(c[0], "", *c[1:]) for c in rows(verbs["intransitive"])],
        saying=[_verb(c[0], "", *c[1:]) for c in rows(verbs["saying"])],
        adjectives=adjectives,
        opposites=opposites | {b: a for a, b in opposites.items()},
        **lists,
        cities=[
            Noun(c[0], "city", c[0], c[0], ("m", c[1], c[1]), ("n", c[2], c[2], False), pair(c[3]))
            for c in rows(words["cities"])
        ],
        events=[line.split() for line in verbs["events"].strip().splitlines()],
    )
