"""The meaning of a sentence of the demo world, independent of language.

In text in which a property never varies no objective needs it (Ravichander et al. 2021).
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from datamodules.demo.lexicon import WORDS, Adjective, Name, Noun, Phrase, Verb

Tense = Literal["past", "present"]
Property = Literal["tense", "subject_number", "object_number"]
QUESTIONS = ("yes-no", "who", "why", "where")  # patterns


@dataclass(frozen=True)
class Thing:
    """A noun phrase: `noun`, or `name`, or a pronoun for an earlier one, or two joined by `and`."""

    noun: Noun | None = None
    name: Name | None = None
    pronoun: bool = False  # realised as he, she, it or they
    plural: bool = False
    article: Literal["the", "a", "this", "several"] = "the"
    adjective: Adjective | None = None
    owner: Name | None = None  # Anna's dog
    place: "Place | None" = None  # the dog in the garden
    relative: "Event | None" = None  # the man who sold the bread; its subject is omitted
    other: "Thing | None" = None  # Anna and Peter

    @property
    def alone(self) -> "Thing":
        """The first of two that are joined."""
        return Thing(noun=self.noun, name=self.name, article=self.article, adjective=self.adjective)

    @property
    def many(self) -> bool:
        return self.plural or self.other is not None

    @property
    def woman(self) -> bool:
        """Whether the pronoun is feminine for a person."""
        return self.name.woman if self.name else bool(self.noun and self.noun.french[0] == "f")


@dataclass(frozen=True)
class Place:
    """A prepositional phrase with a singular noun or a city."""

    relation: Literal["in", "on", "behind", "near"]
    thing: Thing


@dataclass(frozen=True)
class Event:
    """A clause."""

    subject: Thing
    verb: Verb | None  # None: to be
    tense: Tense
    object: Thing | None = None
    adjective: Adjective | None = None  # the dog is hungry
    aspect: Literal["simple", "progressive", "perfect"] = "simple"
    negated: bool = False
    frequency: Phrase | None = None
    manner: Phrase | None = None
    place: Place | None = None
    time: Phrase | None = None
    complement: "Event | None" = None  # the content of a verb of saying or thinking
    because: "tuple[str, Event] | None" = None  # a conjunction and its clause


@dataclass(frozen=True)
class SentencePlan:
    """A whole sentence: one or two clauses in a pattern (see grammar.PATTERNS)."""

    pattern: str
    events: tuple[Event, ...]
    word: Phrase | None = None  # interjection, adverb or time at the start
    link: str | None = None  # and, but, yet; because, when, ...
    place: Place | None = None  # at the start
    opener: str | None = None  # a sentence-initial and, but, yet


def constant_plan(plan: SentencePlan, properties: Collection[Property]) -> SentencePlan:
    """The same sentence in the past (`tense`), or with singular subjects or objects."""
    if not properties:
        return plan
    events = tuple(constant_event(event, properties) for event in plan.events)
    word = _past(plan.word) if plan.word and "tense" in properties else plan.word
    return replace(plan, events=events, word=word)


def constant_event(event: Event, properties: Collection[Property]) -> Event:
    """The same of a clause and of all clauses in it."""
    if "tense" in properties:
        aspect = "simple" if event.aspect == "perfect" else event.aspect  # English has the present perfect alone here
        event = replace(event, tense="past", aspect=aspect, time=event.time and _past(event.time))
    return replace(
        event,
        subject=_thing(event.subject, properties, "subject_number" in properties),
        object=event.object and _thing(event.object, properties, "object_number" in properties),
        complement=event.complement and constant_event(event.complement, properties),
        because=event.because and (event.because[0], constant_event(event.because[1], properties)),
    )


def _thing(thing: Thing, properties: Collection[Property], singular: bool) -> Thing:
    """A noun phrase; the subject of its relative clause agrees with it."""
    if singular:
        article = "the" if thing.article == "several" else thing.article
        thing = replace(thing, plural=False, other=None, article=article)
    if thing.relative:
        clause = constant_event(thing.relative, properties)
        thing = replace(thing, relative=replace(clause, subject=replace(thing, relative=None)))
    return thing


def _past(phrase: Phrase) -> Phrase:
    """A phrase of the present becomes the first one of the past in its list."""
    tables = [table for table in (WORDS.times, WORDS.opening) if phrase.tense == "present" and phrase in table]
    return next((candidate for table in tables for candidate in table if candidate.tense == "past"), phrase)
