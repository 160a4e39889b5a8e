"""Texts of the demo world in two versions, of which one is coherent: who is meant, by which form, and who says it.

Each draw gives twins: two items in which the same two forms change their roles, so that a model that does not see the
context is right in one of them and wrong in the other.
"""

from dataclasses import replace
from typing import NamedTuple

from datamodules.corpus import LABELS
from datamodules.demo import english
from datamodules.demo.chance import Chance
from datamodules.demo.inference import inference
from datamodules.demo.lexicon import Noun, lexicon
from datamodules.demo.meaning import Event, Tense, Thing
from datamodules.demo.scripts import ADJECTIVES, EFFECTS, effects_of
from datamodules.demo.world import drawn_tense

WORDS = lexicon()
MEETINGS = [WORDS.transitive[base] for base in ("meet", "recognise", "welcome", "call")]  # without a reason
PEOPLE = [noun for noun in WORDS.nouns["person"] if " " not in noun.lemma]
THINGS = ("furniture", "clothes", "art")  # what somebody looks at
LOOKS = [WORDS.transitive[base] for base in ("see", "photograph", "describe")]


class Reference(NamedTuple):
    """A noun phrase that means somebody: the text before it, the right and the wrong one, and the text after it."""

    before: str
    right: str
    wrong: str
    after: str


class MentionedAgain(NamedTuple):
    """A sentence about somebody of the context: in the form that fits, and in the other one."""

    context: str
    fitting: str
    other: str


def references(seed: int, split: str, number: int) -> tuple[Reference, Reference]:
    """`The tired nurse met the hungry king , and | the nurse | slept .`, and the same with what the king did.

    People do what follows from how they are (scripts.py); both texts of an item have the same number of words.
    """
    chance = Chance("reference", seed, split, number)
    tense = drawn_tense(chance)
    people, states = chance.shuffled(PEOPLE)[:2], _two_states(chance)
    first, second = (Thing(noun=who, adjective=ADJECTIVES[how]) for who, how in zip(people, states, strict=True))
    meeting = Event(first, chance.choice(MEETINGS), tense, object=second)
    before = f"{english.plain(meeting).removesuffix(' .')} , and"
    names = [f"the {who.lemma}" for who in people]
    done = [_effect(chance, who, how, tense) for who, how in zip(people, states, strict=True)]
    after = [english.plain(event).split(" ", 2)[2] for event in done]
    return Reference(before, names[0], names[1], after[0]), Reference(before, names[1], names[0], after[1])


def mentions(seed: int, split: str, number: int) -> tuple[MentionedAgain, MentionedAgain]:
    """`The king saw the bed . The tired boy saw the shirt . | He slept .`, not `The boy slept .`, and the other way
    round where the king is in the sentence before.

    A pronoun means the person of the sentence before. Where the meaning tells that it is the other person who acts,
    the phrase has to be repeated.
    """
    chance = Chance("mention", seed, split, number)
    tense = drawn_tense(chance)
    first = chance.choice(PEOPLE)
    second = chance.choice([who for who in PEOPLE if who.french[0] == first.french[0] and who != first])
    states = _two_states(chance)
    known, other = (_look(chance, who, how, tense) for who, how in zip((first, second), states, strict=True))
    done = _effect(chance, first, states[0], tense)
    phrase, pronoun = english.plain(done), english.plain(replace(done, subject=replace(done.subject, pronoun=True)))
    return MentionedAgain(f"{other} {known}", pronoun, phrase), MentionedAgain(f"{known} {other}", phrase, pronoun)


def contradiction(seed: int, split: str, number: int) -> tuple[str, str]:
    """Two sentences that cannot both be true."""
    pair = inference(seed, split, len(LABELS) * number + LABELS.index("contradiction"))
    return pair.premise, pair.hypothesis


def _two_states(chance: Chance) -> list[str]:
    """Two adjectives from which different things follow."""
    first = chance.choice(list(EFFECTS))
    apart = [how for how in EFFECTS if not set(EFFECTS[how].split()) & set(EFFECTS[first].split())]
    return [first, chance.choice(apart)]


def _effect(chance: Chance, who: Noun, how: str, tense: Tense) -> Event:
    """What somebody does because of how he or she is."""
    verb = chance.choice(effects_of(how))
    categories = [category for category in verb.objects if category != "person"] or verb.objects
    thing = Thing(noun=chance.zipf(WORDS.nouns[chance.choice(categories)])) if categories else None
    return Event(Thing(noun=who), verb, tense, object=thing)


def _look(chance: Chance, who: Noun, how: str, tense: Tense) -> str:
    """A sentence about somebody, with an object, that says nothing about what follows."""
    thing = Thing(noun=chance.zipf(WORDS.nouns[chance.choice(THINGS)]))
    return english.plain(Event(Thing(noun=who, adjective=ADJECTIVES[how]), chance.choice(LOOKS), tense, object=thing))
