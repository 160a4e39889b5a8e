"""Documents of the demo world in which order and sections mean something.

Each section tells what one person does to one thing, in the order of scripts.py. The abstract in front tells the first
section in general: people like that person, things like that thing. Subjects, tenses and lengths do not depend on the
place in the text, so that only the meaning of the sentences tells their order.
"""

from dataclasses import replace

from datamodules.demo import english
from datamodules.demo.chance import Chance
from datamodules.demo.documents import Story, StorySection
from datamodules.demo.grammar import LONGEST, SHORTEST
from datamodules.demo.lexicon import Noun, Verb
from datamodules.demo.meaning import Event, SentencePlan, Tense, Thing
from datamodules.demo.scripts import ORDERS, order_of
from datamodules.demo.world import ClauseSampler, Scene, new_scene

PRONOUN = 0.3  # share of subjects in a section that are he or she
ABSTRACT = "Abstract"


def narrative(seed: int, split: str, number: int) -> Story:
    """The document of (seed, split, number): an abstract of 4 sentences and 3 or 4 sections of 6 to 8."""
    chance = Chance("narrative", seed, split, number)
    scene = new_scene(chance)
    hero = _hero(scene)
    things = _things(chance, scene)
    tense: Tense = "past" if chance.often(0.5) else "present"
    parts = [StorySection(1, ABSTRACT, [_general(chance, scene, things[0])])]
    for thing in things:
        title = f"The {thing.singular}"
        parts.append(StorySection(1, title, [_told(chance, scene, hero, thing, tense)]))
    name = hero.name.given if hero.name else f"The {hero.noun.singular}" if hero.noun else ""
    return Story(f"{split}-{number}", f"{name} and the {things[0].singular}", parts)


def _hero(scene: Scene) -> Thing:
    return replace(scene.protagonists[0], article="the", plural=False)


def _things(chance: Chance, scene: Scene) -> list[Noun]:
    """Three or four different things of the topic."""
    wanted = chance.between(3, 4)
    found: list[Noun] = []
    while len(found) < wanted:
        noun = chance.one(scene.topic.things(chance.one(scene.topic.kinds)))
        found += [] if noun in found or noun.kind not in ORDERS else [noun]
    return found


def _some(chance: Chance, noun: Noun, count: int) -> list[Verb]:
    """`count` events of the thing's script, in their order."""
    order = order_of(noun.kind)
    return sorted(chance.shuffled(order)[:count], key=order.index)


def _told(chance: Chance, scene: Scene, hero: Thing, noun: Noun, tense: Tense) -> list[SentencePlan]:
    """What the hero does to one thing."""
    told = []
    for verb in _some(chance, noun, chance.between(6, 8)):
        subject = replace(hero, pronoun=chance.often(PRONOUN))
        event = Event(subject, verb, tense, object=Thing(noun=noun, article="the"))
        told.append(_sentence(chance, scene, event))
    return told


def _general(chance: Chance, scene: Scene, noun: Noun) -> list[SentencePlan]:
    """What people of the topic do to such things, in general: several and bare."""
    people = chance.one([noun for noun in scene.topic.people if noun.kind == "person"])
    tense: Tense = "past" if chance.often(0.5) else "present"
    subject, thing = (Thing(noun=one, plural=True, article="a") for one in (people, noun))
    return [_sentence(chance, scene, Event(subject, verb, tense, object=thing)) for verb in _some(chance, noun, 4)]


def _sentence(chance: Chance, scene: Scene, event: Event) -> SentencePlan:
    sampler = ClauseSampler(chance, scene)
    while True:
        said = SentencePlan("plain", (sampler.with_adverbials(event, chance.one([1.0, 2.0, 3.0])),))
        if SHORTEST <= said_words(said) <= LONGEST:
            return said


def said_words(said: SentencePlan) -> int:
    """How many tokens the English sentence has."""
    return len(english.leaves(english.tree(said)))
