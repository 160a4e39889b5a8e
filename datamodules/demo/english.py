"""English, as Penn-style trees."""

from datamodules.demo.lexicon import Phrase, progressive, third_person
from datamodules.demo.meaning import QUESTIONS, Event, Place, SentencePlan, Thing

SyntaxNode = tuple  # (label, word) or (label, [children])


def render(node: SyntaxNode) -> str:
    """The tree as one line of brackets."""
    label, inside = node
    return f"({label} {inside})" if isinstance(inside, str) else f"({label} {' '.join(map(render, inside))})"


def leaves(node: SyntaxNode) -> list[str]:
    _, inside = node
    return [inside] if isinstance(inside, str) else [word for child in inside for word in leaves(child)]


def capitalised(node: SyntaxNode) -> SyntaxNode:
    """The tree with a capital letter at the first word; skips a quotation mark."""
    label, inside = node
    if isinstance(inside, str):
        return (label, inside[:1].upper() + inside[1:])
    first = next(i for i, child in enumerate(inside) if child[0] != "``")
    return (label, [*inside[:first], capitalised(inside[first]), *inside[first + 1 :]])


def thing(t: Thing, subject: bool = True) -> SyntaxNode:
    if t.pronoun:
        return ("NP", [("PRP", pronoun(t, subject))])
    if t.other:
        return ("NP", [thing(t.alone), ("CC", "and"), thing(t.other)])
    core = _core(t)
    if t.place:
        core = ("NP", [core, place(t.place)])
    if t.relative:
        who = ("WP", "who") if t.name or (t.noun and t.noun.category == "person") else ("WDT", "that")
        core = ("NP", [core, ("SBAR", [("WHNP", [who]), ("S", [verb_phrase(t.relative)])])])
    return core


def pronoun(t: Thing, subject: bool = True) -> str:
    if t.many:
        return "they" if subject else "them"
    if t.noun and t.noun.category != "person":
        return "it"
    if t.woman:
        return "she" if subject else "her"
    return "he" if subject else "him"


def _core(t: Thing) -> SyntaxNode:
    if t.name:
        return ("NP", [("NNP", part) for part in t.name.parts])
    assert t.noun is not None
    noun = ("NNS", t.noun.plural) if t.plural else ("NN", t.noun.singular)
    inside = [*([("JJ", t.adjective.english)] if t.adjective else []), noun]
    if t.noun.category == "city":
        return ("NP", [("NNP", t.noun.singular)])
    if t.owner:
        return ("NP", [("NP", [("NNP", t.owner.forename), ("POS", "'s")]), *inside])
    return ("NP", [*_article(t, inside[0][1]), *inside])


def _article(t: Thing, following: str) -> list[SyntaxNode]:
    if t.article == "a":
        return [] if t.plural else [("DT", "an" if vowel_sound(following) else "a")]
    if t.article == "several":
        return [("JJ", "several")]
    return [("DT", "the" if t.article == "the" else "these" if t.plural else "this")]


def vowel_sound(word: str) -> bool:
    """Whether the word takes `an`."""
    return word[0] in "aeio" or (word[0] == "u" and not word.startswith(("uni", "use")))


def place(p: Place) -> SyntaxNode:
    return ("PP", [("IN", p.relation), thing(p.thing, subject=False)])


def adverb(p: Phrase) -> SyntaxNode:
    return ("ADVP", [("RB", p.english)])


def time(p: Phrase) -> SyntaxNode:
    first, last = p.english.split()
    if first == "in":
        return ("PP", [("IN", "in"), ("NP", [("CD", last)])])
    tags = {"last": "JJ", "one": "CD"}
    return ("NP", [(tags.get(first, "DT"), first), ("NN", last)])


def verb_phrase(e: Event, bare: bool = False) -> SyntaxNode:
    """The verb and its complements. `bare`: without the finite auxiliary, which a question puts first."""
    tail = _after(e)
    before = [adverb(e.frequency)] if e.frequency else []
    many, past = e.subject.many, e.tense == "past"
    be = ("VBD", "were" if many else "was") if past else ("VBP", "are") if many else ("VBZ", "is")
    if e.verb is None:
        assert e.adjective is not None
        negation = [("RB", "not")] if e.negated else []
        return ("VP", [be, *negation, *before, ("ADJP", [("JJ", e.adjective.english)]), *tail])
    verb = e.verb
    if bare:
        return ("VP", [*before, ("VB", verb.base), *tail])
    if e.negated:
        do = ("VBD", "did") if past else ("VBP", "do") if many else ("VBZ", "does")
        return ("VP", [do, ("RB", "not"), *before, ("VP", [("VB", verb.base), *tail])])
    if e.aspect == "progressive":
        return ("VP", [be, *before, ("VP", [("VBG", progressive(verb.base)), *tail])])
    if e.aspect == "perfect":
        have = ("VBP", "have") if many else ("VBZ", "has")
        return ("VP", [have, *before, ("VP", [("VBN", verb.participle), *tail])])
    finite = ("VBD", verb.past) if past else ("VBP", verb.base) if many else ("VBZ", third_person(verb.base))
    return ("VP", [*before, finite, *tail])


def _after(e: Event) -> list[SyntaxNode]:
    tail = [thing(e.object, subject=False)] if e.object else []
    tail += [adverb(e.manner)] if e.manner else []
    tail += [place(e.place)] if e.place else []
    tail += [time(e.time)] if e.time else []
    tail += [("SBAR", [("IN", "that"), clause(e.complement)])] if e.complement else []
    tail += [_subordinate(*e.because)] if e.because else []
    return tail


def _subordinate(conjunction: str, e: Event) -> SyntaxNode:
    return ("SBAR", [("WHADVP", [("WRB", "when")]) if conjunction == "when" else ("IN", conjunction), clause(e)])


def clause(e: Event) -> SyntaxNode:
    return ("S", [thing(e.subject), verb_phrase(e)])


def tree(s: SentencePlan) -> SyntaxNode:
    """The whole sentence under ROOT."""
    label, parts = _parts(s)
    opening = [("CC", s.opener)] if s.opener else []
    end = "?" if s.pattern in QUESTIONS else "."
    return ("ROOT", [capitalised((label, [*opening, *parts, (".", end)]))])


def sentence(s: SentencePlan) -> list[str]:
    return leaves(tree(s))


def plain(e: Event) -> str:
    """The sentence of one clause."""
    return " ".join(sentence(SentencePlan("plain", (e,))))


def _parts(s: SentencePlan) -> tuple[str, list[SyntaxNode]]:
    first, second, pattern = s.events[0], s.events[-1], s.pattern.removesuffix(" comma")
    subject, rest = thing(first.subject), verb_phrase(first)
    comma = (",", ",")
    pause = [comma] if pattern != s.pattern else []
    if pattern == "who":
        return "SBARQ", [("WHNP", [("WP", "who")]), ("SQ", [rest])]
    if pattern in ("yes-no", "why", "where"):
        do = ("VBD", "did") if first.tense == "past" else ("VBP", "do") if first.subject.many else ("VBZ", "does")
        inverted = [do, subject, verb_phrase(first, bare=True)]
        if pattern == "yes-no":
            return "SQ", inverted
        return "SBARQ", [("WHADVP", [("WRB", pattern)]), ("SQ", inverted)]
    if pattern == "adverb between":
        assert first.frequency is not None
        return "S", [subject, *rest[1][:1], ("VP", rest[1][1:])]
    if pattern in ("adverb", "time", "interjection"):
        assert s.word is not None
        if pattern == "interjection":
            return "S", [("INTJ", [("UH", s.word.english)]), comma, subject, rest]
        return "S", [adverb(s.word) if pattern == "adverb" else time(s.word), *pause, subject, rest]
    if pattern == "place":
        assert s.place is not None
        return "S", [place(s.place), *pause, subject, rest]
    if pattern == "subordinate first":
        assert s.link is not None
        return "S", [_subordinate(s.link, second), comma, subject, rest]
    if pattern == "coordination":
        assert s.link is not None
        return "S", [clause(first), *pause, ("CC", s.link), clause(second)]
    if pattern == "semicolon":
        return "S", [clause(first), (":", ";"), clause(second)]
    if pattern == "reporting clause last":
        return "S", [clause(first), comma, thing(second.subject), verb_phrase(second)]
    if pattern == "quotation":
        quoted = [("``", "``"), clause(first), comma, ("''", "''")]
        return "S", [*quoted, thing(second.subject), verb_phrase(second)]
    return "S", [subject, rest]
