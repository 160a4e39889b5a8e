"""Words of a generated sentence that know their part of speech and their head: dependencies come with the text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from datamodules.demo.lexicon import WORDS
from datamodules.demo.meaning import QUESTIONS, Event, Place, SentencePlan
from datamodules.trees.conllu import DependencyTree, Dependent


@dataclass(eq=False, slots=True)
class Spoken:
    """A word at its place of the tree; or a token of two words, as French `du` of de and le."""

    text: str
    part: str = ""
    features: str = ""
    head: "Spoken | None" = None
    relation: str = "root"
    inner: tuple["Spoken", ...] = ()  # empty for a single word

    def __str__(self) -> str:
        return self.text


def say(text: str, part: str, **features: str) -> list[Spoken]:
    """A word with its features; of several words the others belong to the first."""
    first, *rest = text.split()
    head = Spoken(first, part, "|".join(f"{name}={value}" for name, value in sorted(features.items())))
    return [head, *under([Spoken(word, part) for word in rest], head, "fixed")]


def comma() -> Spoken:
    return Spoken(",", "PUNCT")


def full_name(forms: Sequence[str], **features: str) -> list[Spoken]:
    """The parts of a person's name; the first is the head."""
    words = [word for form in forms for word in say(form, "PROPN", **features)]
    return [*words[:1], *under(words[1:], words[0], "flat")]


def coordinated(first: list[Spoken], link: str, second: list[Spoken], pause: Sequence[Spoken] = ()) -> list[Spoken]:
    """Two phrases or clauses around a conjunction; the first is the head."""
    conjunction = under([*pause, *say(link, "CCONJ")], top(second), "cc")
    return [*first, *under([*conjunction, *second], top(first), "conj")]


def marked_by(word: str, clause: list[Spoken], commas: bool = False) -> list[Spoken]:
    """A clause after its conjunction; `commas`: between commas."""
    mark = under(say(word, "SCONJ"), top(clause), "mark")
    return under([comma(), *mark, *clause, comma()], top(clause), "punct") if commas else [*mark, *clause]


def top(phrase: Sequence[Spoken]) -> Spoken:
    """The word of a phrase that has no head yet; punctuation aside."""
    return next(word for word in phrase if word.head is None and word.part != "PUNCT")


def under(phrase: list[Spoken], head: Spoken, relation: str) -> list[Spoken]:
    """The phrase, with its words without a head attached to `head`; punctuation as such."""
    for word in phrase:
        if word.head is None and word is not head:
            word.head, word.relation = head, "punct" if word.part == "PUNCT" else relation
    return phrase


def tidy(words: Sequence[Spoken], contractions: Mapping[tuple[str, str], str]) -> list[Spoken]:
    """Removes double commas, and a comma before the end; joins two words that are written as one."""
    result: list[Spoken] = []
    for word in words:
        if word.text in (",", ".", "?", ";", "”") and result and result[-1].text == ",":
            result.pop()
        if result and (pair := (result[-1].text, word.text)) in contractions:
            result[-1] = Spoken(contractions[pair], inner=(result[-1], word))
        else:
            result.append(word)
    return result


class Language(NamedTuple):
    """What the sentence patterns need of a language."""

    name: Literal["french", "german", "finnish"]  # the field of its words in the lexicon
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
        commas = [comma()] if pattern == "interjection" else commas if opening[-1].text != "que" else []
        words = [*under([*opening, *commas], root, "discourse" if pattern == "interjection" else "advmod"), *words]
    elif pattern == "place":
        assert s.place is not None
        words = [*under([*language.place(s.place), *commas], root, "obl"), *words]
    elif pattern == "subordinate first":
        assert s.link is not None
        words = [*under(language.subordinate(s.link, s.events[1]), root, "advcl"), *words]
    elif pattern == "coordination":
        assert s.link is not None
        words = coordinated(words, getattr(WORDS.links[s.link], language.name), language.clause(s.events[1]), commas)
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
    opener = under(say(getattr(WORDS.links[s.opener], language.name), "CCONJ"), root, "cc") if s.opener else []
    return [*opener, *words, *under(say("?" if pattern in QUESTIONS else ".", "PUNCT"), root, "punct")]


def tree_of_words(words: Sequence[Spoken]) -> DependencyTree:
    """The dependency tree of a sentence in which every word but one has its head."""
    indexed = [(word, index) for index, token in enumerate(words) for word in (token.inner or (token,))]
    word_indices = {id(word): index for index, (word, _) in enumerate(indexed)}
    heads = [-1 if word.head is None else word_indices[id(word.head)] for word, _ in indexed]
    rows = [
        Dependent(word.text, word.part, word.features, head, word.relation, token)
        for (word, token), head in zip(indexed, heads, strict=True)
    ]
    return DependencyTree(list(map(str, words)), rows)
