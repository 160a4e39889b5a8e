"""Texts of the demo world in two versions, of which one is coherent: who is meant, by which form, and who says it.

Each draw gives twins: two items in which the same two forms change their roles, so that a model that does not see the
context is right in one of them and wrong in the other.
"""

from dataclasses import replace

from datamodules.corpus import LABELS
from datamodules.demo import english
from datamodules.demo.chance import Chance
from datamodules.demo.inference import inference
from datamodules.demo.lexicon import WORDS, Noun
from datamodules.demo.meaning import Event, Tense, Thing
from datamodules.demo.world import ADJECTIVES, EFFECTS, drawn_tense, effects_of

MEETINGS = [WORDS.transitive[base] for base in ("meet", "recognise", "welcome", "call")]  # without a reason
PEOPLE = [noun for noun in WORDS.nouns["person"] if " " not in noun.lemma]
THINGS = ("furniture", "clothes", "art")  # what somebody looks at
LOOKS = [WORDS.transitive[base] for base in ("see", "photograph", "describe")]


PassagePair = tuple[tuple[str, ...], tuple[str, ...]]  # the coherent text and the other one, each in its regions


def references(seed: int, split: str, number: int) -> tuple[PassagePair, PassagePair]:
    """`The tired nurse met the hungry king , and | the nurse | slept .`, and the same with what the king did.

    The regions are what is before the noun phrase, the phrase, and the rest. People do what follows from how they are
    (world.py); both texts of an item have the same number of words.
    """
    chance = Chance("reference", seed, split, number)
    tense = drawn_tense(chance)
    people, states = chance.shuffled(PEOPLE)[:2], _two_states(chance)
    first, second = (Thing(noun=noun, adjective=ADJECTIVES[state]) for noun, state in zip(people, states, strict=True))
    meeting = Event(first, chance.choice(MEETINGS), tense, object=second)
    context = f"{english.plain(meeting).removesuffix(' .')} , and"
    first_name, second_name = (f"the {noun.lemma}" for noun in people)
    events = [_effect(chance, noun, state, tense) for noun, state in zip(people, states, strict=True)]
    ends = [english.plain(event).split(" ", 2)[2] for event in events]
    texts = [[(context, name, end) for name in (first_name, second_name)] for end in ends]
    return (texts[0][0], texts[0][1]), (texts[1][1], texts[1][0])


def mentions(seed: int, split: str, number: int) -> tuple[PassagePair, PassagePair]:
    """`The king saw the bed . The tired boy saw the shirt . | He slept .`, not `The boy slept .`, and the other way
    round where the king is in the sentence before.

    A pronoun means the person of the sentence before. Where the meaning tells that it is the other person who acts,
    the phrase has to be repeated.
    """
    chance = Chance("mention", seed, split, number)
    tense = drawn_tense(chance)
    first = chance.choice(PEOPLE)
    second = chance.choice([noun for noun in PEOPLE if noun.french[0] == first.french[0] and noun != first])
    states = _two_states(chance)
    looks = [_look(chance, noun, state, tense) for noun, state in zip((first, second), states, strict=True)]
    event = _effect(chance, first, states[0], tense)
    phrase, pronoun = english.plain(event), english.plain(replace(event, subject=replace(event.subject, pronoun=True)))
    pronoun_fits, phrase_fits = " ".join(looks[::-1]), " ".join(looks)
    return ((pronoun_fits, pronoun), (pronoun_fits, phrase)), ((phrase_fits, phrase), (phrase_fits, pronoun))


def contradiction(seed: int, split: str, number: int) -> tuple[str, str]:
    """Two sentences that cannot both be true."""
    pair = inference(seed, split, len(LABELS) * number + LABELS.index("contradiction"))
    return pair.premise, pair.hypothesis


def _two_states(chance: Chance) -> list[str]:
    """Two adjectives from which different things follow."""
    first = chance.choice(list(EFFECTS))
    contrasting = [state for state in EFFECTS if not set(EFFECTS[state].split()) & set(EFFECTS[first].split())]
    return [first, chance.choice(contrasting)]


def _effect(chance: Chance, noun: Noun, state: str, tense: Tense) -> Event:
    """What somebody does because of how he or she is."""
    verb = chance.choice(effects_of(state))
    categories = [category for category in verb.objects if category != "person"] or verb.objects
    thing = Thing(noun=chance.zipf(WORDS.nouns[chance.choice(categories)])) if categories else None
    return Event(Thing(noun=noun), verb, tense, object=thing)


def _look(chance: Chance, noun: Noun, state: str, tense: Tense) -> str:
    """A sentence about somebody, with an object, that says nothing about what follows."""
    thing = Thing(noun=chance.zipf(WORDS.nouns[chance.choice(THINGS)]))
    person = Thing(noun=noun, adjective=ADJECTIVES[state])
    return english.plain(Event(person, chance.choice(LOOKS), tense, object=thing))
