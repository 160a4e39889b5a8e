"""Finnish: case endings on one stem, vowel harmony, agreement, the negative verb."""

from datamodules.demo.lexicon import VOWELS
from datamodules.demo.meaning import Event, Place, SentencePlan, Thing

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


def name(parts: list[str], case: str) -> list[str]:
    """Only the last part of a name is inflected; one that ends in a consonant takes an i."""
    if case == "nom":
        return parts
    last = parts[-1]
    stem = last if last[-1].lower() in VOWELS else last + "i"
    return [*parts[:-1], stem + harmony(stem, ENDINGS[case])]


def thing(t: Thing, case: str) -> list[str]:
    if t.pronoun:
        person = t.name or (t.noun and t.noun.kind == "person")
        return [("he" if t.many else "hän") if person else ("ne" if t.many else "se")]
    if t.other:
        alone = Thing(noun=t.noun, name=t.name, article=t.article, adjective=t.adjective)
        return [*thing(alone, case), "ja", *thing(t.other, case)]
    said = name([part for part in (t.name.given, t.name.surname) if part], case) if t.name else _noun(t, case)
    if t.place:
        said = [*said, *place(t.place)]
    if t.relative:
        said += [",", "jotka" if t.many else "joka", *predicate(t.relative), ","]
    return said


def _noun(t: Thing, case: str) -> list[str]:
    assert t.noun is not None
    said = name([t.owner.given], "gen") if t.owner else []
    if t.noun.kind != "city" and not t.owner and t.article == "this":
        these = {"nom": "tämä", "acc": "tämän", "gen": "tämän", "ine": "tässä", "ade": "tällä"}
        said = ["nämä" if t.plural else these[case]]
    if t.article == "several" and not t.owner:
        said = ["useat"]
    if t.adjective:
        said.append(inflect(*t.adjective.finnish, case, t.plural))
    return [*said, inflect(*t.noun.finnish, case, t.plural)]


def place(p: Place) -> list[str]:
    if p.relation in ("in", "on"):
        outside = p.thing.noun and p.thing.noun.lemma in OUTSIDE
        return thing(p.thing, "ine" if p.relation == "in" and not outside else "ade")
    behind = {"with": "kanssa", "behind": "takana", "near": "lähellä"}
    return [*thing(p.thing, "gen"), behind[p.relation]]


def finite(e: Event) -> list[str]:
    many, past = e.subject.many, e.tense == "past" or e.aspect == "perfect"
    if e.verb is None:
        if e.negated:
            return ["eivät" if many else "ei", ("olleet" if many else "ollut") if past else "ole"]
        return [("olivat" if many else "oli") if past else ("ovat" if many else "on")]
    stem, preterite = e.verb.finnish[:2]
    if e.negated:
        weak, participle = e.verb.finnish[2:]
        participle = participle[:-2] + "eet" if many else participle
        return ["eivät" if many else "ei", participle if past else weak]
    if past:
        return [preterite + (harmony(preterite, "vAt") if many else "")]
    if many:
        return [stem + harmony(stem, "vAt")]
    return [stem if stem[-2] in VOWELS else stem + stem[-1]]


def predicate(e: Event) -> list[str]:
    """The verb and its complements."""
    said = [*finite(e), *(e.frequency.finnish.split() if e.frequency else [])]
    said += [e.adjective.finnish[0]] if e.adjective else []
    said += thing(e.object, "acc") if e.object else []
    said += e.manner.finnish.split() if e.manner else []
    said += place(e.place) if e.place else []
    said += e.time.finnish.split() if e.time else []
    said += [",", "että", *clause(e.said), ","] if e.said else []
    said += [",", *CONJUNCTIONS[e.because[0]].split(), *clause(e.because[1]), ","] if e.because else []
    return said


def clause(e: Event) -> list[str]:
    return [*thing(e.subject, "nom"), *predicate(e)]


def _asked(e: Event) -> list[str]:
    """The verb first, with the question particle."""
    said = predicate(e)
    return [said[0] + harmony(said[0], "kO"), *thing(e.subject, "nom"), *said[1:]]


def tidy(words: list[str]) -> list[str]:
    """Removes double commas, and a comma before the end."""
    done: list[str] = []
    for word in words:
        if word in (",", ".", "?", ";", "”") and done and done[-1] == ",":
            done.pop()
        done.append(word)
    return done


def sentence(s: SentencePlan) -> list[str]:
    """The whole sentence."""
    first, pattern = s.events[0], s.pattern.removesuffix(" comma")
    said = clause(first)
    end = "."
    if pattern in ("adverb", "time"):
        assert s.word is not None
        said = [*s.word.finnish.split(), *said]
    elif pattern == "place":
        assert s.place is not None
        said = [*place(s.place), *said]
    elif pattern == "interjection":
        assert s.word is not None
        said = [s.word.finnish, ",", *said]
    elif pattern == "subordinate first":
        assert s.link is not None
        said = [*CONJUNCTIONS[s.link].split(), *clause(s.events[1]), ",", *said]
    elif pattern == "coordination":
        assert s.link is not None
        comma = [","] if s.link != "and" else []
        said = [*said, *comma, LINKS[s.link], *clause(s.events[1])]
    elif pattern == "semicolon":
        said = [*said, ";", *clause(s.events[1])]
    elif pattern == "reporting clause last":
        said = [*said, ",", *predicate(s.events[1]), *thing(s.events[1].subject, "nom")]
    elif pattern == "quotation":
        said = ["”", *said, "”", ",", *predicate(s.events[1]), *thing(s.events[1].subject, "nom")]
    elif pattern in ("yes-no", "who", "why", "where"):
        asked = {"why": ["miksi"], "where": ["missä"]}
        if pattern == "who":
            said = ["kuka", *predicate(first)]
        else:
            said = _asked(first) if pattern == "yes-no" else [*asked[pattern], *said]
        end = "?"
    return tidy([*([LINKS[s.opener]] if s.opener else []), *said, end])
