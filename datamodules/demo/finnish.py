"""Finnish: case endings on one stem, vowel harmony, agreement, the negative verb; with dependencies."""

from datamodules.demo import spoken
from datamodules.demo.lexicon import VOWELS, WORDS
from datamodules.demo.meaning import Event, Place, SentencePlan, Thing
from datamodules.demo.spoken import Language, Spoken, comma, coordinated, full_name, marked_by, say, tidy, top, under

OUTSIDE = ("station", "field", "square", "courtyard")  # Finnish uses "on" these places, not "in"
ENDINGS = {"nom": "", "acc": "n", "gen": "n", "ine": "ssA", "ade": "llA"}
CASES = {"nom": "Nom", "acc": "Gen", "gen": "Gen", "ine": "Ine", "ade": "Ade"}  # as treebanks name them


def harmony(word: str, ending: str) -> str:
    """The ending, with A and O replaced by vowel harmony with the word."""
    for letter in reversed(word.lower()):
        if letter in "aouå":
            return ending.replace("A", "a").replace("O", "o")
        if letter in "äöyü":
            break
    return ending.replace("A", "ä").replace("O", "ö")


def inflect(nominative: str, stem: str, case: str, plural: bool) -> str:
    if plural:  # the same form for subjects and objects
        return stem + "t"
    return nominative if case == "nom" else stem + harmony(stem, ENDINGS[case])


def marked(case: str, plural: bool) -> dict[str, str]:
    """The features of a noun or adjective; a plural object is like a subject."""
    return {"Case": "Nom" if plural and case == "acc" else CASES[case], "Number": "Plur" if plural else "Sing"}


def name(parts: list[str], case: str) -> list[Spoken]:
    """Only the last part of a name is inflected; one that ends in a consonant takes an i."""
    last = parts[-1]
    stem = last if last[-1].lower() in VOWELS else last + "i"
    forms = parts if case == "nom" else [*parts[:-1], stem + harmony(stem, ENDINGS[case])]
    return full_name(forms, **marked(case, False))


def thing(t: Thing, case: str) -> list[Spoken]:
    if t.pronoun:
        person = t.name or (t.noun and t.noun.category == "person")
        form = ("he" if t.many else "hän") if person else ("ne" if t.many else "se")
        return say(form, "PRON", Case="Nom", Number="Plur" if t.many else "Sing", Person="3")
    if t.other:
        return coordinated(thing(t.alone, case), "ja", thing(t.other, case))
    words = name(t.name.parts, case) if t.name else _noun(t, case)
    noun = top(words)
    if t.place:
        words = [*words, *under(place(t.place), noun, "nmod")]
    if t.relative:
        inner = predicate(t.relative)
        which = under(say("jotka" if t.many else "joka", "PRON"), top(inner), "nsubj")
        inner = under([comma(), *which, *inner, comma()], top(inner), "punct")
        words = [*words, *under(inner, noun, "acl")]
    return words


def _noun(t: Thing, case: str) -> list[Spoken]:
    assert t.noun is not None
    words = name([t.owner.forename], "gen") if t.owner else []
    relation = "nmod" if t.owner else "det"
    if t.noun.category != "city" and not t.owner and t.article == "this":
        these = {"nom": "tämä", "acc": "tämän", "gen": "tämän", "ine": "tässä", "ade": "tällä"}
        words = say("nämä" if t.plural else these[case], "PRON")
    if t.article == "several" and not t.owner:
        words = say("useat", "ADJ")
    noun = say(inflect(*t.noun.finnish, case, t.plural), "NOUN", **marked(case, t.plural))
    under(words, noun[0], relation)
    if t.adjective:
        adjective = say(inflect(*t.adjective.finnish, case, t.plural), "ADJ", **marked(case, t.plural))
        words = [*words, *under(adjective, noun[0], "amod")]
    return [*words, *noun]


def place(p: Place) -> list[Spoken]:
    if p.relation in ("in", "on"):
        outside = p.thing.noun and p.thing.noun.lemma in OUTSIDE
        return thing(p.thing, "ine" if p.relation == "in" and not outside else "ade")
    behind = {"behind": "takana", "near": "lähellä"}
    words = thing(p.thing, "gen")
    return [*words, *under(say(behind[p.relation], "ADP"), top(words), "case")]


def finite(e: Event) -> list[Spoken]:
    """The finite verb, and after the negative verb the main verb; the copula and its negation have no head yet."""
    many, past = e.subject.many, e.tense == "past" or e.aspect == "perfect"
    agreeing = {"Mood": "Ind", "Number": "Plur" if many else "Sing", "Person": "3", "VerbForm": "Fin"}
    tense = agreeing | {"Tense": "Past" if past else "Pres"}
    if e.verb is None:
        if e.negated:
            verb = ("olleet" if many else "ollut") if past else "ole"
            return [*say("eivät" if many else "ei", "AUX", **agreeing), *say(verb, "AUX")]
        return say(("olivat" if many else "oli") if past else ("ovat" if many else "on"), "AUX", **tense)
    stem, preterite = e.verb.finnish[:2]
    if e.negated:
        weak, participle = e.verb.finnish[2:]
        participle = participle[:-2] + "eet" if many else participle
        main = say(participle if past else weak, "VERB", Connegative="Yes")
        return [*under(say("eivät" if many else "ei", "AUX", **agreeing), main[0], "aux"), *main]
    if past:
        form = preterite + (harmony(preterite, "vAt") if many else "")
    elif many:
        form = stem + harmony(stem, "vAt")
    else:
        form = stem if stem[-2] in VOWELS else stem + stem[-1]
    return say(form, "VERB", **tense)


def predicate(e: Event) -> list[Spoken]:
    words = finite(e)
    describing = say(e.adjective.finnish[0], "ADJ", **marked("nom", False)) if e.adjective else []
    verb = top(describing or words)
    under(words, verb, "cop")
    words = [*words, *under(say(e.frequency.finnish, "ADV"), verb, "advmod")] if e.frequency else words
    words += describing
    words += under(thing(e.object, "acc"), verb, "obj") if e.object else []
    words += under(say(e.manner.finnish, "ADV"), verb, "advmod") if e.manner else []
    words += under(place(e.place), verb, "obl") if e.place else []
    words += under(say(e.time.finnish, "ADV"), verb, "advmod") if e.time else []
    words += under(marked_by("että", clause(e.complement), commas=True), verb, "ccomp") if e.complement else []
    if e.because:
        word, inner = e.because
        words += under(marked_by(WORDS.conjunctions[word].finnish, clause(inner), commas=True), verb, "advcl")
    return words


def clause(e: Event, verb_first: bool = False) -> list[Spoken]:
    words = predicate(e)
    subject = under(thing(e.subject, "nom"), top(words), "nsubj")
    return [*words, *subject] if verb_first else [*subject, *words]


def _asked(e: Event) -> list[Spoken]:
    """The verb first, with the question particle."""
    words = predicate(e)
    subject = under(thing(e.subject, "nom"), top(words), "nsubj")
    words[0].text += harmony(words[0].text, "kO")
    return [words[0], *subject, *words[1:]]


FINNISH = Language(
    "finnish",
    ("”", "”"),
    {"who": ["kuka"], "yes-no": [], "why": ["miksi"], "where": ["missä"]},
    place,
    clause,
    lambda event: clause(event, verb_first=True),
    lambda word, event: marked_by(WORDS.conjunctions[word].finnish, clause(event), commas=True)[1:],
)


def sentence(s: SentencePlan) -> list[Spoken]:
    """The whole sentence; its words have their heads."""
    first = {"who": predicate, "yes-no": _asked}.get(s.pattern, clause)(s.events[0])
    pause = s.pattern.startswith("coordination") and s.link != "and"
    return tidy(spoken.sentence(s, first, FINNISH, pause), {})
