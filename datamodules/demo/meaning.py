"""The meaning of a sentence of the demo world, independent of language."""

from dataclasses import dataclass
from typing import Literal

from datamodules.demo.lexicon import Adjective, Name, Noun, Phrase, Verb

Tense = Literal["past", "present"]
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
