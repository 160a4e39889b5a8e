"""What the probing tasks read off a constituency tree (English Penn labels)."""

from typing import NamedTuple

from datamodules.penn import Tree

NOUNS = {"NN": "NN", "NNS": "NNS", "NNP": "NN", "NNPS": "NNS"}  # tag to number
TENSES = {"VBD": "PAST", "VBZ": "PRES", "VBP": "PRES"}
CLAUSES = {"S", "SINV", "SQ", "SBARQ"}
PUNCTUATION = {",", ".", ":", "``", "''", "-LRB-", "-RRB-", "#", "$"}
TIMES = frozenset({"day", "week", "month", "year", "time", "today", "tomorrow", "night", "morning"}) | {
    "evening",
    "afternoon",
    "hour",
    "minute",
    "moment",
}
SHORTEST, LONGEST = 5, 28  # words (Conneau et al. 2018, section 2)


class Target(NamedTuple):
    """A class that one word form decides."""

    label: str
    form: str


class Analysis(NamedTuple):
    """One sentence of 5 to 28 words and its properties."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    depth: int
    top: str  # labels below the clause, as NP_VP_.
    tense: Target | None
    subject: Target | None
    object: Target | None
    clauses: tuple[int, int, int, int] | None  # first clause, second clause: begin, end, begin, end

    @property
    def sentence(self) -> str:
        return " ".join(self.words)


def analyse(tree: Tree) -> Analysis | None:
    """The properties of a tree under ROOT, or None when its length is out of range."""
    leaves = tree.leaves()
    if not SHORTEST <= len(leaves) <= LONGEST:
        return None
    top = tree.children[0]
    main = top if top.label == "S" else None
    verb_phrase = _child(main, "VP")
    return Analysis(
        words=tuple(str(leaf.word) for leaf in leaves),
        tags=tuple(leaf.label for leaf in leaves),
        depth=tree.depth(),
        top="_".join(child.label for child in top.children),
        tense=_tense(verb_phrase),
        subject=_number(_subject(main)),
        object=_number(_object(verb_phrase)),
        clauses=_clauses(top),
    )


def _child(node: Tree | None, label: str) -> Tree | None:
    return next((child for child in node.children if child.label == label), None) if node else None


def _tense(verb_phrase: Tree | None) -> Target | None:
    """The tense of the main verb, where it is finite: modals have none, coordinated verbs are left out."""
    if verb_phrase is None or _coordinated(verb_phrase):
        return None
    first = next((c for c in verb_phrase.children if c.word is not None and c.label[:2] in ("VB", "MD")), None)
    if first is None or first.label not in TENSES:
        return None
    return Target(TENSES[first.label], str(first.word).lower())


def _subject(clause: Tree | None) -> Tree | None:
    """The noun phrase right before the first verb phrase."""
    found = None
    for child in clause.children if clause else []:
        if child.label == "VP":
            return found
        found = child if child.label == "NP" else found
    return None


def _object(verb_phrase: Tree | None) -> Tree | None:
    """The first noun phrase below the main verb; auxiliaries are passed through, copulas have none."""
    while verb_phrase is not None and not _coordinated(verb_phrase):
        inner = _child(verb_phrase, "VP")
        if inner is None:
            verbs = [str(c.word).lower() for c in verb_phrase.children if c.word is not None]
            return None if COPULAS & set(verbs) else _child(verb_phrase, "NP")
        passive = any(c.label in ("VBN",) for c in inner.children) and not _has_form(verb_phrase, PERFECT)
        verb_phrase = None if passive else inner
    return None


COPULAS = frozenset(["be", "am", "is", "are", "was", "were", "been", "being", "'s", "'re", "'m"])
PERFECT = frozenset(["have", "has", "had", "having", "'ve", "'d"])


def _has_form(node: Tree, forms: frozenset[str]) -> bool:
    return any(c.word is not None and c.word.lower() in forms for c in node.children)


def _number(phrase: Tree | None) -> Target | None:
    """The number of a noun phrase's head: the last noun of its innermost core; coordinations are left out."""
    while phrase is not None:
        if _coordinated(phrase):
            return None
        core = _child(phrase, "NP")
        if core is None:
            nouns = [c for c in phrase.children if c.word is not None and c.label in NOUNS]
            last = phrase.children[-1] if phrase.children else None
            if not nouns or last is None or nouns[-1] is not last or nouns[-1].label.startswith("NNP"):
                return None
            form = str(nouns[-1].word).lower()
            is_time = form in TIMES or form.removesuffix("s") in TIMES  # "slept a day": no object
            return Target(NOUNS[nouns[-1].label], form) if form.isalpha() and not is_time else None
        phrase = core
    return None


def _coordinated(node: Tree) -> bool:
    return any(child.label in ("CC", "CONJP") for child in node.children)


def _clauses(top: Tree) -> tuple[int, int, int, int] | None:
    """Where the two clauses of `S (,) CC S (.)` lie."""
    kept = [child for child in top.children if child.label not in PUNCTUATION]
    if top.label != "S" or [child.label for child in kept] != ["S", "CC", "S"]:
        return None
    spans, place = {}, 0
    for child in top.children:
        width = len(child.leaves())
        spans[id(child)] = (place, place + width)
        place += width
    return (*spans[id(kept[0])], *spans[id(kept[2])])
