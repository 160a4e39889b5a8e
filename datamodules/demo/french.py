"""French: agreement, elision, contraction, ne ... pas, passé composé and imparfait; with dependencies."""

from datamodules.demo.lexicon import Adjective, Verb
from datamodules.demo.meaning import Event, Place, SentencePlan, Thing
from datamodules.demo.spoken import Spoken, comma, full_name, joined, marked_by, say, top, under

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


def spell(words: list[Spoken]) -> list[Spoken]:
    """Applies contraction and elision between neighbouring words."""
    done: list[Spoken] = []
    i = 0
    while i < len(words):
        word, following = words[i], words[i + 1] if i + 1 < len(words) else ""
        if (word, following) in CONTRACTED and not (
            following == "le" and i + 2 < len(words) and starts_with_vowel(words[i + 2])
        ):
            done.append(joined(CONTRACTED[word, following], word, words[i + 1]))
            i += 2
            continue
        if word in ELIDED and following and starts_with_vowel(following):
            word = word.respelled(word[:-1] + "'")
        elif word == "puisque" and following in ("il", "ils", "elle", "elles", "un", "une"):
            word = word.respelled("puisqu'")
        elif word == "si" and following in ("il", "ils"):
            word = word.respelled("s'")
        done.append(word)
        i += 1
    return done


def adjective(a: Adjective, feminine: bool, plural: bool, following: str = "") -> str:
    word = a.french[1] if feminine else a.french[0]
    if plural:
        return word + ("x" if word.endswith("eau") else "" if word[-1] in "sx" else "s")
    return BEFORE_VOWEL[word] if word in BEFORE_VOWEL and following and starts_with_vowel(following) else word


def marked(feminine: bool, plural: bool) -> dict[str, str]:
    """Gender and number."""
    return {"Gender": "Fem" if feminine else "Masc", "Number": "Plur" if plural else "Sing"}


def thing(t: Thing) -> list[Spoken]:
    if t.pronoun:
        return say(pronoun(t), "PRON", Person="3", **marked(is_feminine(t), t.many))
    if t.other:
        alone = thing(Thing(noun=t.noun, name=t.name, article=t.article, adjective=t.adjective))
        other = thing(t.other)
        other = [*under(say("et", "CCONJ"), top(other), "cc"), *other]
        return [*alone, *under(other, top(alone), "conj")]
    said = full_name([part for part in (t.name.given, t.name.surname) if part]) if t.name else _noun(t)
    noun = top(said)
    if t.place:
        said = [*said, *under(place(t.place), noun, "nmod")]
    if t.relative:
        inner = predicate(t.relative)
        inner = [*under(say("qui", "PRON", PronType="Rel"), top(inner), "nsubj"), *inner]
        said = [*said, *under(inner, noun, "acl:relcl")]
    return said


def pronoun(t: Thing) -> str:
    feminine = is_feminine(t)
    return ("elles" if feminine else "ils") if t.many else ("elle" if feminine else "il")


def is_feminine(t: Thing) -> bool:
    mine = t.name.woman if t.name else bool(t.noun and t.noun.french[0] == "f")
    return mine and (t.other is None or is_feminine(t.other))


def _noun(t: Thing) -> list[Spoken]:
    assert t.noun is not None
    gender, singular, plural = t.noun.french
    word = plural if t.plural else singular
    if t.noun.kind == "city":
        return say(word, "PROPN")
    feminine = gender == "f"
    agreeing = marked(feminine, t.plural)
    said = say(word, "NOUN", **agreeing)
    noun = said[0].node
    if t.adjective:
        form = under(say(adjective(t.adjective, feminine, t.plural, word), "ADJ", **agreeing), noun, "amod")
        said = [*form, *said] if t.adjective.french_before else [*said, *form]
    article = _article(t, feminine, said[0])
    if article == "des" and t.adjective and t.adjective.french_before:
        article = "de"
    owner = full_name([t.owner.given]) if t.owner else []
    if owner:
        owner = under([*under(say("de", "ADP"), owner[0].node, "case"), *owner], noun, "nmod")
    return [*under(say(article, "DET", **agreeing), noun, "det"), *said, *owner]


def _article(t: Thing, feminine: bool, following: str) -> str:
    if t.article == "several" and not t.owner:
        return "plusieurs"
    if t.article == "this" and not t.owner:
        return "ces" if t.plural else "cette" if feminine else "cet" if starts_with_vowel(following) else "ce"
    if t.article == "a" and not t.owner:
        return "des" if t.plural else "une" if feminine else "un"
    return "les" if t.plural else "la" if feminine else "le"


def place(p: Place) -> list[Spoken]:
    said = thing(p.thing)
    relations = {"in": "dans", "on": "sur", "with": "avec", "behind": "derrière", "near": "près de"}
    in_city = p.thing.noun and p.thing.noun.kind == "city"
    return [*under(say("à" if in_city else relations[p.relation], "ADP"), top(said), "case"), *said]


def predicate(e: Event) -> list[Spoken]:
    """The verb and its complements."""
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
    said = [*say("ne", "ADV"), *finite, *say("pas", "ADV")] if e.negated else finite
    under(finite, verb, "cop" if e.verb is None else "aux:tense")
    said = [*said, *(say(e.frequency.french, "ADV") if e.frequency else []), *participle, *describing]
    under(said, verb, "advmod")
    said += under(thing(e.object), verb, "obj") if e.object else []
    said += under(say(e.manner.french, "ADV"), verb, "advmod") if e.manner else []
    said += under(place(e.place), verb, "obl") if e.place else []
    said += under(say(e.time.french, "ADV"), verb, "advmod") if e.time else []
    said += under(marked_by("que", clause(e.said)), verb, "ccomp") if e.said else []
    said += under(marked_by(CONJUNCTIONS[e.because[0]], clause(e.because[1])), verb, "advcl") if e.because else []
    return said


def _verb(e: Event) -> tuple[str, str | None, str]:
    """The finite form, the participle of the passé composé, and the tense of the finite form."""
    many, past = e.subject.many, e.tense == "past"
    if e.verb is None:
        return (
            (("étaient" if many else "était") if past else ("sont" if many else "est")),
            None,
            "Imp" if past else "Pres",
        )
    singular, plural, participle = e.verb.french
    if past and e.aspect == "progressive":
        return imparfait(e.verb, many), None, "Imp"
    if past or e.aspect == "perfect":
        return ("ont" if many else "a"), participle, "Pres"
    return (plural if many else singular), None, "Pres"


def imparfait(verb: Verb, many: bool) -> str:
    """The imparfait. Its stem is that of nous, for verbs in -er that of the participle; g and c stay soft before a."""
    _, plural, participle = verb.french
    stem = participle[:-1] if participle.endswith("é") else plural.removesuffix("ent")
    stem = NOUS.get(stem, stem[:-1] + "y" if stem.endswith("oi") else stem)
    stem = stem + "e" if stem.endswith("g") else stem[:-1] + "ç" if stem.endswith("c") else stem
    return stem + ("aient" if many else "ait")


def clause(e: Event) -> list[Spoken]:
    said = predicate(e)
    return [*under(thing(e.subject), top(said), "nsubj"), *said]


def sentence(s: SentencePlan) -> list[Spoken]:
    """The whole sentence, with contraction and elision; its words have their heads."""
    first, pattern = s.events[0], s.pattern.removesuffix(" comma")
    pause = [comma()] if s.pattern.endswith(" comma") else []
    said = predicate(first) if pattern == "who" else clause(first)
    root = top(said)
    if pattern in ("adverb", "time"):
        assert s.word is not None
        opening = say(s.word.french, "ADV")
        said = [*under([*opening, *(pause if opening[-1] != "que" else [])], root, "advmod"), *said]
    elif pattern == "place":
        assert s.place is not None
        said = [*under([*place(s.place), *pause], root, "obl"), *said]
    elif pattern == "interjection":
        assert s.word is not None
        said = [*under([*say(s.word.french, "INTJ"), comma()], root, "discourse"), *said]
    elif pattern == "subordinate first":
        assert s.link is not None
        inner = marked_by(CONJUNCTIONS[s.link], clause(s.events[1]))
        said = [*under([*inner, comma()], root, "advcl"), *said]
    elif pattern == "coordination":
        assert s.link is not None
        other = clause(s.events[1])
        link = under([*pause, *say(LINKS[s.link], "CCONJ")], top(other), "cc")
        said = [*said, *under([*link, *other], root, "conj")]
    elif pattern == "semicolon":
        said = [*said, *under([*say(";", "PUNCT"), *clause(s.events[1])], root, "parataxis")]
    elif pattern == "reporting clause last":
        said = [*said, *under([comma(), *clause(s.events[1])], root, "parataxis")]
    elif pattern == "quotation":
        told = [*say("»", "PUNCT"), comma(), *clause(s.events[1])]
        said = [*under(say("«", "PUNCT"), root, "punct"), *said, *under(told, root, "parataxis")]
    elif pattern == "who":
        said = [*under(say("qui", "PRON"), root, "nsubj"), *said]
    elif pattern in ("yes-no", "why", "where"):
        asked = {"yes-no": "", "why": "pourquoi", "where": "où"}[pattern]
        opening = [*(say(asked, "ADV") if asked else []), *say("est-ce que", "ADV")]
        said = [*under(opening, root, "advmod"), *said]
    opener = under(say(LINKS[s.opener], "CCONJ"), root, "cc") if s.opener else []
    end = under(say("?" if pattern in ("yes-no", "who", "why", "where") else ".", "PUNCT"), root, "punct")
    return [*spell([*opener, *said]), *end]
