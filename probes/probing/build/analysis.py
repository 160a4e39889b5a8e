"""The properties of a constituency tree that the probing tasks use."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from datamodules.trees.penn import Bracketed, Tree, parse_bracketed, readable_trees
from encoder_lab.compute.processes import parallel_map
from probes.probing.build.tags import ENGLISH, TagSet

MIN_WORDS, MAX_WORDS = 5, 28  # words (Conneau et al. 2018, section 2)


class Target(NamedTuple):
    """A class that depends on one word form."""

    label: str
    form: str  # lower case


class Clauses(NamedTuple):
    """Two coordinate clauses: words from begin to before end."""

    begin: int
    end: int
    begin2: int
    end2: int


@dataclass(frozen=True, slots=True)
class Analysis:
    """One sentence of 5 to 28 words and its properties."""

    sentence: str  # words with single spaces between them
    tags: str  # parts of speech likewise
    depth: int
    top: str  # labels below the clause, such as NP_VP_.
    tense: Target | None
    subject: Target | None
    object: Target | None
    clauses: Clauses | None
    features: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # more classes of the targets, by task
    split: int | None = field(default=None, repr=False)  # where a treebank has splits of its own
    id: str = field(default="", repr=False)  # its name in a treebank
    classes: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # of the sentence as a whole, by task

    @property
    def words(self) -> list[str]:
        return self.sentence.split(" ")

    @property
    def length(self) -> int:
        return self.sentence.count(" ") + 1


def analyse_all(texts: Iterable[Bracketed], tags: TagSet) -> Iterator[Analysis]:
    """Analyse all trees of usable length, in order, on all cores. Raises InputError naming a place."""
    return readable_trees(parallel_map(partial(_analyse_text, tags=tags), texts))


def _analyse_text(text: Bracketed, tags: TagSet) -> list[Analysis] | None:
    trees = parse_bracketed(text)
    return None if trees is None else [analysis for tree in trees if (analysis := analyse(tree, tags))]


def analyse(tree: Tree, tags: TagSet = ENGLISH) -> Analysis | None:
    """The properties of a tree under ROOT; None if its length is out of range."""
    leaves = tree.leaves()
    if not MIN_WORDS <= len(leaves) <= MAX_WORDS:
        return None
    top = _sentence_node(tree, tags)
    main = top if top.label == tags.clause else None
    verb_phrase = _child_with_label(main, tags.verb_phrase)
    verb = _finite_verb(verb_phrase, tags)
    return Analysis(
        sentence=" ".join([str(leaf.word) for leaf in leaves]),
        tags=" ".join([leaf.label for leaf in leaves]),
        depth=tree.depth(),
        top="_".join([child.label for child in top.children]),
        tense=Target(tags.tenses[verb.label], str(verb.word).lower()) if verb else None,
        subject=_checked_agreement(_head_number(_subject(main, tags), tags), verb, tags),
        object=_head_number(_object(verb_phrase, tags), tags),
        clauses=_clauses(top, leaves, tags),
        classes=non_empty({"Passive": _voice(verb_phrase, tags), "SentType": _sentence_type(top, tags)}),
    )


def non_empty(values: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in values.items() if value)


def _voice(verb_phrase: Tree | None, tags: TagSet) -> str:
    """The voice of the main clause; "" without a verb, where verb phrases are coordinated, or with 's or 'd, which may
    be a form of be or have.
    """
    while verb_phrase is not None and not _is_coordinated(verb_phrase, tags):
        verbs = {str(child.word).lower() for child in verb_phrase.children if child.label in tags.verbs}
        inner = _child_with_label(verb_phrase, tags.verb_phrase)
        if not verbs or verbs & tags.shortened:
            return ""
        if inner is None:
            return "active"
        if any(child.label == tags.participle for child in inner.children) and verbs & tags.passives:
            return "passive"
        verb_phrase = inner
    return ""


def _sentence_type(top: Tree, tags: TagSet) -> str:
    """interrogative, imperative or declarative; "" also where the label and the last mark say different things."""
    asks, last = top.label in tags.questions, top.words()[-1]
    if last in (".", "?") and asks != (last == "?"):
        return ""
    if asks:
        return "interrogative"
    verb_phrase = _child_with_label(top, tags.verb_phrase) if top.label == tags.clause else None
    first = ""
    while verb_phrase is not None and not first:  # of coordinated verb phrases the first one
        first = next((child.label for child in verb_phrase.children if child.label in tags.verbs), "")
        verb_phrase = _child_with_label(verb_phrase, tags.verb_phrase)
    if first == tags.base_verb and first:
        return "" if _child_with_label(top, tags.noun_phrase) else "imperative"
    return "declarative" if first in (*tags.tenses, *tags.modals) and _subject(top, tags) else ""


def _sentence_node(tree: Tree, tags: TagSet) -> Tree:
    """The node below ROOT with the punctuation next to it; ROOT itself if there are several nodes."""
    if len(tree.children) == 1:
        return tree.children[0]
    indices = [index for index, child in enumerate(tree.children) if child.label not in tags.hanging]
    if len(indices) != 1:
        return tree
    [index] = indices
    top = tree.children[index]
    return Tree(top.label, [*tree.children[:index], *top.children, *tree.children[index + 1 :]])


def _child_with_label(node: Tree | None, label: str) -> Tree | None:
    return next((child for child in node.children if child.label == label), None) if node else None


def _is_coordinated(node: Tree, tags: TagSet) -> bool:
    return any(child.label in tags.conjunctions for child in node.children)


def _finite_verb(verb_phrase: Tree | None, tags: TagSet) -> Tree | None:
    """The finite verb of the main clause: none after a modal, or where verb phrases are coordinated."""
    if verb_phrase is None or _is_coordinated(verb_phrase, tags):
        return None
    first = next((child for child in verb_phrase.children if child.label in tags.verbs), None)
    return first if first is not None and first.label in tags.tenses else None


def _subject(clause: Tree | None, tags: TagSet) -> Tree | None:
    """The last noun phrase before the verb phrase, except adverbial ones."""
    phrase = None
    for child in clause.children if clause else []:
        if child.label == tags.verb_phrase:
            return phrase
        if child.label == tags.noun_phrase and not _is_adverbial(child, tags):
            phrase = child
    return None


def _is_adverbial(phrase: Tree, tags: TagSet) -> bool:
    return not tags.not_objects.isdisjoint(phrase.role.split("-"))


def _object(verb_phrase: Tree | None, tags: TagSet) -> Tree | None:
    """The only noun phrase directly below the main verb; skips auxiliaries.

    None if the verb is passive or a copula, if verb phrases are coordinated, or if there are two noun phrases: the
    labels do not say which is the direct object.
    """
    while verb_phrase is not None and not _is_coordinated(verb_phrase, tags):
        phrases = [c for c in verb_phrase.children if c.label == tags.noun_phrase and not _is_adverbial(c, tags)]
        verbs = {str(c.word).lower() for c in verb_phrase.children if c.label in tags.verbs}
        inner = _child_with_label(verb_phrase, tags.verb_phrase)
        if inner is None:
            return phrases[0] if len(phrases) == 1 and not verbs & tags.copulas else None
        passive = any(c.label == tags.participle for c in inner.children) and verbs & tags.passives
        if phrases or passive:
            return None
        verb_phrase = inner
    return None


def _head_number(phrase: Tree | None, tags: TagSet) -> Target | None:
    """The number of the head of a noun phrase: its last word if that is a noun, else the head of its first noun phrase.

    Left out: coordinations, proper nouns, heads that only measure ("a lot of"), nouns of time.
    """
    has_complement = False
    while phrase is not None and not _is_coordinated(phrase, tags):
        inner = [c for c in phrase.children if c.word is None and c.label not in tags.punctuation]
        last = next((c for c in reversed(phrase.children) if c.label not in tags.punctuation), None)
        if last is not None and last.word is not None:
            form = last.word.lower()
            is_common_noun = last.label in tags.numbers and form.isalpha() and form not in tags.time_nouns
            is_counted = is_common_noun and not (has_complement and form in tags.quantities)
            return Target(tags.numbers[last.label], form) if is_counted else None
        core = inner[0] if inner and inner[0].label == tags.noun_phrase else None
        has_complement = len(inner) > 1 and inner[1].label == tags.prepositional_phrase
        phrase = core
    return None


def _checked_agreement(subject: Target | None, verb: Tree | None, tags: TagSet) -> Target | None:
    """The subject; None if its number differs from that of the verb, because then one of the two tags is wrong."""
    if subject is None or verb is None:
        return subject
    singular = subject.label == tags.numbers[min(tags.numbers)]
    disagrees = verb.label == (tags.plural_verb if singular else tags.singular_verb)
    return None if disagrees else subject


def _clauses(top: Tree, leaves: list[Tree], tags: TagSet) -> Clauses | None:
    """The two clauses of `S (,) CC S (.)`, if this is the only conjunction and there are no quotation marks.

    Marks at the end of a clause are not part of it, also where the tree has them inside: they keep their places.
    """
    if top.label != tags.coordination or sum(leaf.label in tags.conjunctions for leaf in leaves) != 1:
        return None
    parts = [child for child in top.children if child.label not in tags.punctuation]
    if len(parts) != 3 or top.children[0] is not parts[0] or {parts[0].label, parts[2].label} != {tags.clause}:
        return None
    if any(leaf.label in tags.quotes or leaf.label.startswith("-") for leaf in leaves):
        return None
    linked = parts[1].label in tags.conjunctions and str(parts[1].word).lower() in tags.coordinators
    if not linked or not all(_is_full_clause(clause, tags) for clause in parts[::2]):
        return None
    labels = [leaf.label for leaf in leaves]
    ends = list(accumulate(len(child.leaves()) for child in top.children))
    second = top.children.index(parts[2])
    end, end2 = (without_marks(labels, ends[index], tags.punctuation) for index in (0, second))
    return Clauses(0, end, ends[second - 1], end2)


def without_marks(labels: Sequence[str], end: int, marks: Collection[str]) -> int:
    """The end of a span of words without its final punctuation."""
    while end > 0 and labels[end - 1] in marks:
        end -= 1
    return end


def _is_full_clause(clause: Tree, tags: TagSet) -> bool:
    """Whether a clause has a verb and, as far as word order shows, a subject."""
    verb = next((index for index, child in enumerate(clause.children) if child.label in tags.predicates), None)
    return verb is not None and (verb > 0 or not tags.verb_second)
