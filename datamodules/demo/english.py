"""English, as Penn-style trees: a constituent is its text in brackets."""

import re
from collections.abc import Callable
from dataclasses import replace

from datamodules.demo.lexicon import Phrase, sections
from datamodules.demo.meaning import Event, Place, SentencePlan, Thing

LEAF = re.compile(r"\([^\s()]+ ([^\s()]+)\)")
FIRST_LETTER = re.compile(r"(\((?!``)[^\s()]+ )([^\s()])")  # skips a quotation mark
PART = re.compile(r"\{(\w+)\}")
PATTERNS = sections("patterns")
PARTS: dict[str, Callable[[SentencePlan], str]] = {
    "opener": lambda s: f"(CC {s.opener})" if s.opener else "",
    "subject": lambda s: thing(s.events[0].subject),
    "rest": lambda s: verb_phrase(s.events[0]),
    "bare": lambda s: verb_phrase(s.events[0], bare=True),
    "do": lambda s: _do(s.events[0]),
    "frequency": lambda s: adverb(s.events[0].frequency),
    "other": lambda s: verb_phrase(replace(s.events[0], frequency=None)),
    "word": lambda s: s.word.english if s.word else "",
    "adverb": lambda s: adverb(s.word),
    "time": lambda s: time(s.word),
    "place": lambda s: place(s.place),
    "pause": lambda s: "(, ,)" if s.pattern.endswith(" comma") else "",
    "subordinate": lambda s: _subordinate((s.link or "", s.events[1])),
    "link": lambda s: s.link or "",
    "first": lambda s: clause(s.events[0]),
    "second": lambda s: clause(s.events[1]),
    "speaker": lambda s: f"{thing(s.events[1].subject)} {verb_phrase(s.events[1])}",
}
TIME_TAGS = {"last": "JJ", "one": "CD"}


def tree(s: SentencePlan) -> str:
    """The whole sentence under ROOT, with a capital letter at its first word."""
    whole = PART.sub(lambda part: PARTS[part[1]](s), PATTERNS[s.pattern.removesuffix(" comma")])
    return f"(ROOT {FIRST_LETTER.sub(lambda match: match[1] + match[2].upper(), ' '.join(whole.split()), count=1)})"


def sentence(s: SentencePlan) -> list[str]:
    return leaves(tree(s))


def plain(e: Event) -> str:
    """The sentence of one clause."""
    return " ".join(sentence(SentencePlan("plain", (e,))))


def leaves(constituent: str) -> list[str]:
    return LEAF.findall(constituent)


def node(label: str, *children: str) -> str:
    """A constituent; children that are not there are empty."""
    return f"({label} {' '.join(filter(None, children))})"


def thing(t: Thing | None, subject: bool = True) -> str:
    if t is None:
        return ""
    if t.pronoun:
        return f"(NP (PRP {pronoun(t, subject)}))"
    if t.other:
        return node("NP", thing(t.alone), "(CC and)", thing(t.other))
    core = _core(t)
    core = node("NP", core, place(t.place)) if t.place else core
    if t.relative:
        who = "(WP who)" if t.name or (t.noun and t.noun.category == "person") else "(WDT that)"
        core = f"(NP {core} (SBAR (WHNP {who}) (S {verb_phrase(t.relative)})))"
    return core


def pronoun(t: Thing, subject: bool = True) -> str:
    if t.many:
        return "they" if subject else "them"
    if t.noun and t.noun.category != "person":
        return "it"
    return ("she" if subject else "her") if t.woman else "he" if subject else "him"


def _core(t: Thing) -> str:
    if t.name:
        return node("NP", *(f"(NNP {part})" for part in t.name.parts))
    assert t.noun is not None
    if t.noun.category == "city":
        return f"(NP (NNP {t.noun.lemma}))"
    noun = f"(NNS {t.noun.plural})" if t.plural else f"(NN {t.noun.lemma})"
    described = node("JJ", t.adjective.english) if t.adjective else ""
    owner = f"(NP (NNP {t.owner.forename}) (POS 's))" if t.owner else _article(t, leaves(described + noun)[0])
    return node("NP", owner, described, noun)


def _article(t: Thing, following: str) -> str:
    if t.article == "a":
        return "" if t.plural else f"(DT {'an' if vowel_sound(following) else 'a'})"
    if t.article == "several":
        return "(JJ several)"
    return f"(DT {'the' if t.article == 'the' else 'these' if t.plural else 'this'})"


def vowel_sound(word: str) -> bool:
    """Whether the word takes `an`."""
    return word[0] in "aeio" or (word[0] == "u" and not word.startswith(("uni", "use")))


def place(p: Place | None) -> str:
    return f"(PP (IN {p.relation}) {thing(p.thing, subject=False)})" if p else ""


def adverb(p: Phrase | None) -> str:
    return f"(ADVP (RB {p.english}))" if p else ""


def time(p: Phrase | None) -> str:
    if p is None:
        return ""
    first, last = p.english.split()
    if first == "in":
        return f"(PP (IN in) (NP (CD {last})))"
    return f"(NP ({TIME_TAGS.get(first, 'DT')} {first}) (NN {last}))"


def _finite(e: Event, past: str, plural: str, singular: str) -> str:
    if e.tense == "past":
        return f"(VBD {past})"
    return f"(VBP {plural})" if e.subject.many else f"(VBZ {singular})"


def verb_phrase(e: Event, bare: bool = False) -> str:
    """The verb and its complements. `bare`: without the finite auxiliary, which a question puts first."""
    said = f"(SBAR (IN that) {clause(e.complement)})" if e.complement else ""
    details = adverb(e.manner), place(e.place), time(e.time)
    before, tail = adverb(e.frequency), [thing(e.object, subject=False), *details, said, _subordinate(e.because)]
    be = _finite(e, "were" if e.subject.many else "was", "are", "is")
    if e.verb is None:
        assert e.adjective is not None
        return node("VP", be, "(RB not)" if e.negated else "", before, f"(ADJP (JJ {e.adjective.english}))", *tail)
    verb = e.verb
    if bare:
        return node("VP", before, f"(VB {verb.base})", *tail)
    if e.negated:
        return node("VP", _do(e), "(RB not)", before, node("VP", f"(VB {verb.base})", *tail))
    if e.aspect == "progressive":
        return node("VP", be, before, node("VP", f"(VBG {verb.progressive})", *tail))
    if e.aspect == "perfect":
        have = "(VBP have)" if e.subject.many else "(VBZ has)"
        return node("VP", have, before, node("VP", f"(VBN {verb.participle})", *tail))
    return node("VP", before, _finite(e, verb.past, verb.base, verb.third_person), *tail)


def _do(e: Event) -> str:
    return _finite(e, "did", "do", "does")


def _subordinate(linked: tuple[str, Event] | None) -> str:
    if linked is None:
        return ""
    word = "(WHADVP (WRB when))" if linked[0] == "when" else f"(IN {linked[0]})"
    return f"(SBAR {word} {clause(linked[1])})"


def clause(e: Event) -> str:
    return node("S", thing(e.subject), verb_phrase(e))
