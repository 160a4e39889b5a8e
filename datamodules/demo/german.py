"""German: verb second, verb-final subordinate clauses, case, and three adjective declensions."""

from typing import Literal

from datamodules.demo.meaning import Event, Place, SentencePlan, Thing

Case = Literal["nom", "acc", "dat"]
LINKS = {"and": "und", "but": "aber", "yet": "doch"}
CONJUNCTIONS = {
    "because": "weil",
    "although": "obwohl",
    "while": "während",
    "if": "wenn",
    "since": "da",
    "after": "nachdem",
}
THE = {
    "m": {"nom": "der", "acc": "den", "dat": "dem"},
    "f": {"nom": "die", "acc": "die", "dat": "der"},
    "n": {"nom": "das", "acc": "das", "dat": "dem"},
    "pl": {"nom": "die", "acc": "die", "dat": "den"},
}
THIS = {
    "m": {"nom": "dieser", "acc": "diesen", "dat": "diesem"},
    "f": {"nom": "diese", "acc": "diese", "dat": "dieser"},
    "n": {"nom": "dieses", "acc": "dieses", "dat": "diesem"},
    "pl": {"nom": "diese", "acc": "diese", "dat": "diesen"},
}
A = {
    "m": {"nom": "ein", "acc": "einen", "dat": "einem"},
    "f": {"nom": "eine", "acc": "eine", "dat": "einer"},
    "n": {"nom": "ein", "acc": "ein", "dat": "einem"},
}
STRONG = {
    "m": {"nom": "er", "acc": "en", "dat": "em"},
    "f": {"nom": "e", "acc": "e", "dat": "er"},
    "n": {"nom": "es", "acc": "es", "dat": "em"},
    "pl": {"nom": "e", "acc": "e", "dat": "en"},
}
STEMS = {"teuer": "teur", "dunkel": "dunkl"}
PRONOUNS = {"m": "er", "f": "sie", "n": "es"}
JOINED = {("in", "dem"): "im", ("an", "dem"): "am"}


def tidy(words: list[str]) -> list[str]:
    """Removes double commas, and a comma before the end; `in dem` becomes `im`."""
    done: list[str] = []
    for word in words:
        if word in (",", ".", "?", ";", "''") and done and done[-1] == ",":
            done.pop()
        if done and (done[-1], word) in JOINED:
            done[-1] = JOINED[done[-1], word]
        else:
            done.append(word)
    return done


def ending(t: Thing, gender: str, case: Case) -> str:
    """The ending of an adjective after the article of the phrase."""
    if t.owner or (t.plural and t.article in ("a", "several")):
        return STRONG[gender][case]
    if t.article == "a":
        return STRONG[gender][case] if case == "nom" or (case == "acc" and gender != "m") else "en"
    return "en" if gender == "pl" or case == "dat" or (case == "acc" and gender == "m") else "e"


def thing(t: Thing, case: Case) -> list[str]:
    if t.pronoun:
        return ["sie" if t.many else PRONOUNS[_gender(t)]]
    if t.other:
        alone = Thing(noun=t.noun, name=t.name, article=t.article, adjective=t.adjective)
        return [*thing(alone, case), "und", *thing(t.other, case)]
    said = [part for part in (t.name.given, t.name.surname) if part] if t.name else _noun(t, case)
    said += place(t.place) if t.place else []
    if t.relative:
        gender = "pl" if t.many else _gender(t)
        said += [",", THE[gender]["nom"], *_verb_last(t.relative), ","]
    return said


def _gender(t: Thing) -> str:
    if t.name:
        return "f" if t.name.woman else "m"
    return t.noun.german[0] if t.noun else "m"


def _noun(t: Thing, case: Case) -> list[str]:
    assert t.noun is not None
    gender, singular, plural, weak = t.noun.german
    if t.noun.kind == "city":
        return [singular]
    if t.plural:
        word = plural + ("n" if case == "dat" and plural[-1] not in "ns" else "")
        gender = "pl"
    else:
        word = plural if weak and case != "nom" else singular
    said = []
    if t.owner:
        said = [t.owner.given + ("'" if t.owner.given[-1] in "sxz" else "s")]
    elif t.article == "several":
        said = ["mehreren" if case == "dat" else "mehrere"]
    elif t.article == "a":
        said = [] if t.plural else [A[gender][case]]
    else:
        said = [(THE if t.article == "the" else THIS)[gender][case]]
    if t.adjective:
        stem = STEMS.get(t.adjective.german, t.adjective.german).removesuffix("e")
        said.append(stem + ending(t, gender, case))
    return [*said, word]


def place(p: Place) -> list[str]:
    relations = {"in": "in", "on": "auf", "with": "mit", "behind": "hinter", "near": "neben"}
    return [relations[p.relation], *thing(p.thing, "dat")]


def finite(e: Event) -> str:
    many, past = e.subject.many, e.tense == "past" or e.aspect == "perfect"
    if e.verb is None:
        return ("waren" if many else "war") if past else ("sind" if many else "ist")
    infinitive, present, preterite = e.verb.german
    if past:
        return preterite + ("n" if preterite.endswith("e") else "en") if many else preterite
    return infinitive if many else present


def _middle(e: Event) -> list[str]:
    """The words between the two positions of the verb."""
    said = e.time.german.split() if e.time else []
    said += e.frequency.german.split() if e.frequency else []
    said += thing(e.object, "acc") if e.object else []
    said += [] if e.object or not e.place else place(e.place)
    said += ["nicht"] if e.negated else []
    said += e.manner.german.split() if e.manner else []
    said += place(e.place) if e.object and e.place else []
    said += [e.adjective.german] if e.adjective else []
    return said


def _behind(e: Event) -> list[str]:
    said = [",", "dass", *_final(e.said), ","] if e.said else []
    if e.because:
        said += [",", conjunction(e.because[0], e.because[1]), *_final(e.because[1]), ","]
    return said


def conjunction(word: str, e: Event) -> str:
    if word == "when":
        return "als" if e.tense == "past" else "wenn"
    return CONJUNCTIONS[word]


def _verb_last(e: Event) -> list[str]:
    return [*_middle(e), finite(e), *_behind(e)]


def _final(e: Event) -> list[str]:
    return [*thing(e.subject, "nom"), *_verb_last(e)]


def main(e: Event) -> list[str]:
    return [*thing(e.subject, "nom"), finite(e), *_middle(e), *_behind(e)]


def inverted(e: Event) -> list[str]:
    """The clause with its verb before the subject."""
    return [finite(e), *thing(e.subject, "nom"), *_middle(e), *_behind(e)]


def sentence(s: SentencePlan) -> list[str]:
    """The whole sentence."""
    first, pattern = s.events[0], s.pattern.removesuffix(" comma")
    said = main(first)
    end = "."
    if pattern in ("adverb", "time"):
        assert s.word is not None
        said = [*s.word.german.split(), *inverted(first)]
    elif pattern == "place":
        assert s.place is not None
        said = [*place(s.place), *inverted(first)]
    elif pattern == "interjection":
        assert s.word is not None
        said = [s.word.german, ",", *said]
    elif pattern == "subordinate first":
        assert s.link is not None
        said = [conjunction(s.link, s.events[1]), *_final(s.events[1]), ",", *inverted(first)]
    elif pattern == "coordination":
        assert s.link is not None
        comma = [","] if s.pattern.endswith(" comma") or s.link != "and" else []
        said = [*said, *comma, LINKS[s.link], *main(s.events[1])]
    elif pattern == "semicolon":
        said = [*said, ";", *main(s.events[1])]
    elif pattern == "reporting clause last":
        said = [*said, ",", *inverted(s.events[1])]
    elif pattern == "quotation":
        said = ["„", *said, "“", ",", *inverted(s.events[1])]
    elif pattern in ("yes-no", "who", "why", "where"):
        asked = {"yes-no": [], "why": ["warum"], "where": ["wo"]}
        said = (
            ["wer", finite(first), *_middle(first), *_behind(first)]
            if pattern == "who"
            else [*asked[pattern], *inverted(first)]
        )
        end = "?"
    return tidy([*([LINKS[s.opener]] if s.opener else []), *said, end])
