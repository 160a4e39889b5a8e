"""Pairs of clauses of the demo world that stand in a relation, with a connective or without.

Cause: how somebody is, then what follows from it. Condition: the same the other way round. Contrast: opposites of two
people. Time: two events of a script. Elaboration: an event, and the same with other details. Lengths and names do not
depend on the relation.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from datamodules.demo import english, world
from datamodules.demo.chance import Chance
from datamodules.demo.lexicon import WORDS
from datamodules.demo.meaning import Event, Place, Thing
from datamodules.text.sentences import capitalise

CLAUSE_LENGTHS = (5, 7)  # tokens of a clause: short enough for a state, long enough for an event with details
DETAIL_TOKENS = {"frequency": 1, "manner": 1, "time": 2, "city": 2, "place": 3}  # and their tokens
DETAIL_SETS = [  # details of one clause: one place at most
    names for count in range(4) for names in combinations(DETAIL_TOKENS, count) if not {"city", "place"} <= set(names)
]
EventPair = tuple[Event, Event]


class RelatedClauses(NamedTuple):
    """Two clauses, tokenised, and how they relate."""

    sense: str  # as the Penn Discourse Treebank calls it
    connective: str  # empty in an implicit relation
    first: str
    second: str

    @property
    def text(self) -> str:
        """Both in a sentence around the connective, or as two sentences."""
        if self.connective:
            return f"{capitalise(self.first)} , {self.connective} {self.second} ."
        return f"{capitalise(self.first)} . {capitalise(self.second)} ."


def relation(seed: int, split: str, number: int, explicit: bool) -> RelatedClauses:
    """The relation of (seed, split, number); all senses are equally likely."""
    chance = Chance("relation", "explicit" if explicit else "implicit", seed, split, number)
    sense = chance.choice(SENSES)
    first, second = clauses(Narrator(chance), sense)
    return RelatedClauses(sense, CONNECTIVES[sense] if explicit else "", first, second)


class Narrator:
    """Draws clauses about the people and things of one scene."""

    def __init__(self, chance: Chance) -> None:
        self.chance, self.scene = chance, world.new_scene(chance)
        self.sampler = world.ClauseSampler(chance, self.scene)
        self.tense = world.drawn_tense(chance)

    def person(self) -> Thing:
        """One person: the world says `is` and an adjective only of one."""
        return replace(self.sampler.who(size=0), plural=False, other=None, article="the")

    def detailed(self, event: Event, length: int) -> str:
        """The English clause with random details, `length` tokens long."""
        missing = length - len(english.leaves(english.clause(event)))
        fitting = [details for details in DETAIL_SETS if sum(DETAIL_TOKENS[detail] for detail in details) == missing]
        for detail in self.chance.choice([d for d in fitting if event.verb or "manner" not in d]):
            event = self._add_detail(event, detail)
        return " ".join(english.leaves(english.clause(event)))

    def _add_detail(self, event: Event, detail: str) -> Event:
        if detail in ("frequency", "manner"):
            return replace(event, **{detail: self.chance.zipf(getattr(WORDS, detail))})
        if detail == "time":
            return replace(event, time=self.sampler.time(event.tense))
        noun = self.chance.zipf(WORDS.cities) if detail == "city" else self.chance.choice(self.scene.topic.places)
        return replace(event, place=Place("in", Thing(noun=noun)))


def clauses(narrator: Narrator, sense: str) -> tuple[str, str]:
    """Two different clauses in the relation `sense`; their lengths are drawn first."""
    lengths = [narrator.chance.between(*CLAUSE_LENGTHS) for _ in range(2)]
    while True:
        events = RELATIONS[sense][2](narrator)
        first, second = (narrator.detailed(event, length) for event, length in zip(events, lengths, strict=True))
        if first != second:
            return first, second


def _cause(narrator: Narrator) -> EventPair:
    chance, person, adjective = narrator.chance, narrator.person(), narrator.chance.choice(list(world.EFFECTS))
    verb = chance.choice(world.effects_of(adjective))
    thing = Thing(noun=chance.zipf(WORDS.nouns[chance.choice(verb.objects)])) if verb.objects else None
    state = Event(person, None, narrator.tense, adjective=world.ADJECTIVES[adjective])
    return state, Event(person, verb, narrator.tense, object=thing)


def _contrast(narrator: Narrator) -> EventPair:
    adjectives = [world.ADJECTIVES[word] for word in narrator.chance.choice(world.CONTRASTS)]
    first, second = (Event(narrator.person(), None, narrator.tense, adjective=word) for word in adjectives)
    return first, second


def _time(narrator: Narrator) -> EventPair:
    chance, person, category = narrator.chance, narrator.person(), narrator.chance.choice(list(world.ORDERS))
    order, thing = world.order_of(category), Thing(noun=chance.zipf(WORDS.nouns[category]))
    earlier, later = sorted(chance.shuffled(range(len(order)))[:2])
    return Event(person, order[earlier], narrator.tense, thing), Event(person, order[later], narrator.tense, thing)


def _elaboration(narrator: Narrator) -> EventPair:
    chance, person, category = narrator.chance, narrator.person(), narrator.chance.choice(list(world.ORDERS))
    verb = chance.choice(world.order_of(category))
    event = Event(person, verb, narrator.tense, Thing(noun=chance.zipf(WORDS.nouns[category])))
    return event, event


# by sense: the connective, the label in a rhetorical tree, and what draws the two events
RELATIONS: dict[str, tuple[str, str, Callable[[Narrator], EventPair]]] = {
    "Contingency.Cause": ("so", "SN-Cause", _cause),
    "Contingency.Condition": ("if", "NS-Condition", lambda narrator: _cause(narrator)[::-1]),
    "Comparison.Contrast": ("but", "NN-Contrast", _contrast),
    "Temporal.Asynchronous": ("and then", "NN-Temporal", _time),
    "Expansion.Level-of-detail": ("that is ,", "NS-Elaboration", _elaboration),
}
SENSES = list(RELATIONS)
CONNECTIVES = {sense: connective for sense, (connective, *_) in RELATIONS.items()}
LABELS = {sense: label for sense, (_, label, _) in RELATIONS.items()}


class RhetoricalTree(NamedTuple):
    """A node: nuclearity and relation, and two subtrees or clauses (EDUs)."""

    label: str
    left: "RhetoricalTree | str"
    right: "RhetoricalTree | str"

    def nodes(self) -> Iterator[tuple[str, list[str], list[str]]]:
        """Each node's label and the EDUs on its two sides, top down."""
        yield self.label, edus(self.left), edus(self.right)
        for part in (self.left, self.right):
            if isinstance(part, RhetoricalTree):
                yield from part.nodes()


def edus(tree: RhetoricalTree | str) -> list[str]:
    """The clauses of a subtree in their order."""
    return [tree] if isinstance(tree, str) else edus(tree.left) + edus(tree.right)


def rhetorical_tree(seed: int, split: str, number: int) -> RhetoricalTree:
    """The tree of (seed, split, number): two to four units, one after the other, branching to the right."""
    chance = Chance("rhetoric", seed, split, number)
    units = []
    for _ in range(chance.between(2, 4)):
        narrator, sense = Narrator(chance), chance.choice(SENSES)
        units.append(RhetoricalTree(LABELS[sense], *clauses(narrator, sense)))
    tree = units[-1]
    for unit in reversed(units[:-1]):
        tree = RhetoricalTree("NN-Temporal", unit, tree)
    return tree
