"""Documents of the demo world in which order and sections mean something.

Each section tells what one person does to one thing, in the order of scripts.py. The abstract in front tells the first
section in general: people like that person, things like that thing. Subjects, tenses and lengths do not depend on the
place in the text, so that only the meaning of the sentences tells their order.
"""

from dataclasses import replace

from datamodules.demo import english
from datamodules.demo.chance import Chance
from datamodules.demo.documents import Story, StorySection, title
from datamodules.demo.grammar import MAX_WORDS, MIN_WORDS
from datamodules.demo.lexicon import Noun, Verb
from datamodules.demo.meaning import Event, SentencePlan, Tense, Thing
from datamodules.demo.scripts import ORDERS, order_of
from datamodules.demo.world import ClauseSampler, Scene, drawn_tense, new_scene

PRONOUN_SHARE = 0.3  # of the subjects in a section that are he or she
ABSTRACT = "Abstract"


def narrative(seed: int, split: str, number: int) -> Story:
    """The document of (seed, split, number): an abstract of 4 sentences and 3 or 4 sections of 6 to 8."""
    chance = Chance("narrative", seed, split, number)
    scene = new_scene(chance)
    hero = replace(scene.protagonists[0], article="the", plural=False)
    things = _things(chance, scene)
    tense = drawn_tense(chance)
    abstract = StorySection(1, ABSTRACT, [_abstract_plans(chance, scene, things[0])])
    parts = [StorySection(1, f"The {it.lemma}", [_event_plans(chance, scene, hero, it, tense)]) for it in things]
    return Story(f"{split}-{number}", title(hero, things[0]), [abstract, *parts])


def _things(chance: Chance, scene: Scene) -> list[Noun]:
    count = chance.between(3, 4)
    things: list[Noun] = []
    while len(things) < count:
        noun = chance.choice(scene.topic.things(chance.choice(scene.topic.categories)))
        things += [] if noun in things or noun.category not in ORDERS else [noun]
    return things


def _script(chance: Chance, noun: Noun, count: int) -> list[Verb]:
    """`count` events of the thing's script, in their order."""
    order = order_of(noun.category)
    return sorted(chance.shuffled(order)[:count], key=order.index)


def _event_plans(chance: Chance, scene: Scene, hero: Thing, noun: Noun, tense: Tense) -> list[SentencePlan]:
    """What the hero does to one thing."""
    plans = []
    for verb in _script(chance, noun, chance.between(6, 8)):
        subject = replace(hero, pronoun=chance.often(PRONOUN_SHARE))
        plans.append(_sentence(chance, scene, Event(subject, verb, tense, object=Thing(noun=noun))))
    return plans


def _abstract_plans(chance: Chance, scene: Scene, noun: Noun) -> list[SentencePlan]:
    """What people of the topic do to such things, in general: several and bare."""
    people = chance.choice([noun for noun in scene.topic.people if noun.category == "person"])
    tense = drawn_tense(chance)
    subject, thing = (Thing(noun=word, plural=True, article="a") for word in (people, noun))
    return [_sentence(chance, scene, Event(subject, verb, tense, object=thing)) for verb in _script(chance, noun, 4)]


def _sentence(chance: Chance, scene: Scene, event: Event) -> SentencePlan:
    sampler = ClauseSampler(chance, scene)
    while True:
        plan = SentencePlan("plain", (sampler.with_adverbials(event, chance.choice([1.0, 2.0, 3.0])),))
        if MIN_WORDS <= len(english.sentence(plan)) <= MAX_WORDS:
            return plan
