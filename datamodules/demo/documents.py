"""Documents of the demo world: titled sections and paragraphs that share a topic and people."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from datamodules.corpus import Document, Section
from datamodules.demo.chance import Chance
from datamodules.demo.constant import Property, constant_plan
from datamodules.demo.grammar import draw_plan, words_of
from datamodules.demo.lexicon import Noun
from datamodules.demo.meaning import SentencePlan, Thing
from datamodules.demo.world import Scene, new_scene


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
