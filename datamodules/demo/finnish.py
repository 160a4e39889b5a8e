"""Finnish: case endings on one stem, vowel harmony, agreement, the negative verb; with dependencies."""

from datamodules.demo.lexicon import VOWELS
from datamodules.demo.meaning import Event, Place, SentencePlan, Thing
from datamodules.demo.spoken import Spoken, comma, full_name, marked_by, say, top, under

LINKS = {"and": "ja", "but": "mutta", "yet": "silti"}
CONJUNCTIONS = {
    "because": "koska",
    "when": "kun",
    "although": "vaikka",
    "while": "samalla kun",
    "if": "jos",
    "since": "koska",
    "after": "sen jälkeen kun",
}
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
        person = t.name or (t.noun and t.noun.kind == "person")
        form = ("he" if t.many else "hän") if person else ("ne" if t.many else "se")
        return say(form, "PRON", Case="Nom", Number="Plur" if t.many else "Sing", Person="3")
    if t.other:
        alone = thing(Thing(noun=t.noun, name=t.name, article=t.article, adjective=t.adjective), case)
        other = thing(t.other, case)
        other = [*under(say("ja", "CCONJ"), top(other), "cc"), *other]
        return [*alone, *under(other, top(alone), "conj")]
    said = name([part for part in (t.name.given, t.name.surname) if part], case) if t.name else _noun(t, case)
    noun = top(said)
    if t.place:
        said = [*said, *under(place(t.place), noun, "nmod")]
    if t.relative:
        inner = predicate(t.relative)
        which = under(say("jotka" if t.many else "joka", "PRON"), top(inner), "nsubj")
        inner = under([comma(), *which, *inner, comma()], top(inner), "punct")
        said = [*said, *under(inner, noun, "acl")]
    return said


def _noun(t: Thing, case: str) -> list[Spoken]:
    assert t.noun is not None
    said = name([t.owner.given], "gen") if t.owner else []
    relation = "nmod" if t.owner else "det"
    if t.noun.kind != "city" and not t.owner and t.article == "this":
        these = {"nom": "tämä", "acc": "tämän", "gen": "tämän", "ine": "tässä", "ade": "tällä"}
        said = say("nämä" if t.plural else these[case], "PRON")
    if t.article == "several" and not t.owner:
        said = say("useat", "ADJ")
    noun = say(inflect(*t.noun.finnish, case, t.plural), "NOUN", **marked(case, t.plural))
    under(said, noun[0].node, relation)
    if t.adjective:
        adjective = say(inflect(*t.adjective.finnish, case, t.plural), "ADJ", **marked(case, t.plural))
        said = [*said, *under(adjective, noun[0].node, "amod")]
    return [*said, *noun]


def place(p: Place) -> list[Spoken]:
    if p.relation in ("in", "on"):
        outside = p.thing.noun and p.thing.noun.lemma in OUTSIDE
        return thing(p.thing, "ine" if p.relation == "in" and not outside else "ade")
    behind = {"with": "kanssa", "behind": "takana", "near": "lähellä"}
    said = thing(p.thing, "gen")
    return [*said, *under(say(behind[p.relation], "ADP"), top(said), "case")]


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
        return [*under(say("eivät" if many else "ei", "AUX", **agreeing), main[0].node, "aux"), *main]
    if past:
        form = preterite + (harmony(preterite, "vAt") if many else "")
    elif many:
        form = stem + harmony(stem, "vAt")
    else:
        form = stem if stem[-2] in VOWELS else stem + stem[-1]
    return say(form, "VERB", **tense)


def predicate(e: Event) -> list[Spoken]:
    """The verb and its complements."""
    said = finite(e)
    describing = say(e.adjective.finnish[0], "ADJ", **marked("nom", False)) if e.adjective else []
    verb = top(describing or said)
    under(said, verb, "cop")
    said = [*said, *under(say(e.frequency.finnish, "ADV"), verb, "advmod")] if e.frequency else said
    said += describing
    said += under(thing(e.object, "acc"), verb, "obj") if e.object else []
    said += under(say(e.manner.finnish, "ADV"), verb, "advmod") if e.manner else []
    said += under(place(e.place), verb, "obl") if e.place else []
    said += under(say(e.time.finnish, "ADV"), verb, "advmod") if e.time else []
    said += under(_inner("että", e.said), verb, "ccomp") if e.said else []
    said += under(_inner(CONJUNCTIONS[e.because[0]], e.because[1]), verb, "advcl") if e.because else []
    return said


def _inner(conjunction: str, e: Event) -> list[Spoken]:
    """A subordinate clause between commas."""
    return marked_by(conjunction, clause(e), commas=True)


def clause(e: Event) -> list[Spoken]:
    said = predicate(e)
    return [*under(thing(e.subject, "nom"), top(said), "nsubj"), *said]


def _asked(e: Event) -> list[Spoken]:
    """The verb first, with the question particle."""
    said = predicate(e)
    subject = under(thing(e.subject, "nom"), top(said), "nsubj")
    return [said[0].respelled(said[0] + harmony(said[0], "kO")), *subject, *said[1:]]


def _told(e: Event) -> list[Spoken]:
    """The clause that says who speaks, after what is said."""
    said = predicate(e)
    return [*said, *under(thing(e.subject, "nom"), top(said), "nsubj")]


def tidy(words: list[Spoken]) -> list[Spoken]:
    """Removes double commas, and a comma before the end."""
    done: list[Spoken] = []
    for word in words:
        if word in (",", ".", "?", ";", "”") and done and done[-1] == ",":
            done.pop()
        done.append(word)
    return done


def sentence(s: SentencePlan) -> list[Spoken]:
    """The whole sentence; its words have their heads."""
    first, pattern = s.events[0], s.pattern.removesuffix(" comma")
    said = predicate(first) if pattern == "who" else _asked(first) if pattern == "yes-no" else clause(first)
    root = top(said)
    if pattern in ("adverb", "time"):
        assert s.word is not None
        said = [*under(say(s.word.finnish, "ADV"), root, "advmod"), *said]
    elif pattern == "place":
        assert s.place is not None
        said = [*under(place(s.place), root, "obl"), *said]
    elif pattern == "interjection":
        assert s.word is not None
        said = [*under([*say(s.word.finnish, "INTJ"), comma()], root, "discourse"), *said]
    elif pattern == "subordinate first":
        assert s.link is not None
        said = [*under(_inner(CONJUNCTIONS[s.link], s.events[1])[1:], root, "advcl"), *said]
    elif pattern == "coordination":
        assert s.link is not None
        other = clause(s.events[1])
        link = [*([comma()] if s.link != "and" else []), *say(LINKS[s.link], "CCONJ")]
        said = [*said, *under([*under(link, top(other), "cc"), *other], root, "conj")]
    elif pattern == "semicolon":
        said = [*said, *under([*say(";", "PUNCT"), *clause(s.events[1])], root, "parataxis")]
    elif pattern == "reporting clause last":
        said = [*said, *under([comma(), *_told(s.events[1])], root, "parataxis")]
    elif pattern == "quotation":
        told = under([*say("”", "PUNCT"), comma(), *_told(s.events[1])], root, "parataxis")
        said = [*under(say("”", "PUNCT"), root, "punct"), *said, *told]
    elif pattern in ("who", "why", "where"):
        asked = {"who": "kuka", "why": "miksi", "where": "missä"}[pattern]
        relation, part = ("nsubj", "PRON") if pattern == "who" else ("advmod", "ADV")
        said = [*under(say(asked, part), root, relation), *said]
    opener = under(say(LINKS[s.opener], "CCONJ"), root, "cc") if s.opener else []
    end = under(say("?" if pattern in ("yes-no", "who", "why", "where") else ".", "PUNCT"), root, "punct")
    return tidy([*opener, *said, *end])
