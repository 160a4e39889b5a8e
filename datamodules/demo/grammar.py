"""Sentence patterns: how clauses of the world become whole sentences."""

from dataclasses import replace

from datamodules.demo import english, finnish, french, german
from datamodules.demo.chance import Chance
from datamodules.demo.lexicon import lexicon
from datamodules.demo.meaning import Event, Place, Saying, Thing
from datamodules.demo.world import FURTHER, Scene, Teller

WORDS = lexicon()
LONGEST, SHORTEST = 28, 5
PATTERNS = [
    ("plain", 24.0),
    ("coordination", 5.0),
    ("coordination comma", 7.0),
    ("subordinate first", 5.0),
    ("adverb", 4.0),
    ("adverb comma", 4.0),
    ("place comma", 4.5),
    ("place", 2.5),
    ("time comma", 3.0),
    ("time", 2.5),
    ("adverb between", 4.0),
    ("interjection", 3.5),
    ("semicolon", 3.5),
    ("said behind", 3.5),
    ("quotation", 3.5),
    ("yes-no", 5.0),
    ("who", 3.0),
    ("why", 3.0),
    ("where", 2.5),
]
ALOUD = [verb for verb in WORDS.saying if verb.base in ("say", "explain", "claim", "report", "admit")]
SINGLE = {"plain", "adverb", "adverb comma", "place comma", "time comma", "interjection", "subordinate first"}


def draw(chance: Chance, scene: Scene) -> Saying:
    """A sentence of 5 to 28 words about the scene."""
    teller = Teller(chance, scene)
    size = chance.weighted([(0.35, 3.0), (0.9, 4.0), (1.6, 2.2), (2.4, 1.2), (3.6, 1.0)])
    pattern = chance.weighted(PATTERNS)
    while True:
        said = _compose(teller, pattern, size)
        if SHORTEST <= len(english.leaves(english.tree(said))) <= LONGEST:
            return said
        size *= 0.8 if size > 0.5 else 1.5


def _compose(teller: Teller, pattern: str, size: float) -> Saying:
    chance = teller.chance
    if pattern == "adverb between":
        event = teller.event(size) if chance.often(0.7) else teller.idle(size)
        if event.verb is None or event.negated or event.frequency:
            event = teller.event(size)
        return Saying(pattern, (replace(event, frequency=chance.zipf(WORDS.frequency), aspect="simple"),))
    first = _first(teller, size)
    opener = chance.zipf(["but", "and", "yet"]) if pattern in SINGLE and chance.often(0.14) else None
    if pattern.startswith(("adverb", "time")):
        table = WORDS.opening if pattern.startswith("adverb") else WORDS.times
        word = chance.zipf([w for w in table if w.tense in ("any", first.tense)])
        if word.tense != "any" or pattern.startswith("time"):
            first = replace(first, time=None, frequency=None, aspect="simple")
        return Saying(pattern, (first,), word=word, opener=opener)
    if pattern.startswith("place"):
        return Saying(pattern, (replace(first, place=None),), place=_opening_place(teller), opener=opener)
    if pattern == "interjection":
        return Saying(pattern, (first,), word=chance.zipf(WORDS.interjections))
    if pattern == "subordinate first":
        # the name comes first, in the subordinate clause, and the pronoun after it
        cause = teller.event(size * 0.6) if chance.often(0.5) else teller.idle(size * 0.6)
        effect = teller.follow(cause, size * 0.7)
        return Saying(pattern, (effect, cause), link=chance.zipf(FURTHER), opener=opener)
    if pattern in ("coordination", "coordination comma", "semicolon"):
        start, then = _two_clauses(teller, size * 0.7)
        return Saying(pattern, (start, then), link=chance.zipf(["and", "but", "yet"]))
    if pattern in ("said behind", "quotation"):
        speaker = Event(teller.who(size=size * 0.5), chance.zipf(ALOUD), teller.tense())
        inner = teller.event(size * 0.8) if chance.often(0.6) else teller.idle(size * 0.8)
        return Saying(pattern, (inner, speaker))
    if pattern in ("yes-no", "who", "why", "where"):
        return _question(teller, pattern, size)
    return Saying("plain", (first,), opener=opener)


def _two_clauses(teller: Teller, size: float) -> tuple[Event, Event]:
    """A clause and what follows it. Either may open with a pronoun or a name, so words alone do not tell the order."""
    chance = teller.chance
    start = teller.event(size) if chance.often(0.75) else teller.idle(size)
    then = teller.follow(start, size)
    mentioned = chance.often(0.45)
    if mentioned:
        start = replace(start, subject=replace(start.subject, pronoun=True, relative=None, place=None))
    if then.verb and chance.often(0.55 if mentioned else 0.7):
        then = replace(then, subject=teller.who(then.verb, size))
    return start, then


def _first(teller: Teller, size: float) -> Event:
    kind = teller.chance.weighted([("event", 6.0), ("idle", 3.0), ("saying", 2.2)])
    if kind == "saying":
        return teller.saying(size)
    event = teller.event(size) if kind == "event" else teller.idle(size)
    return teller.because(event, size) if teller.chance.often(0.16 * size) else event


def _opening_place(teller: Teller) -> Place:
    return Place("in", teller.where())


def _question(teller: Teller, pattern: str, size: float) -> Saying:
    event = teller.event(size * 0.8)
    if teller.chance.often(0.3):
        idle = teller.idle(size * 0.8)
        event = idle if idle.verb else event
    event = replace(event, negated=False, aspect="simple", frequency=None)
    if pattern == "who":
        event = replace(event, subject=Thing(name=None, noun=WORDS.nouns["person"][0]))
    if pattern == "where":
        event = replace(event, place=None)
    return Saying(pattern, (event,))


def words_of(said: Saying, language: str) -> str:
    """The sentence in a language: tokens with single spaces."""
    if language == "en":
        return " ".join(english.leaves(english.tree(said)))
    tokens = {"fr": french, "de": german, "fi": finnish}[language].sentence(said)
    first = next(i for i, token in enumerate(tokens) if token not in ("«", "„", "”"))
    tokens[first] = tokens[first][:1].upper() + tokens[first][1:]
    return " ".join(tokens)


def tree_of(said: Saying) -> str:
    """The English sentence's tree on one line."""
    return english.render(english.tree(said))
