"""What follows from what in the demo world: orders of events, and what people do because of how they are."""

from datamodules.demo.lexicon import Verb, lexicon, rows
from datamodules.demo.word_lists import sections

WORDS = lexicon()
ORDERS = dict(rows(sections("verbs")["orders"]))
EFFECTS = dict(rows(sections("verbs")["effects"]))
INTRANSITIVE = {verb.base: verb for verb in WORDS.intransitive}
ADJECTIVES = {adjective.english: adjective for adjective in WORDS.adjectives["person"]}
CONTRASTS = [pair for pair in sorted(WORDS.opposites.items()) if set(pair) <= set(EFFECTS)]


def order_of(category: str) -> list[Verb]:
    """The verbs of a class of things, each before those that follow it."""
    return [WORDS.transitive[base] for base in ORDERS[category].split()]


def effects_of(adjective: str) -> list[Verb]:
    """What somebody like that does."""
    return [WORDS.transitive.get(base) or INTRANSITIVE[base] for base in EFFECTS[adjective].split()]
