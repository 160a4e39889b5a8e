"""The preferences of the demo world (who does what to what), and the events of a document.

A document has a topic and a few protagonists. The topic determines classes of objects and places. Verbs select their
objects by class, and many select their subjects. Scripts order events, cause before effect, and say what people do
because of how they are.
"""

from dataclasses import replace
from typing import NamedTuple

from datamodules.demo.chance import Chance
from datamodules.demo.lexicon import WORDS, Adjective, Name, Noun, Phrase, Verb, rows, sections
from datamodules.demo.meaning import Event, Place, Tense, Thing

AGENT_NOUNS = {
    verb: [WORDS.noun(lemma) for lemma in lemmas.split()] for verb, lemmas in rows(sections("verbs")["agents"])
}
ORDERS = dict(rows(sections("verbs")["orders"]))
EFFECTS = dict(rows(sections("verbs")["effects"]))
INTRANSITIVE = {verb.base: verb for verb in WORDS.intransitive}
ADJECTIVES = {adjective.english: adjective for adjective in WORDS.adjectives["person"]}
CONTRASTS = [pair for pair in sorted(WORDS.opposites.items()) if set(pair) <= set(EFFECTS)]
LAST_YEAR = 2020
TYPICAL_SHARE = 0.95  # probability that the topic decides subject, object and place
NAME_EXPONENT = 0.5  # Zipf exponent of names; their distribution is flatter than that of words
SURFACE_LEMMAS = ("table", "chair", "bed", "shelf", "bench", "carpet", "roof")
SURFACES = [noun for noun in WORDS.nouns["furniture"] if noun.lemma in SURFACE_LEMMAS]


class Topic(NamedTuple):
    """A topic of documents: its objects, places, people and verbs."""

    categories: tuple[str, ...]  # classes of its objects, the more frequent first
    places: list[Noun]
    people: list[Noun]
    idle: list[Verb]  # intransitive
    verbs: list[Verb]  # transitive

    def things(self, category: str) -> list[Noun]:
        return self.people if category == "person" else WORDS.nouns[category]


TOPICS = [
    Topic(
        tuple(categories.split()),
        [WORDS.noun(lemma) for lemma in places.split()],
        [WORDS.noun(lemma) for lemma in people.split()],
        [verb for verb in WORDS.intransitive if verb.base in idle.split()],
        [verb for verb in WORDS.transitive.values() if set(verb.objects) & set(categories.split())],
    )
    for _, categories, places, people, idle in rows(sections("words")["topics"])
]


class Scene(NamedTuple):
    """The topic, protagonists, objects and tense of one document."""

    topic: Topic
    protagonists: list[Thing]
    objects: list[Noun]
    tense: Tense  # of most clauses


def new_scene(chance: Chance) -> Scene:
    """A topic, two to four protagonists, and objects that recur."""
    topic = chance.choice(TOPICS)
    first, second = topic.categories
    objects = [chance.zipf(topic.things(category)) for category in (first, first, first, first, second, second)]
    protagonists = [
        Thing(name=_name(chance)) if chance.often(0.5) else Thing(noun=_person(chance, topic))
        for _ in range(chance.between(2, 4))
    ]
    return Scene(topic, protagonists, objects, drawn_tense(chance))


def drawn_tense(chance: Chance) -> Tense:
    return "past" if chance.often(0.5) else "present"


def _person(chance: Chance, topic: Topic) -> Noun:
    return chance.zipf(topic.people if chance.often(TYPICAL_SHARE) else WORDS.nouns["person"])


def _name(chance: Chance) -> Name:
    woman = chance.often(0.5)
    surname = chance.zipf(WORDS.surnames, NAME_EXPONENT) if chance.often(0.45) else None
    return Name(chance.zipf(WORDS.women if woman else WORDS.men, NAME_EXPONENT), surname, woman)


class ClauseSampler:
    """Draws clauses for one scene."""

    def __init__(self, chance: Chance, scene: Scene) -> None:
        self.chance, self.scene = chance, scene

    def tense(self) -> Tense:
        if self.chance.often(0.9):
            return self.scene.tense
        return "present" if self.scene.tense == "past" else "past"

    def who(self, verb: Verb | None = None, size: float = 1.0) -> Thing:
        """A subject: a protagonist or a typical subject of the verb, sometimes with a second person."""
        chance = self.chance
        if verb and verb.base in AGENT_NOUNS and chance.often(0.75):
            who = Thing(noun=chance.zipf(AGENT_NOUNS[verb.base]))
        elif chance.often(0.6):
            who = chance.choice(self.scene.protagonists)
        else:
            who = Thing(noun=_person(chance, self.scene.topic)) if chance.often(0.7) else Thing(name=_name(chance))
        if not who.name:
            return self.with_modifiers(who, size)
        return replace(who, other=Thing(name=_name(chance))) if chance.often(0.12 * size) else who

    def with_modifiers(self, thing: Thing, size: float) -> Thing:
        """A noun with article, number and, as `size` allows, adjective, owner, place or relative clause."""
        chance, noun = self.chance, thing.noun
        assert noun is not None
        many = chance.often(0.42)
        article = chance.weighted([("the", 5.0), ("a", 3.0), ("this", 0.7), ("several", 0.8 if many else 0.0)])
        adjective = self.adjective(noun) if chance.often(0.3 * size) else None
        thing = replace(thing, plural=many, article=article, adjective=adjective)  # type: ignore[arg-type]
        if chance.often(0.1 * size) and noun.category != "place":
            return replace(thing, owner=_name(chance)._replace(surname=None))
        if chance.often(0.1 * size):
            return replace(thing, place=Place("in", self.where()))
        if chance.often(0.13 * size) and noun.category == "person":
            return replace(thing, relative=self.relative(thing, size * 0.6))
        return thing

    def adjective(self, noun: Noun) -> Adjective:
        return self.chance.zipf(WORDS.adjectives[noun.category])

    def relative(self, head: Thing, size: float) -> Event:
        event = self.event(size) if self.chance.often(0.6) else self.idle(size)
        return replace(event, subject=replace(head, relative=None), because=None, complement=None, negated=False)

    def what(self, verb: Verb, size: float) -> Thing:
        """An object of a class that the verb takes, preferably an object of the scene."""
        chance = self.chance
        items = [noun for noun in self.scene.objects if noun.category in verb.objects]
        categories = [category for category in verb.objects if category in self.scene.topic.categories] or verb.objects
        category = chance.zipf(categories)
        noun = chance.choice(items) if items and chance.often(0.7) else chance.zipf(self.scene.topic.things(category))
        return self.with_modifiers(Thing(noun=noun), size)

    def where(self) -> Thing:
        if self.chance.often(0.2):
            return Thing(noun=self.chance.zipf(WORDS.cities))
        typical = self.chance.often(TYPICAL_SHARE)
        noun = self.chance.choice(self.scene.topic.places) if typical else self.chance.zipf(WORDS.nouns["place"])
        adjective = self.adjective(noun) if self.chance.often(0.15) else None
        return Thing(noun=noun, adjective=adjective)

    def place(self) -> Place:
        chance = self.chance
        relation = chance.weighted([("in", 5.0), ("on", 1.0), ("behind", 1.0), ("near", 1.0)])
        if relation == "in":
            return Place("in", self.where())
        if relation == "on":
            return Place("on", Thing(noun=chance.zipf(SURFACES)))
        return Place(relation, Thing(noun=chance.choice(self.scene.topic.places)))  # type: ignore[arg-type]

    def verb(self) -> Verb:
        """A transitive verb that fits the objects of the topic."""
        return self.chance.zipf(self.scene.topic.verbs)

    def intransitive(self) -> Verb:
        return self.chance.zipf(self.scene.topic.idle if self.chance.often(TYPICAL_SHARE) else WORDS.intransitive)

    def event(self, size: float, tense: Tense | None = None) -> Event:
        """Somebody does something to something."""
        verb = self.verb()
        event = Event(self.who(verb, size), verb, tense or self.tense(), object=self.what(verb, size))
        return self.with_adverbials(event, size)

    def idle(self, size: float = 1.0, tense: Tense | None = None) -> Event:
        """Somebody does something without an object, or has a property."""
        chance, tense = self.chance, tense or self.tense()
        if chance.often(0.65):
            event = Event(self.who(None, size), self.intransitive(), tense, negated=chance.often(0.12))
            return self.with_adverbials(event, size)
        if chance.often(0.6):
            subject = self.who(None, size)
        else:
            noun = chance.choice([n for n in self.scene.objects if n.category in WORDS.adjectives])
            subject = self.with_modifiers(Thing(noun=noun), size * 0.7)
        if subject.many:
            article = "the" if subject.article == "several" else subject.article
            subject = replace(subject, plural=False, other=None, article=article, relative=None)
        category = subject.noun.category if subject.noun else "person"
        adjective = chance.zipf([a for a in WORDS.adjectives[category] if a != subject.adjective])
        return Event(subject, None, tense, adjective=adjective, negated=chance.often(0.15))

    def with_adverbials(self, event: Event, size: float) -> Event:
        chance = self.chance
        aspect = "simple"
        if not event.negated and event.tense == "past" and chance.often(0.12):
            aspect = "progressive"
        elif not event.negated and event.tense == "present" and chance.often(0.25):
            aspect = chance.choice(["progressive", "perfect"])
        event = replace(event, aspect=aspect)  # type: ignore[arg-type]
        if not event.negated and chance.often(0.08 * size):
            event = replace(event, frequency=chance.zipf(WORDS.frequency))
        if chance.often(0.16 * size) and not event.negated:
            event = replace(event, manner=chance.zipf(WORDS.manner))
        if chance.often(0.3 * size):
            event = replace(event, place=self.place())
        elif chance.often(0.16 * size) and aspect == "simple":
            event = replace(event, time=self.time(event.tense))
        return event

    def time(self, tense: Tense) -> Phrase:
        """A time phrase that fits the tense, or a year."""
        if tense == "past" and self.chance.often(0.4):
            year = str(LAST_YEAR - self.chance.zipf(range(150), 0.5))
            return Phrase(f"in {year}", f"en {year}", f"im Jahr {year}", f"vuonna {year}", "past")
        return self.chance.zipf([t for t in WORDS.times if t.tense in ("any", tense)])

    def because(self, event: Event, size: float) -> Event:
        """The clause with a subordinate clause after it."""
        inner = self.follow(event, size * 0.6) if self.chance.often(0.5) else self.idle(size * 0.6, event.tense)
        return replace(event, because=(self.chance.zipf(list(WORDS.conjunctions)), replace(inner, because=None)))

    def saying(self, size: float) -> Event:
        """Somebody says or thinks that something is true."""
        verb = self.chance.zipf(WORDS.saying)
        inner = self.event(size * 0.7) if self.chance.often(0.6) else self.idle(size * 0.7)
        if self.chance.often(0.3 * size):
            inner = self.because(inner, size * 0.5)
        return Event(self.who(verb, size * 0.8), verb, self.tense(), complement=inner)

    def follow(self, first: Event, size: float) -> Event:
        """The clause after `first`, with the same subject as a pronoun; an effect of `first` if a script has one."""
        subject = replace(first.subject, pronoun=True, relative=None, place=None)
        if first.verb and first.object:
            later = [s[s.index(first.verb.base) + 1 :] for s in WORDS.events if first.verb.base in s[:-1]]
            if later and self.chance.often(0.8):
                verb = WORDS.transitive[self.chance.zipf(self.chance.choice(later))]
                event = Event(subject, verb, first.tense, object=self.again(first.object, verb, size))
                return self.with_adverbials(event, size * 0.7)
        event = self.event(size, tense=first.tense) if self.chance.often(0.5) else self.idle(size, first.tense)
        if event.verb is None and first.subject.many:
            event = Event(subject, self.intransitive(), first.tense)
        category = first.subject.noun.category if first.subject.noun else "person"
        if category != "person":
            return Event(subject, None, first.tense, adjective=self.chance.zipf(WORDS.adjectives[category]))
        if event.verb is None and event.adjective not in WORDS.adjectives["person"]:
            event = replace(event, adjective=self.chance.zipf(WORDS.adjectives["person"]))
        return replace(event, subject=subject)

    def again(self, thing: Thing, verb: Verb, size: float) -> Thing:
        """The same object, now definite, or another that fits the verb."""
        if thing.noun and thing.noun.category in verb.objects:
            return Thing(noun=thing.noun, plural=thing.plural, article="this" if self.chance.often(0.2) else "the")
        return self.what(verb, size)


def order_of(category: str) -> list[Verb]:
    """The verbs of a class of things, each before those that follow it."""
    return [WORDS.transitive[base] for base in ORDERS[category].split()]


def effects_of(adjective: str) -> list[Verb]:
    """What somebody like that does."""
    return [WORDS.transitive.get(base) or INTRANSITIVE[base] for base in EFFECTS[adjective].split()]
