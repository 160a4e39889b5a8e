"""French: agreement, elision, contraction, ne ... pas, passé composé and imparfait; with dependencies."""

from datamodules.demo import spoken
from datamodules.demo.lexicon import WORDS, Adjective
from datamodules.demo.meaning import Event, Place, SentencePlan, Thing
from datamodules.demo.spoken import Language, Spoken, comma, coordinated, full_name, marked_by, say, top, under

BEFORE_VOWEL = {"vieux": "vieil", "beau": "bel", "nouveau": "nouvel"}
ELIDED = {"le", "la", "de", "que", "ne"}
CONTRACTED = {("de", "le"): "du", ("de", "les"): "des"}


def starts_with_vowel(word: str) -> bool:
    return word[0].lower() in "aeiouyhàâéèêëîïôœùû" and word not in ("oui", "onze")


def spell(words: list[Spoken]) -> list[Spoken]:
    """Applies contraction and elision between neighbouring words."""
    result: list[Spoken] = []
    texts = [*map(str, words), "", ""]
    i = 0
    while i < len(words):
        word, following, after = texts[i : i + 3]
        if (word, following) in CONTRACTED and not (following == "le" and after and starts_with_vowel(after)):
            result.append(Spoken(CONTRACTED[word, following], inner=(words[i], words[i + 1])))
            i += 2
            continue
        if word in ELIDED and following and starts_with_vowel(following):
            words[i].text = word[:-1] + "'"
        elif word == "puisque" and following in ("il", "ils", "elle", "elles", "un", "une"):
            words[i].text = "puisqu'"
        elif word == "si" and following in ("il", "ils"):
            words[i].text = "s'"
        result.append(words[i])
        i += 1
    return result


def adjective(a: Adjective, feminine: bool, plural: bool, following: str = "") -> str:
    word = a.french[1] if feminine else a.french[0]
    if plural:
        return word + ("x" if word.endswith("eau") else "" if word[-1] in "sx" else "s")
    return BEFORE_VOWEL[word] if word in BEFORE_VOWEL and following and starts_with_vowel(following) else word


def marked(feminine: bool, plural: bool) -> dict[str, str]:
    return {"Gender": "Fem" if feminine else "Masc", "Number": "Plur" if plural else "Sing"}


def thing(t: Thing) -> list[Spoken]:
    if t.pronoun:
        return say(pronoun(t), "PRON", Person="3", **marked(is_feminine(t), t.many))
    if t.other:
        return coordinated(thing(t.alone), "et", thing(t.other))
    words = full_name(t.name.parts) if t.name else _noun(t)
    noun = top(words)
    if t.place:
        words = [*words, *under(place(t.place), noun, "nmod")]
    if t.relative:
        inner = predicate(t.relative)
        inner = [*under(say("qui", "PRON", PronType="Rel"), top(inner), "nsubj"), *inner]
        words = [*words, *under(inner, noun, "acl:relcl")]
    return words


def pronoun(t: Thing) -> str:
    feminine = is_feminine(t)
    return ("elles" if feminine else "ils") if t.many else ("elle" if feminine else "il")


def is_feminine(t: Thing) -> bool:
    return t.woman and (t.other is None or is_feminine(t.other))


def _noun(t: Thing) -> list[Spoken]:
    assert t.noun is not None
    gender, singular, plural = t.noun.french
    word = plural if t.plural else singular
    if t.noun.category == "city":
        return say(word, "PROPN")
    feminine = gender == "f"
    agreeing = marked(feminine, t.plural)
    words = say(word, "NOUN", **agreeing)
    noun = words[0]
    if t.adjective:
        form = under(say(adjective(t.adjective, feminine, t.plural, word), "ADJ", **agreeing), noun, "amod")
        words = [*form, *words] if t.adjective.french_before else [*words, *form]
    article = _article(t, feminine, words[0].text)
    if article == "des" and t.adjective and t.adjective.french_before:
        article = "de"
    owner = full_name([t.owner.forename]) if t.owner else []
    if owner:
        owner = under([*under(say("de", "ADP"), owner[0], "case"), *owner], noun, "nmod")
    return [*under(say(article, "DET", **agreeing), noun, "det"), *words, *owner]


def _article(t: Thing, feminine: bool, following: str) -> str:
    if t.article == "several" and not t.owner:
        return "plusieurs"
    if t.article == "this" and not t.owner:
        return "ces" if t.plural else "cette" if feminine else "cet" if starts_with_vowel(following) else "ce"
    if t.article == "a" and not t.owner:
        return "des" if t.plural else "une" if feminine else "un"
    return "les" if t.plural else "la" if feminine else "le"


def place(p: Place) -> list[Spoken]:
    words = thing(p.thing)
    relations = {"in": "dans", "on": "sur", "behind": "derrière", "near": "près de"}
    in_city = p.thing.noun and p.thing.noun.category == "city"
    return [*under(say("à" if in_city else relations[p.relation], "ADP"), top(words), "case"), *words]


def predicate(e: Event) -> list[Spoken]:
    form, past_participle, tense = _verb(e)
    agreeing = {"Mood": "Ind", "Number": "Plur" if e.subject.many else "Sing", "Person": "3", "VerbForm": "Fin"}
    helps = e.verb is None or past_participle
    finite = say(form, "AUX" if helps else "VERB", Tense=tense, **agreeing)
    participle = say(past_participle, "VERB", Tense="Past", VerbForm="Part") if past_participle else []
    describing = []
    if e.adjective:
        feminine, many = is_feminine(e.subject), e.subject.many
        describing = say(adjective(e.adjective, feminine, many), "ADJ", **marked(feminine, many))
    verb = top(describing or participle or finite)
    words = [*say("ne", "ADV"), *finite, *say("pas", "ADV")] if e.negated else finite
    under(finite, verb, "cop" if e.verb is None else "aux:tense")
    words = [*words, *(say(e.frequency.french, "ADV") if e.frequency else []), *participle, *describing]
    under(words, verb, "advmod")
    words += under(thing(e.object), verb, "obj") if e.object else []
    words += under(say(e.manner.french, "ADV"), verb, "advmod") if e.manner else []
    words += under(place(e.place), verb, "obl") if e.place else []
    words += under(say(e.time.french, "ADV"), verb, "advmod") if e.time else []
    words += under(marked_by("que", clause(e.complement)), verb, "ccomp") if e.complement else []
    if e.because:
        word, inner = e.because
        words += under(marked_by(WORDS.conjunctions[word].french, clause(inner)), verb, "advcl")
    return words


def _verb(e: Event) -> tuple[str, str | None, str]:
    """The finite form, the participle of the passé composé, and the tense of the finite form."""
    many, past = e.subject.many, e.tense == "past"
    if e.verb is None:
        finite = ("étaient" if many else "était") if past else ("sont" if many else "est")
        return finite, None, "Imp" if past else "Pres"
    singular, plural, participle, imparfait = e.verb.french
    if past and e.aspect == "progressive":
        return (imparfait[:-1] + "ent" if many else imparfait), None, "Imp"
    if past or e.aspect == "perfect":
        return ("ont" if many else "a"), participle, "Pres"
    return (plural if many else singular), None, "Pres"


def clause(e: Event) -> list[Spoken]:
    words = predicate(e)
    return [*under(thing(e.subject), top(words), "nsubj"), *words]


FRENCH = Language(
    "french",
    ("«", "»"),
    {"who": ["qui"], "yes-no": ["est-ce que"], "why": ["pourquoi", "est-ce que"], "where": ["où", "est-ce que"]},
    place,
    clause,
    clause,
    lambda word, event: [*marked_by(WORDS.conjunctions[word].french, clause(event)), comma()],
)


def sentence(s: SentencePlan) -> list[Spoken]:
    """The whole sentence, with contraction and elision; its words have their heads."""
    first = (predicate if s.pattern == "who" else clause)(s.events[0])
    return spell(spoken.sentence(s, first, FRENCH, pause=s.pattern.endswith(" comma")))
