"""Words of a generated sentence that know their part of speech and their head: dependencies come with the text."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from datamodules.demo.meaning import QUESTIONS, Event, Place, SentencePlan
from datamodules.trees.conllu import DependencyTree, Dependent


class SpokenNode:
    """The place of a word in the tree; the word may still be respelled."""

    __slots__ = ("features", "head", "part", "relation")

    def __init__(self, part: str, features: dict[str, str]) -> None:
        self.part = part
        self.features = "|".join(f"{name}={value}" for name, value in sorted(features.items()))
        self.head: SpokenNode | None = None
        self.relation = "root"


class Spoken(str):
    """A word, with its node; or a token of several words."""

    __slots__ = ("inner", "node")
    node: SpokenNode
    inner: tuple["Spoken", ...]  # the words of French `du`; empty for a single word

    def respelled(self, text: str) -> "Spoken":
        """Another form at the same place of the tree."""
        return spoken(text, self.node, self.inner)


def spoken(text: str, node: SpokenNode, inner: tuple[Spoken, ...] = ()) -> Spoken:
    word = Spoken(text)
    word.node, word.inner = node, inner
    return word


def joined(text: str, first: Spoken, second: Spoken) -> Spoken:
    """One token of two words, as French `du` of de and le."""
    return spoken(text, first.node, (first, second))


def say(text: str, part: str, **features: str) -> list[Spoken]:
    """A word with its features; of several words the others belong to the first."""
    first, *others = text.split()
    head = spoken(first, SpokenNode(part, features))
    return [head, *under([spoken(other, SpokenNode(part, {})) for other in others], head.node, "fixed")]


def comma() -> Spoken:
    return spoken(",", SpokenNode("PUNCT", {}))


def full_name(forms: Sequence[str], **features: str) -> list[Spoken]:
    """The parts of a person's name; the first is the head."""
    words = [word for form in forms for word in say(form, "PROPN", **features)]
    return [*words[:1], *under(words[1:], words[0].node, "flat")]


def coordinated(first: list[Spoken], link: str, second: list[Spoken], pause: Sequence[Spoken] = ()) -> list[Spoken]:
    """Two phrases or clauses around a conjunction; the first is the head."""
    conjunction = under([*pause, *say(link, "CCONJ")], top(second), "cc")
    return [*first, *under([*conjunction, *second], top(first), "conj")]


def marked_by(word: str, clause: list[Spoken], commas: bool = False) -> list[Spoken]:
    """A clause after its conjunction; `commas`: between commas."""
    mark = under(say(word, "SCONJ"), top(clause), "mark")
    return under([comma(), *mark, *clause, comma()], top(clause), "punct") if commas else [*mark, *clause]


def top(phrase: Sequence[Spoken]) -> SpokenNode:
    """The word of a phrase that has no head yet; punctuation aside."""
    return next(word.node for word in phrase if word.node.head is None and word.node.part != "PUNCT")


def under(phrase: list[Spoken], head: SpokenNode, relation: str) -> list[Spoken]:
    """The phrase, with its words without a head attached to `head`; punctuation as such."""
    for word in phrase:
        if word.node.head is None and word.node is not head:
            word.node.head, word.node.relation = head, "punct" if word.node.part == "PUNCT" else relation
    return phrase


def tidy(words: Sequence[Spoken], contractions: Mapping[tuple[str, str], str]) -> list[Spoken]:
    """Removes double commas, and a comma before the end; joins two words that are written as one."""
    done: list[Spoken] = []
    for word in words:
        if word in (",", ".", "?", ";", "”") and done and done[-1] == ",":
            done.pop()
        if done and (done[-1], word) in contractions:
            done[-1] = joined(contractions[done[-1], word], done[-1], word)
        else:
            done.append(word)
    return done


class Language(NamedTuple):
    """What the sentence patterns need of a language."""

    name: Literal["french", "german", "finnish"]  # the field of its words in the lexicon
    links: Mapping[str, str]  # and, but, yet
    quotes: tuple[str, str]
    questions: Mapping[str, Sequence[str]]  # what the patterns who, yes-no, why, where put in front
    place: Callable[[Place], list[Spoken]]
    clause: Callable[[Event], list[Spoken]]
    reporting: Callable[[Event], list[Spoken]]  # who speaks, after what is said
    subordinate: Callable[[str, Event], list[Spoken]]  # in front of the main clause


def sentence(s: SentencePlan, words: list[Spoken], language: Language, pause: bool) -> list[Spoken]:
    """The whole sentence around its first clause; its words have their heads. `pause`: a comma may part the two."""
    root, pattern, commas = top(words), s.pattern.removesuffix(" comma"), [comma()] if pause else []
    if pattern in ("adverb", "time", "interjection"):
        opening = say(getattr(s.word, language.name), "INTJ" if pattern == "interjection" else "ADV")
        commas = [comma()] if pattern == "interjection" else commas if opening[-1] != "que" else []
        words = [*under([*opening, *commas], root, "discourse" if pattern == "interjection" else "advmod"), *words]
    elif pattern == "place":
        assert s.place is not None
        words = [*under([*language.place(s.place), *commas], root, "obl"), *words]
    elif pattern == "subordinate first":
        assert s.link is not None
        words = [*under(language.subordinate(s.link, s.events[1]), root, "advcl"), *words]
    elif pattern == "coordination":
        assert s.link is not None
        words = coordinated(words, language.links[s.link], language.clause(s.events[1]), commas)
    elif pattern == "semicolon":
        words = [*words, *under([*say(";", "PUNCT"), *language.clause(s.events[1])], root, "parataxis")]
    elif pattern in ("reporting clause last", "quotation"):
        opening, closing = (say(mark, "PUNCT") if pattern == "quotation" else [] for mark in language.quotes)
        reporting = under([*closing, comma(), *language.reporting(s.events[1])], root, "parataxis")
        words = [*under(opening, root, "punct"), *words, *reporting]
    elif pattern in QUESTIONS:
        part, relation = ("PRON", "nsubj") if pattern == "who" else ("ADV", "advmod")
        asking = [word for phrase in language.questions[pattern] for word in say(phrase, part)]
        words = [*under(asking, root, relation), *words]
    opener = under(say(language.links[s.opener], "CCONJ"), root, "cc") if s.opener else []
    return [*opener, *words, *under(say("?" if pattern in QUESTIONS else ".", "PUNCT"), root, "punct")]


def tree_of_words(words: Sequence[Spoken]) -> DependencyTree:
    """The dependency tree of a sentence in which every word but one has its head."""
    placed = [(word, place) for place, token in enumerate(words) for word in (token.inner or (token,))]
    places = {id(word.node): place for place, (word, _) in enumerate(placed)}
    rows = []
    for word, token in placed:
        node = word.node
        head = -1 if node.head is None else places[id(node.head)]
        rows.append(Dependent(str(word), node.part, node.features, head, node.relation, token))
    return DependencyTree([str(word) for word in words], rows)
