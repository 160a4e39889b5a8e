"""What follows from what in the demo world: orders of events, and what people do because of how they are."""

from datamodules.demo.lexicon import Verb, lexicon

WORDS = lexicon()

# what happens to a thing, by its class; a story tells some of it, always in this order
ORDERS = {
    "food": "buy bring wash peel cut cook decorate serve taste eat",
    "clothes": "choose buy bring sew wash iron wear pack send",
    "text": "write sign copy send receive open read translate burn",
    "tool": "borrow carry inspect sharpen polish use break repair hide",
    "vehicle": "build buy inspect load drive stop push repair park lock",
    "animal": "hear see hunt catch weigh feed train photograph free",
    "plant": "plant water photograph draw cut pick collect describe",
    "art": "choose learn play record hear describe show sell",
    "furniture": "build paint polish lift carry move clean open close lock",
    "person": "wake call meet recognise welcome accompany save reward",
}
# how a person is, and what the person does because of it
EFFECTS = {
    "hungry": "eat taste cook peel", "tired": "sleep dream", "happy": "laugh sing dance smile", "sad": "cry whisper",
    "angry": "shout break burn", "clever": "learn read translate", "brave": "hunt save free",
    "rich": "buy rent collect", "poor": "steal sell borrow", "lazy": "wait breathe", "sick": "cough tremble",
    "strong": "lift carry push", "curious": "open inspect study", "shy": "hide hesitate",
}  # fmt: skip
INTRANSITIVE = {verb.base: verb for verb in WORDS.intransitive}
ADJECTIVES = {adjective.english: adjective for adjective in WORDS.adjectives["person"]}
CONTRASTS = [pair for pair in sorted(WORDS.opposites.items()) if set(pair) <= set(EFFECTS)]


def order_of(category: str) -> list[Verb]:
    """The verbs of a class of things, each before those that follow it."""
    return [WORDS.transitive[base] for base in ORDERS[category].split()]


def effects_of(adjective: str) -> list[Verb]:
    """What somebody like that does."""
    return [WORDS.transitive.get(base) or INTRANSITIVE[base] for base in EFFECTS[adjective].split()]
