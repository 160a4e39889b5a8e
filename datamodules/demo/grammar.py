"""Sentence patterns: turns clauses of the demo world into whole sentences."""

from dataclasses import replace

from datamodules.demo import english, finnish, french, german
from datamodules.demo.chance import Chance
from datamodules.demo.lexicon import WORDS
from datamodules.demo.meaning import QUESTIONS, Event, Place, SentencePlan, Thing
from datamodules.demo.spoken import Spoken, tree_of_words
from datamodules.demo.world import ClauseSampler, Scene
from datamodules.trees.conllu import DependencyTree

MAX_WORDS, MIN_WORDS = 28, 5
PATTERNS = [
    ("plain", 24.0), ("coordination", 5.0), ("coordination comma", 7.0), ("subordinate first", 5.0), ("adverb", 4.0),
    ("adverb comma", 4.0), ("place comma", 4.5), ("place", 2.5), ("time comma", 3.0), ("time", 2.5),
    ("adverb between", 4.0), ("interjection", 3.5), ("semicolon", 3.5), ("reporting clause last", 3.5),
    ("quotation", 3.5), ("yes-no", 5.0), ("who", 3.0), ("why", 3.0), ("where", 2.5),
]  # fmt: skip
ALOUD_VERBS = [verb for verb in WORDS.saying if verb.base in ("say", "explain", "claim", "report", "admit")]
SINGLE_CLAUSE = {"plain", "adverb", "adverb comma", "place comma", "time comma", "interjection", "subordinate first"}


def draw_plan(chance: Chance, scene: Scene) -> SentencePlan:
    """A plan of a sentence of 5 to 28 words about the scene."""
    sampler = ClauseSampler(chance, scene)
    size = chance.weighted([(0.35, 3.0), (0.9, 4.0), (1.6, 2.2), (2.4, 1.2), (3.6, 1.0)])
    pattern = chance.weighted(PATTERNS)
    while True:
        plan = _compose(sampler, pattern, size)
        if MIN_WORDS <= len(english.sentence(plan)) <= MAX_WORDS:
            return plan
        size *= 0.8 if size > 0.5 else 1.5


def _compose(sampler: ClauseSampler, pattern: str, size: float) -> SentencePlan:
    chance = sampler.chance
    if pattern == "adverb between":
        event = sampler.event(size) if chance.often(0.7) else sampler.idle(size)
        if event.verb is None or event.negated or event.frequency:
            event = sampler.event(size)
        return SentencePlan(pattern, (replace(event, frequency=chance.zipf(WORDS.frequency), aspect="simple"),))
    first = _first(sampler, size)
    opener = chance.zipf(["but", "and", "yet"]) if pattern in SINGLE_CLAUSE and chance.often(0.14) else None
    if pattern.startswith(("adverb", "time")):
        table = WORDS.opening if pattern.startswith("adverb") else WORDS.times
        word = chance.zipf([w for w in table if w.tense in ("any", first.tense)])
        if word.tense != "any" or pattern.startswith("time"):
            first = replace(first, time=None, frequency=None, aspect="simple")
        return SentencePlan(pattern, (first,), word=word, opener=opener)
    if pattern.startswith("place"):
        return SentencePlan(pattern, (replace(first, place=None),), place=Place("in", sampler.where()), opener=opener)
    if pattern == "interjection":
        return SentencePlan(pattern, (first,), word=chance.zipf(WORDS.interjections))
    if pattern == "subordinate first":
        # the name comes first, in the subordinate clause, and the pronoun after it
        cause = sampler.event(size * 0.6) if chance.often(0.5) else sampler.idle(size * 0.6)
        effect = sampler.follow(cause, size * 0.7)
        return SentencePlan(pattern, (effect, cause), link=chance.zipf(list(WORDS.conjunctions)), opener=opener)
    if pattern in ("coordination", "coordination comma", "semicolon"):
        start, then = _two_clauses(sampler, size * 0.7)
        return SentencePlan(pattern, (start, then), link=chance.zipf(["and", "but", "yet"]))
    if pattern in ("reporting clause last", "quotation"):
        speaker = Event(sampler.who(size=size * 0.5), chance.zipf(ALOUD_VERBS), sampler.tense())
        inner = sampler.event(size * 0.8) if chance.often(0.6) else sampler.idle(size * 0.8)
        return SentencePlan(pattern, (inner, speaker))
    if pattern in QUESTIONS:
        return _question(sampler, pattern, size)
    return SentencePlan("plain", (first,), opener=opener)


def _two_clauses(sampler: ClauseSampler, size: float) -> tuple[Event, Event]:
    """A clause and the one after it. Both may begin with a pronoun or a name, so words alone do not show the order."""
    chance = sampler.chance
    start = sampler.event(size) if chance.often(0.75) else sampler.idle(size)
    then = sampler.follow(start, size)
    mentioned = chance.often(0.45)
    if mentioned:
        start = replace(start, subject=replace(start.subject, pronoun=True, relative=None, place=None))
    if then.verb and chance.often(0.55 if mentioned else 0.7):
        then = replace(then, subject=sampler.who(then.verb, size))
    return start, then


def _first(sampler: ClauseSampler, size: float) -> Event:
    content = sampler.chance.weighted([("event", 6.0), ("idle", 3.0), ("saying", 2.2)])
    if content == "saying":
        return sampler.saying(size)
    event = sampler.event(size) if content == "event" else sampler.idle(size)
    return sampler.because(event, size) if sampler.chance.often(0.16 * size) else event


def _question(sampler: ClauseSampler, pattern: str, size: float) -> SentencePlan:
    event = sampler.event(size * 0.8)
    if sampler.chance.often(0.3):
        idle = sampler.idle(size * 0.8)
        event = idle if idle.verb else event
    event = replace(event, negated=False, aspect="simple", frequency=None)
    if pattern == "who":
        event = replace(event, subject=Thing(name=None, noun=WORDS.nouns["person"][0]))
    if pattern == "where":
        event = replace(event, place=None)
    return SentencePlan(pattern, (event,))


def words_of(plan: SentencePlan, language: str) -> str:
    """The sentence in a language: tokens with single spaces."""
    return " ".join(english.sentence(plan) if language == "en" else map(str, _spoken_words(plan, language)))


def dependencies_of(plan: SentencePlan, language: str) -> DependencyTree:
    """The dependency tree of the French, German or Finnish sentence."""
    return tree_of_words(_spoken_words(plan, language))


def _spoken_words(plan: SentencePlan, language: str) -> list[Spoken]:
    words = {"fr": french, "de": german, "fi": finnish}[language].sentence(plan)
    first = next(word for word in words if word.text not in ("«", "„", "”"))
    first.text = first.text[:1].upper() + first.text[1:]
    return words
