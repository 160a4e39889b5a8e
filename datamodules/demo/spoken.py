"""Words of a generated sentence that know their part of speech and their head: dependencies come with the text."""

from collections.abc import Sequence

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
    said = [spoken(first, SpokenNode(part, features))]
    return [*said, *under([spoken(other, SpokenNode(part, {})) for other in others], said[0].node, "fixed")]


def comma() -> Spoken:
    return spoken(",", SpokenNode("PUNCT", {}))


def full_name(forms: Sequence[str], **features: str) -> list[Spoken]:
    """The parts of a person's name; the first is the head."""
    said = [word for form in forms for word in say(form, "PROPN", **features)]
    return [*said[:1], *under(said[1:], said[0].node, "flat")]


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


def tree_of_words(words: Sequence[Spoken]) -> DependencyTree:
    """The dependency tree of a sentence in which every word but one has its head."""
    held = [(word, place) for place, token in enumerate(words) for word in (token.inner or (token,))]
    places = {id(word.node): place for place, (word, _) in enumerate(held)}
    rows = []
    for word, token in held:
        node = word.node
        head = -1 if node.head is None else places[id(node.head)]
        rows.append(Dependent(str(word), node.part, node.features, head, node.relation, token))
    return DependencyTree([str(word) for word in words], rows)
