"""German: verb second, verb-final subordinate clauses, case, and three adjective declensions; with dependencies."""

from typing import Literal, NamedTuple

from datamodules.demo.meaning import Event, Place, SentencePlan, Thing
from datamodules.demo.spoken import Spoken, comma, full_name, joined, marked_by, say, top, under

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
GENDERS = {"m": "Masc", "f": "Fem", "n": "Neut"}
CASES = {"nom": "Nom", "acc": "Acc", "dat": "Dat"}  # as treebanks name them
PRONOUNS = {"m": "er", "f": "sie", "n": "es"}
JOINED = {("in", "dem"): "im", ("an", "dem"): "am"}


class ClauseParts(NamedTuple):
    """The verb, the words between its two positions, and those behind; in one tree, the subject aside."""

    verb: list[Spoken]
    middle: list[Spoken]
    behind: list[Spoken]


def tidy(words: list[Spoken]) -> list[Spoken]:
    """Removes double commas, and a comma before the end; `in dem` becomes `im`."""
    done: list[Spoken] = []
    for word in words:
        if word in (",", ".", "?", ";", "''") and done and done[-1] == ",":
            done.pop()
        if done and (done[-1], word) in JOINED:
            done[-1] = joined(JOINED[done[-1], word], done[-1], word)
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


def marked(gender: str, case: Case, plural: bool) -> dict[str, str]:
    """The features of a noun and of what agrees with it."""
    return {"Case": CASES[case], "Gender": GENDERS[gender], "Number": "Plur" if plural else "Sing"}


def thing(t: Thing, case: Case) -> list[Spoken]:
    if t.pronoun:
        form = "sie" if t.many else PRONOUNS[_gender(t)]
        return say(form, "PRON", Case=CASES[case], Number="Plur" if t.many else "Sing", Person="3")
    if t.other:
        alone = thing(Thing(noun=t.noun, name=t.name, article=t.article, adjective=t.adjective), case)
        other = thing(t.other, case)
        other = [*under(say("und", "CCONJ"), top(other), "cc"), *other]
        return [*alone, *under(other, top(alone), "conj")]
    said = full_name([part for part in (t.name.given, t.name.surname) if part]) if t.name else _noun(t, case)
    noun = top(said)
    said = [*said, *under(place(t.place), noun, "nmod")] if t.place else said
    if t.relative:
        inner = _verb_last(t.relative)
        which = THE["pl" if t.many else _gender(t)]["nom"]
        inner = [comma(), *under(say(which, "PRON", PronType="Rel"), top(inner), "nsubj"), *inner, comma()]
        said = [*said, *under(under(inner, top(inner), "punct"), noun, "acl:relcl")]
    return said


def _gender(t: Thing) -> str:
    if t.name:
        return "f" if t.name.woman else "m"
    return t.noun.german[0] if t.noun else "m"


def _noun(t: Thing, case: Case) -> list[Spoken]:
    assert t.noun is not None
    gender, singular, plural, weak = t.noun.german
    if t.noun.kind == "city":
        return say(singular, "PROPN")
    agreeing = marked(gender, case, t.plural)
    if t.plural:
        word = plural + ("n" if case == "dat" and plural[-1] not in "ns" else "")
        gender = "pl"
    else:
        word = plural if weak and case != "nom" else singular
    noun = say(word, "NOUN", **agreeing)
    said = []
    if t.owner:
        owner = t.owner.given + ("'" if t.owner.given[-1] in "sxz" else "s")
        said = under(say(owner, "PROPN", Case="Gen"), noun[0].node, "nmod:poss")
    elif article := _article(t, gender, case):
        said = under(say(article, "DET", **agreeing), noun[0].node, "det")
    if t.adjective:
        stem = STEMS.get(t.adjective.german, t.adjective.german).removesuffix("e")
        said += under(say(stem + ending(t, gender, case), "ADJ", **agreeing), noun[0].node, "amod")
    return [*said, *noun]


def _article(t: Thing, gender: str, case: Case) -> str:
    if t.article == "several":
        return "mehreren" if case == "dat" else "mehrere"
    if t.article == "a":
        return "" if t.plural else A[gender][case]
    return (THE if t.article == "the" else THIS)[gender][case]


def place(p: Place) -> list[Spoken]:
    said = thing(p.thing, "dat")
    relations = {"in": "in", "on": "auf", "with": "mit", "behind": "hinter", "near": "neben"}
    return [*under(say(relations[p.relation], "ADP"), top(said), "case"), *said]


def finite(e: Event) -> str:
    many, past = e.subject.many, e.tense == "past" or e.aspect == "perfect"
    if e.verb is None:
        return ("waren" if many else "war") if past else ("sind" if many else "ist")
    infinitive, present, preterite = e.verb.german
    if past:
        return preterite + ("n" if preterite.endswith("e") else "en") if many else preterite
    return infinitive if many else present


def _parts(e: Event) -> ClauseParts:
    many, past = e.subject.many, e.tense == "past" or e.aspect == "perfect"
    agreeing = {"Mood": "Ind", "Number": "Plur" if many else "Sing", "Person": "3", "VerbForm": "Fin"}
    verb = say(finite(e), "VERB" if e.verb else "AUX", Tense="Past" if past else "Pres", **agreeing)
    describing = say(e.adjective.german, "ADJ") if e.adjective else []
    head = top(describing or verb)
    under(verb, head, "cop")
    there = under(place(e.place), head, "obl") if e.place else []
    said = say(e.time.german, "ADV") if e.time else []
    said += say(e.frequency.german, "ADV") if e.frequency else []
    said += under(thing(e.object, "acc"), head, "obj") if e.object else []
    said += [] if e.object else there
    said += say("nicht", "PART") if e.negated else []
    said += say(e.manner.german, "ADV") if e.manner else []
    said += there if e.object else []
    behind = under(marked_by("dass", _final(e.said), commas=True), head, "ccomp") if e.said else []
    if e.because:
        word, inner = e.because
        behind += under(marked_by(conjunction(word, inner), _final(inner), commas=True), head, "advcl")
    return ClauseParts(verb, [*under(said, head, "advmod"), *describing], behind)


def conjunction(word: str, e: Event) -> str:
    if word == "when":
        return "als" if e.tense == "past" else "wenn"
    return CONJUNCTIONS[word]


def _subject(e: Event, rest: list[Spoken]) -> list[Spoken]:
    return under(thing(e.subject, "nom"), top(rest), "nsubj")


def _verb_last(e: Event) -> list[Spoken]:
    verb, middle, behind = _parts(e)
    return [*middle, *verb, *behind]


def _final(e: Event) -> list[Spoken]:
    rest = _verb_last(e)
    return [*_subject(e, rest), *rest]


def predicate(e: Event) -> list[Spoken]:
    """The verb and what is behind it."""
    verb, middle, behind = _parts(e)
    return [*verb, *middle, *behind]


def main(e: Event) -> list[Spoken]:
    rest = predicate(e)
    return [*_subject(e, rest), *rest]


def inverted(e: Event) -> list[Spoken]:
    """The clause with its verb before the subject."""
    rest = predicate(e)
    return [rest[0], *_subject(e, rest), *rest[1:]]


def sentence(s: SentencePlan) -> list[Spoken]:
    """The whole sentence; its words have their heads."""
    first, pattern = s.events[0], s.pattern.removesuffix(" comma")
    verb_first = pattern in ("adverb", "time", "place", "subordinate first", "yes-no", "why", "where")
    said = predicate(first) if pattern == "who" else inverted(first) if verb_first else main(first)
    root = top(said)
    if pattern in ("adverb", "time"):
        assert s.word is not None
        said = [*under(say(s.word.german, "ADV"), root, "advmod"), *said]
    elif pattern == "place":
        assert s.place is not None
        said = [*under(place(s.place), root, "obl"), *said]
    elif pattern == "interjection":
        assert s.word is not None
        said = [*under([*say(s.word.german, "INTJ"), comma()], root, "discourse"), *said]
    elif pattern == "subordinate first":
        assert s.link is not None
        inner = marked_by(conjunction(s.link, s.events[1]), _final(s.events[1]))
        said = [*under([*inner, comma()], root, "advcl"), *said]
    elif pattern == "coordination":
        assert s.link is not None
        other = main(s.events[1])
        pause = [comma()] if s.pattern.endswith(" comma") or s.link != "and" else []
        link = under([*pause, *say(LINKS[s.link], "CCONJ")], top(other), "cc")
        said = [*said, *under([*link, *other], root, "conj")]
    elif pattern == "semicolon":
        said = [*said, *under([*say(";", "PUNCT"), *main(s.events[1])], root, "parataxis")]
    elif pattern == "reporting clause last":
        said = [*said, *under([comma(), *inverted(s.events[1])], root, "parataxis")]
    elif pattern == "quotation":
        told = [*say("“", "PUNCT"), comma(), *inverted(s.events[1])]
        said = [*under(say("„", "PUNCT"), root, "punct"), *said, *under(told, root, "parataxis")]
    elif pattern in ("who", "why", "where"):
        asked = {"who": "wer", "why": "warum", "where": "wo"}[pattern]
        relation, part = ("nsubj", "PRON") if pattern == "who" else ("advmod", "ADV")
        said = [*under(say(asked, part), root, relation), *said]
    opener = under(say(LINKS[s.opener], "CCONJ"), root, "cc") if s.opener else []
    end = under(say("?" if pattern in ("yes-no", "who", "why", "where") else ".", "PUNCT"), root, "punct")
    return tidy([*opener, *said, *end])
