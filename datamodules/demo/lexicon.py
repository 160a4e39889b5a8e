"""Parses the word tables of the demo world, once."""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

VOWELS = "aeiouyäöå"
PHRASES = ("manner", "frequency", "opening", "times", "interjections")


class Noun(NamedTuple):
    """A noun in four languages."""

    lemma: str  # its singular
    category: str  # its semantic class
    plural: str
    french: tuple[str, str, str]  # gender, singular, plural
    german: tuple[str, str, str, bool]  # gender, singular, plural, weak declension
    finnish: tuple[str, str]  # nominative, inflecting stem


class Verb(NamedTuple):
    """A verb in four languages."""

    base: str
    third_person: str
    past: str
    participle: str
    progressive: str
    objects: tuple[str, ...]  # the classes that it takes
    french: tuple[str, str, str, str]  # present singular and plural, past participle, imparfait
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


@cache
def sections(name: str) -> dict[str, str]:
    """The sections of `NAME.yaml`: word lists with an entry on each line."""
    text = Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8")
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]


def _noun(category: str, cells: list[str]) -> Noun:
    english, french, german, finnish = (cell.split() for cell in cells)
    singular, gender, plural = (form.replace("_", " ") for form in french)
    inflected = german[1], german[0], german[2], len(german) > 3
    return Noun(english[0], category, english[1], (gender, singular, plural), inflected, (finnish[0], finnish[1]))


def _verb(english: str, objects: str, french: str, german: str, finnish: str) -> Verb:
    return Verb(*english.split(), *(tuple(forms.split()) for forms in (objects, french, german, finnish)))  # type: ignore[arg-type]


def _adjective(cells: list[str]) -> Adjective:
    english, french, german, finnish, categories = cells
    masculine, feminine, *before_noun = french.split()
    nominative, stem = finnish.split()
    return Adjective(
        english, (masculine, feminine), bool(before_noun), german, (nominative, stem), tuple(categories.split())
    )


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
    links: dict[str, Phrase]  # of main clauses
    conjunctions: dict[str, Phrase]  # of subordinate clauses, the most frequent first
    women: list[str]
    men: list[str]
    surnames: list[str]
    cities: list[Noun]
    events: list[list[str]]

    def noun(self, lemma: str) -> Noun:
        return next(n for category in self.nouns.values() for n in category if n.lemma == lemma)


def _lexicon() -> Lexicon:
    nouns, verbs, words = (sections(name) for name in ("nouns", "verbs", "words"))
    adjectives: dict[str, list[Adjective]] = {}
    for cells in rows(words["adjectives"]):
        adjective = _adjective(cells)
        for category in adjective.categories:
            adjectives.setdefault(category, []).append(adjective)
    opposites = dict(p.split() for p in words["opposites"].replace("\n", "|").split("|") if p.strip())
    lists: dict[str, Any] = {name: [Phrase(*c) for c in rows(words[name])] for name in PHRASES}
    lists |= {name: {c[0]: Phrase(*c) for c in rows(words[name])} for name in ("links", "conjunctions")}
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
            _noun("city", [f"{en} {en}", f"{fr} m {fr}", f"{de} n {de}", fi])
            for en, fr, de, fi, *_ in rows(words["cities"])
        ],
        events=[line.split() for line in verbs["events"].strip().splitlines()],
    )


WORDS = _lexicon()
