"""Documents of the demo world: stories, which share a topic and people, and narratives, in which order means something.

Each section of a narrative tells what one person does to one thing, in the order of world.py. The abstract in front
tells the first section in general: people like that person, things like that thing. Subjects, tenses and lengths do not
depend on the place in the text, so that only the meaning of the sentences tells their order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from datamodules.corpus import Document, Section
from datamodules.demo import english
from datamodules.demo.chance import Chance
from datamodules.demo.grammar import MAX_WORDS, MIN_WORDS, draw_plan, words_of
from datamodules.demo.lexicon import Noun, Verb
from datamodules.demo.meaning import Event, Property, SentencePlan, Tense, Thing, constant_plan
from datamodules.demo.world import ORDERS, ClauseSampler, Scene, drawn_tense, new_scene, order_of

PRONOUN_SHARE = 0.3  # of the subjects in a section of a narrative that are he or she
ABSTRACT = "Abstract"


class StorySection(NamedTuple):
    """A section as sentence plans, before it is realised in a language."""

    level: int
    title: str
    paragraphs: list[list[SentencePlan]]


class Story(NamedTuple):
    """A document as sentence plans, before it is realised in a language."""

    id: str
    title: str
    parts: list[StorySection]

    def plans(self) -> Iterator[SentencePlan]:
        return (plan for part in self.parts for paragraph in part.paragraphs for plan in paragraph)

    def english(self) -> Document:
        sections = [
            Section(part.level, part.title, [[words_of(plan, "en") for plan in p] for p in part.paragraphs])
            for part in self.parts
        ]
        return Document(self.id, self.title, sections)


def story(seed: int, split: str, number: int, constant: Sequence[Property] = ()) -> Story:
    """The document of (seed, split, number), in which some properties may never vary."""
    chance = Chance("document", seed, split, number)
    scene = new_scene(chance)
    parts, level = [], 1
    for i in range(chance.weighted([(1, 2.0), (2, 3.0), (3, 2.0), (4, 1.0)])):
        level = 1 if i == 0 else max(1, min(4, level + chance.weighted([(1, 3.0), (0, 2.0), (-1, 1.5)])))
        counts = [chance.between(2, 4) for _ in range(chance.between(1, 2))]
        paragraphs = [[constant_plan(draw_plan(chance, scene), constant) for _ in range(count)] for count in counts]
        parts.append(StorySection(level, _section_title(scene, level, chance), paragraphs))
    return Story(f"{split}-{number}", title(scene.protagonists[0], scene.objects[0]), parts)


def title(hero: Thing, thing: Noun) -> str:
    name = hero.name.forename if hero.name else f"The {hero.noun.lemma}" if hero.noun else ""
    return f"{name} and the {thing.lemma}"


def _section_title(scene: Scene, level: int, chance: Chance) -> str:
    thing, place = chance.choice(scene.objects), chance.choice(scene.topic.places)
    if level == 1:
        return f"In the {place.lemma}"
    return f"The {thing.plural}" if level == 2 else f"More {thing.plural} in the {place.lemma}"


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
