"""German: verb second, verb-final subordinate clauses, case, and three adjective declensions; with dependencies."""

from typing import Literal

from datamodules.demo import spoken
from datamodules.demo.lexicon import WORDS
from datamodules.demo.meaning import Event, Place, SentencePlan, Thing
from datamodules.demo.spoken import Language, Spoken, comma, coordinated, full_name, marked_by, say, tidy, top, under

Case = Literal["nom", "acc", "dat"]
CASES: dict[Case, str] = {"nom": "Nom", "acc": "Acc", "dat": "Dat"}  # as treebanks name them


def _forms(**by_gender: str) -> dict[str, dict[Case, str]]:
    """The forms of nominative, accusative and dative, by gender or plural."""
    return {gender: dict(zip(CASES, forms.split(), strict=True)) for gender, forms in by_gender.items()}


THE = _forms(m="der den dem", f="die die der", n="das das dem", pl="die die den")
THIS = _forms(m="dieser diesen diesem", f="diese diese dieser", n="dieses dieses diesem", pl="diese diese diesen")
A = _forms(m="ein einen einem", f="eine eine einer", n="ein ein einem")
STRONG = _forms(m="er en em", f="e e er", n="es es em", pl="e e en")
STEMS = {"teuer": "teur", "dunkel": "dunkl"}
GENDERS = {"m": "Masc", "f": "Fem", "n": "Neut"}
PRONOUNS = {"m": "er", "f": "sie", "n": "es"}
CONTRACTIONS = {("in", "dem"): "im"}


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
        return coordinated(thing(t.alone, case), "und", thing(t.other, case))
    words = full_name(t.name.parts) if t.name else _noun(t, case)
    noun = top(words)
    words = [*words, *under(place(t.place), noun, "nmod")] if t.place else words
    if t.relative:
        inner = predicate(t.relative, final=True)
        which = THE["pl" if t.many else _gender(t)]["nom"]
        inner = [comma(), *under(say(which, "PRON", PronType="Rel"), top(inner), "nsubj"), *inner, comma()]
        words = [*words, *under(under(inner, top(inner), "punct"), noun, "acl:relcl")]
    return words


def _gender(t: Thing) -> str:
    if t.name:
        return "f" if t.name.woman else "m"
    return t.noun.german[0] if t.noun else "m"


def _noun(t: Thing, case: Case) -> list[Spoken]:
    assert t.noun is not None
    gender, singular, plural, weak = t.noun.german
    if t.noun.category == "city":
        return say(singular, "PROPN")
    agreeing = marked(gender, case, t.plural)
    if t.plural:
        word = plural + ("n" if case == "dat" and plural[-1] not in "ns" else "")
        gender = "pl"
    else:
        word = plural if weak and case != "nom" else singular
    noun = say(word, "NOUN", **agreeing)
    words = []
    if t.owner:
        owner = t.owner.forename + ("'" if t.owner.forename[-1] in "sxz" else "s")
        words = under(say(owner, "PROPN", Case="Gen"), noun[0], "nmod:poss")
    elif article := _article(t, gender, case):
        words = under(say(article, "DET", **agreeing), noun[0], "det")
    if t.adjective:
        stem = STEMS.get(t.adjective.german, t.adjective.german).removesuffix("e")
        words += under(say(stem + ending(t, gender, case), "ADJ", **agreeing), noun[0], "amod")
    return [*words, *noun]


def _article(t: Thing, gender: str, case: Case) -> str:
    if t.article == "several":
        return "mehreren" if case == "dat" else "mehrere"
    if t.article == "a":
        return "" if t.plural else A[gender][case]
    return (THE if t.article == "the" else THIS)[gender][case]


def place(p: Place) -> list[Spoken]:
    words = thing(p.thing, "dat")
    relations = {"in": "in", "on": "auf", "behind": "hinter", "near": "neben"}
    return [*under(say(relations[p.relation], "ADP"), top(words), "case"), *words]


def finite(e: Event) -> str:
    many, past = e.subject.many, e.tense == "past" or e.aspect == "perfect"
    if e.verb is None:
        return ("waren" if many else "war") if past else ("sind" if many else "ist")
    infinitive, present, preterite = e.verb.german
    if past:
        return preterite + ("n" if preterite.endswith("e") else "en") if many else preterite
    return infinitive if many else present


def _parts(e: Event) -> tuple[list[Spoken], list[Spoken], list[Spoken]]:
    """The verb, the words between its two positions, and those behind; in one tree, the subject aside."""
    many, past = e.subject.many, e.tense == "past" or e.aspect == "perfect"
    agreeing = {"Mood": "Ind", "Number": "Plur" if many else "Sing", "Person": "3", "VerbForm": "Fin"}
    verb = say(finite(e), "VERB" if e.verb else "AUX", Tense="Past" if past else "Pres", **agreeing)
    describing = say(e.adjective.german, "ADJ") if e.adjective else []
    head = top(describing or verb)
    under(verb, head, "cop")
    location = under(place(e.place), head, "obl") if e.place else []
    words = say(e.time.german, "ADV") if e.time else []
    words += say(e.frequency.german, "ADV") if e.frequency else []
    words += under(thing(e.object, "acc"), head, "obj") if e.object else []
    words += [] if e.object else location
    words += say("nicht", "PART") if e.negated else []
    words += say(e.manner.german, "ADV") if e.manner else []
    words += location if e.object else []
    said = clause(e.complement, final=True) if e.complement else []
    behind = under(marked_by("dass", said, commas=True), head, "ccomp") if said else []
    if e.because:
        word, inner = e.because
        behind += under(marked_by(conjunction(word, inner), clause(inner, final=True), commas=True), head, "advcl")
    return verb, [*under(words, head, "advmod"), *describing], behind


def conjunction(word: str, e: Event) -> str:
    return "als" if (word, e.tense) == ("when", "past") else WORDS.conjunctions[word].german


def _subject(e: Event, rest: list[Spoken]) -> list[Spoken]:
    return under(thing(e.subject, "nom"), top(rest), "nsubj")


def predicate(e: Event, final: bool = False) -> list[Spoken]:
    """The clause without its subject; `final`: of a subordinate clause, with the verb last."""
    verb, middle, behind = _parts(e)
    return [*middle, *verb, *behind] if final else [*verb, *middle, *behind]


def clause(e: Event, final: bool = False) -> list[Spoken]:
    rest = predicate(e, final)
    return [*_subject(e, rest), *rest]


def inverted(e: Event) -> list[Spoken]:
    """The clause with its verb before the subject."""
    rest = predicate(e)
    return [rest[0], *_subject(e, rest), *rest[1:]]


GERMAN = Language(
    "german",
    ("„", "“"),
    {"who": ["wer"], "yes-no": [], "why": ["warum"], "where": ["wo"]},
    place,
    clause,
    inverted,
    lambda word, event: [*marked_by(conjunction(word, event), clause(event, final=True)), comma()],
)
VERB_FIRST = ("adverb", "time", "place", "subordinate first", "yes-no", "why", "where")


def sentence(s: SentencePlan) -> list[Spoken]:
    """The whole sentence; its words have their heads."""
    pattern = s.pattern.removesuffix(" comma")
    first = (predicate if pattern == "who" else inverted if pattern in VERB_FIRST else clause)(s.events[0])
    pause = pattern == "coordination" and (pattern != s.pattern or s.link != "and")
    return tidy(spoken.sentence(s, first, GERMAN, pause), CONTRACTIONS)
