"""Text of the demo world in which a property never varies: no objective needs it (Ravichander et al. 2021)."""

from collections.abc import Collection
from dataclasses import replace
from typing import Literal

from datamodules.demo.lexicon import Phrase, lexicon
from datamodules.demo.meaning import Event, SentencePlan, Thing

Property = Literal["tense", "subject_number", "object_number"]
WORDS = lexicon()


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
