"""Premises and hypotheses, with labels that follow from the demo world."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from datamodules.corpus import LABELS, Inference
from datamodules.demo import english
from datamodules.demo.chance import Chance
from datamodules.demo.grammar import MAX_WORDS, MIN_WORDS
from datamodules.demo.lexicon import WORDS
from datamodules.demo.meaning import Event, Place, Property, Thing, constant_event
from datamodules.demo.world import ClauseSampler, new_scene

OPPOSITES = [{first, second} for first, second in WORDS.opposites.items()] + [{"old", "new"}]


def inference(seed: int, split: str, number: int, constant: Sequence[Property] = ()) -> Inference:
    """The pair of (seed, split, number), in which some properties may never vary; labels alternate."""
    label = LABELS[number % 3]
    for attempt in count():
        chance = Chance("inference", seed, split, number, attempt)
        event = _premise(ClauseSampler(chance, new_scene(chance)))
        hypothesis = _hypothesis(chance, event, label)
        texts = [english.plain(constant_event(part, constant)) for part in (event, hypothesis)] if hypothesis else []
        if hypothesis and all(MIN_WORDS <= len(t.split()) <= MAX_WORDS for t in texts) and texts[0] != texts[1]:
            return Inference(texts[0], texts[1], label)  # type: ignore[arg-type]
    raise AssertionError


def _premise(sampler: ClauseSampler) -> Event:
    """A full event: subject, object with an adjective, place and manner."""
    event = sampler.event(0.8, tense="past")
    event = replace(event, aspect="simple", negated=False, time=None, frequency=None, because=None)
    assert event.object is not None
    subject, thing = event.subject, event.object
    if thing.noun and not thing.adjective:
        thing = replace(thing, adjective=sampler.adjective(thing.noun))
    if subject.noun and not subject.adjective and not subject.many:
        subject = replace(subject, adjective=sampler.adjective(subject.noun))
    place = Place("in", Thing(noun=sampler.chance.choice(sampler.scene.topic.places)))
    manner = sampler.chance.zipf(WORDS.manner)
    return replace(event, subject=subject, object=thing, place=place, manner=manner)


def _hypothesis(chance: Chance, event: Event, label: str) -> Event | None:
    """The premise with fewer facts (entailment), more or other facts (neutral), or the opposite (contradiction).

    Each label also drops modifiers at random, so that length alone reveals little.
    """
    hypothesis = event
    if label == "entailment":
        ways = chance.shuffled(["manner", "place", "object adjective", "subject adjective", "relative"])
        for way in ways[: chance.between(1, 3)]:
            hypothesis = _without(hypothesis, way)
        return hypothesis
    if chance.often(0.5):
        hypothesis = _without(hypothesis, chance.choice(["manner", "object adjective"]))
    if label == "contradiction":
        return _opposite(chance, hypothesis)
    return _elsewhere_unknown(chance, event, hypothesis)


def _without(event: Event, way: str) -> Event:
    if way == "manner":
        return replace(event, manner=None)
    if way == "place":
        return replace(event, place=None)
    if way == "object adjective" and event.object:
        return replace(event, object=replace(event.object, adjective=None, place=None, relative=None))
    if way == "relative":
        return replace(event, subject=replace(event.subject, relative=None, place=None))
    return replace(event, subject=replace(event.subject, adjective=None))


def _opposite(chance: Chance, event: Event) -> Event | None:
    """Another place (a person is in one place only), the opposite adjective, or the negated event."""
    way = chance.choice(["place", "adjective", "negation"])
    if way == "place" and event.place:
        noun = chance.choice([p for p in WORDS.nouns["place"] if p != event.place.thing.noun])
        return replace(event, place=Place("in", Thing(noun=noun)))
    if way == "adjective" and event.subject.adjective and event.subject.article in ("the", "this"):
        opposite = WORDS.opposites.get(event.subject.adjective.english)
        adjectives = (a for adjectives in WORDS.adjectives.values() for a in adjectives if a.english == opposite)
        adjective = next(adjectives, None)
        subject = replace(event.subject, adjective=adjective, relative=None, place=None)
        return replace(event, subject=subject) if adjective else None
    return replace(event, negated=True, manner=None) if way == "negation" else None


def _elsewhere_unknown(chance: Chance, premise: Event, event: Event) -> Event | None:
    """Adds a fact that may be true or false; some hypotheses negate another event."""
    if chance.often(0.25):
        verb = chance.zipf(WORDS.intransitive)
        return replace(event, verb=verb, object=None, negated=True, manner=None)
    if chance.often(0.5):
        return replace(event, time=chance.choice([t for t in WORDS.times if t.tense != "present"]), manner=None)
    assert premise.object is not None
    assert event.object is not None
    assert event.object.noun is not None
    adjective = chance.zipf(WORDS.adjectives[event.object.noun.category])
    original = premise.object.adjective
    if original and (adjective == original or {original.english, adjective.english} in OPPOSITES):
        return None
    return replace(event, object=replace(event.object, adjective=adjective))
