"""French: agreement, elision, contraction, ne ... pas, passé composé and imparfait."""

from datamodules.demo.lexicon import Adjective, Verb
from datamodules.demo.meaning import Event, Place, SentencePlan, Thing

LINKS = {"and": "et", "but": "mais", "yet": "pourtant"}
CONJUNCTIONS = {
    "because": "parce que",
    "when": "quand",
    "although": "même si",
    "while": "pendant que",
    "if": "si",
    "since": "puisque",
    "after": "après que",
}
BEFORE_VOWEL = {"vieux": "vieil", "beau": "bel", "nouveau": "nouvel", "ce": "cet"}
NOUS = {"retienn": "reten", "apprenn": "appren", "reçoiv": "recev"}  # stems: from "ils" to "nous"
ELIDED = {"le", "la", "de", "que", "ne", "je", "se"}
CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


def starts_with_vowel(word: str) -> bool:
    return word[0].lower() in "aeiouyhàâéèêëîïôœùûAEIOUÉ" and word not in ("oui", "onze")


def spell(words: list[str]) -> list[str]:
    """Applies contraction and elision between neighbouring words."""
    done: list[str] = []
    i = 0
    while i < len(words):
        word, following = words[i], words[i + 1] if i + 1 < len(words) else ""
        if (word, following) in CONTRACTED and not (
            following == "le" and i + 2 < len(words) and starts_with_vowel(words[i + 2])
        ):
            done.append(CONTRACTED[word, following])
            i += 2
            continue
        if word in ELIDED and following and starts_with_vowel(following):
            word = word[:-1] + "'"
        elif word == "puisque" and following in ("il", "ils", "elle", "elles", "un", "une"):
            word = "puisqu'"
        elif word == "si" and following in ("il", "ils"):
            word = "s'"
        done.append(word)
        i += 1
    return done


def adjective(a: Adjective, feminine: bool, plural: bool, following: str = "") -> str:
    word = a.french[1] if feminine else a.french[0]
    if plural:
        return word + ("x" if word.endswith("eau") else "" if word[-1] in "sx" else "s")
    return BEFORE_VOWEL[word] if word in BEFORE_VOWEL and following and starts_with_vowel(following) else word


def thing(t: Thing) -> list[str]:
    if t.pronoun:
        return [pronoun(t)]
    if t.other:
        return [
            *thing(Thing(noun=t.noun, name=t.name, article=t.article, adjective=t.adjective)),
            "et",
            *thing(t.other),
        ]
    said = [part for part in (t.name.given, t.name.surname) if part] if t.name else _noun(t)
    if t.place:
        said += place(t.place)
    if t.relative:
        said += ["qui", *predicate(t.relative)]
    return said


def pronoun(t: Thing) -> str:
    feminine = is_feminine(t)
    return ("elles" if feminine else "ils") if t.many else ("elle" if feminine else "il")


def is_feminine(t: Thing) -> bool:
    mine = t.name.woman if t.name else bool(t.noun and t.noun.french[0] == "f")
    return mine and (t.other is None or is_feminine(t.other))


def _noun(t: Thing) -> list[str]:
    assert t.noun is not None
    gender, singular, plural = t.noun.french
    word = plural if t.plural else singular
    if t.noun.kind == "city":
        return [word]
    feminine = gender == "f"
    said = word.split()
    if t.adjective:
        form = adjective(t.adjective, feminine, t.plural, word)
        said = [form, *said] if t.adjective.french_before else [*said, form]
    article = _article(t, feminine, said[0])
    if article == "des" and t.adjective and t.adjective.french_before:
        article = "de"
    return [article, *said, *(["de", t.owner.given] if t.owner else [])]


def _article(t: Thing, feminine: bool, following: str) -> str:
    if t.article == "several" and not t.owner:
        return "plusieurs"
    if t.article == "this" and not t.owner:
        return "ces" if t.plural else "cette" if feminine else "cet" if starts_with_vowel(following) else "ce"
    if t.article == "a" and not t.owner:
        return "des" if t.plural else "une" if feminine else "un"
    return "les" if t.plural else "la" if feminine else "le"


def place(p: Place) -> list[str]:
    if p.thing.noun and p.thing.noun.kind == "city":
        return ["à", *thing(p.thing)]
    relations = {"in": ["dans"], "on": ["sur"], "with": ["avec"], "behind": ["derrière"], "near": ["près", "de"]}
    return [*relations[p.relation], *thing(p.thing)]


def predicate(e: Event) -> list[str]:
    """The verb and its complements."""
    finite, participle = _verb(e)
    said = [*(["ne"] if e.negated else []), finite, *(["pas"] if e.negated else [])]
    said += e.frequency.french.split() if e.frequency else []
    said += [participle] if participle else []
    if e.adjective:
        said.append(adjective(e.adjective, is_feminine(e.subject), e.subject.many))
    said += thing(e.object) if e.object else []
    said += e.manner.french.split() if e.manner else []
    said += place(e.place) if e.place else []
    said += e.time.french.split() if e.time else []
    said += ["que", *clause(e.said)] if e.said else []
    said += [*CONJUNCTIONS[e.because[0]].split(), *clause(e.because[1])] if e.because else []
    return said


def _verb(e: Event) -> tuple[str, str | None]:
    """The finite form, and the participle of the passé composé."""
    many, past = e.subject.many, e.tense == "past"
    if e.verb is None:
        return (("étaient" if many else "était") if past else ("sont" if many else "est")), None
    singular, plural, participle = e.verb.french
    if past and e.aspect == "progressive":
        return imparfait(e.verb, many), None
    if past or e.aspect == "perfect":
        return ("ont" if many else "a"), participle
    return (plural if many else singular), None


def imparfait(verb: Verb, many: bool) -> str:
    """The imparfait. Its stem is that of nous, for verbs in -er that of the participle; g and c stay soft before a."""
    _, plural, participle = verb.french
    stem = participle[:-1] if participle.endswith("é") else plural.removesuffix("ent")
    stem = NOUS.get(stem, stem[:-1] + "y" if stem.endswith("oi") else stem)
    stem = stem + "e" if stem.endswith("g") else stem[:-1] + "ç" if stem.endswith("c") else stem
    return stem + ("aient" if many else "ait")


def clause(e: Event) -> list[str]:
    return [*thing(e.subject), *predicate(e)]


def sentence(s: SentencePlan) -> list[str]:
    """The whole sentence, with contraction and elision."""
    first, pattern = s.events[0], s.pattern.removesuffix(" comma")
    comma = [","] if s.pattern.endswith(" comma") else []
    said = clause(first)
    end = "."
    if pattern in ("adverb", "time"):
        assert s.word is not None
        opening = s.word.french.split()
        said = [*opening, *(comma if opening[-1] != "que" else []), *said]
    elif pattern == "place":
        assert s.place is not None
        said = [*place(s.place), *comma, *said]
    elif pattern == "interjection":
        assert s.word is not None
        said = [s.word.french, ",", *said]
    elif pattern == "subordinate first":
        assert s.link is not None
        said = [*CONJUNCTIONS[s.link].split(), *clause(s.events[1]), ",", *said]
    elif pattern == "coordination":
        assert s.link is not None
        said = [*said, *comma, LINKS[s.link], *clause(s.events[1])]
    elif pattern == "semicolon":
        said = [*said, ";", *clause(s.events[1])]
    elif pattern == "reporting clause last":
        said = [*said, ",", *clause(s.events[1])]
    elif pattern == "quotation":
        said = ["«", *said, "»", ",", *clause(s.events[1])]
    elif pattern in ("yes-no", "who", "why", "where"):
        asked = {"yes-no": ["est-ce", "que"], "why": ["pourquoi", "est-ce", "que"], "where": ["où", "est-ce", "que"]}
        said = ["qui", *predicate(first)] if pattern == "who" else [*asked[pattern], *said]
        end = "?"
    said = [*([LINKS[s.opener]] if s.opener else []), *said]
    return [*spell(said), end]
