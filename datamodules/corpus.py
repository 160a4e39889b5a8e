"""The interface of a corpus: views of its text, for objectives and probing tasks."""

from collections.abc import Iterator
from copy import copy
from typing import Literal, NamedTuple, get_args

from datamodules.excluded import Excluded
from datamodules.trees.conllu import DependencyTree
from encoder_lab.errors import InputError
from encoder_lab.storage.code import code_of

Split = Literal["train", "dev", "test", "probe"]  # probe: sentences that no objective trains on
Label = Literal["entailment", "neutral", "contradiction"]
LABELS: tuple[Label, ...] = get_args(Label)


class Section(NamedTuple):
    """A titled part of a document. It is nested in the last earlier section of a lower level."""

    level: int | None  # 1 is outermost, 0 is text before any heading, None is unknown
    title: str | None
    paragraphs: list[list[str]]  # sentences, tokenised, single spaced


class Document(NamedTuple):
    """Sentences in order, in paragraphs, in nested titled sections."""

    id: str
    title: str | None
    sections: list[Section]
    categories: tuple[str, ...] = ()  # its subjects, as in an encyclopedia

    def sentences(self) -> Iterator[str]:
        return (sentence for section in self.sections for paragraph in section.paragraphs for sentence in paragraph)


class Inference(NamedTuple):
    """A premise, a hypothesis and the label of the pair."""

    premise: str
    hypothesis: str
    label: Label


class NoSuchView(InputError):
    """The corpus does not have the view that is asked for."""


class Corpus:
    """Text on disk, or generated. A subclass overrides the views that it has.

    Each view streams whitespace-tokenised text (and translations) of one split: the same text in the same order at
    each call. Raises InputError naming file and line if the text is malformed.
    """

    name: str = "corpus"
    source_language: str = "en"  # of all views, and of the source of `parallel`
    excluded: Excluded = Excluded()  # of the training text: see `exclude_sentences`
    for_probing: tuple[Split, ...] = ("probe",)  # splits of which `probes=text` makes its tasks

    def fingerprint(self) -> str:
        """A short text that changes with the content of the files and with each setting that changes the text of a
        view, not with the places of the files.
        """
        raise InputError(f"corpus {self.name} has no fingerprint: define this method in its class")

    def parallel(self, split: Split, target: str) -> Iterator[tuple[str, str]]:
        """Sentences with their translations into `target` ("fr", "de", "fi")."""
        raise self._no_such_view(f"{self.source_language}-{target} sentence pairs")

    def sentences(self, split: Split) -> Iterator[str]:
        """Sentences; of a corpus of pairs alone, its premises and hypotheses."""
        if type(self).inference is Corpus.inference:
            raise self._no_such_view("plain sentences")
        return (text for pair in self.inference(split) for text in (pair.premise, pair.hypothesis))

    def trees(self, split: Split) -> Iterator[str]:
        """Penn-style constituency trees of English sentences, one line each."""
        raise NoSuchView(f"corpus {self.name} has no trees: use probes=trees, probes=ud or probes=text")

    def dependencies(self, split: Split) -> Iterator[DependencyTree]:
        """Dependency trees with the parts of speech, features and relations of Universal Dependencies."""
        raise self._no_such_view("dependency trees")

    def documents(self, split: Split) -> Iterator[Document]:
        """Documents: sentences in context."""
        raise self._no_such_view("documents")

    def inference(self, split: Split) -> Iterator[Inference]:
        """Premise and hypothesis pairs."""
        raise self._no_such_view("premise-hypothesis pairs")

    def place(self, side: Literal["source", "target"]) -> str:
        """Where the text of a side comes from, for messages."""
        return f"corpus {self.name}, {side}"

    @staticmethod
    def tokenize(raw: str, language: str = "en") -> str:  # noqa: ARG004
        """Tokenise raw text as this corpus does; tokens have single spaces between them."""
        return " ".join(raw.split())

    def _no_such_view(self, view: str) -> NoSuchView:
        return NoSuchView(
            f"corpus {self.name} has no {view}: choose another objective=, or a corpus= that has them "
            "(python -m datamodules.download lists corpora)"
        )


def corpus_key(corpus: Corpus) -> list[str]:
    """What the text of a corpus depends on, for the keys of caches: its content, its settings and its code."""
    return [corpus.fingerprint(), code_of(type(corpus)), *corpus.excluded.key]


def held_out_text(corpus: Corpus) -> Iterator[str]:
    """The sentences of a corpus that no objective trains on, tokenised."""
    return (sentence for split in corpus.for_probing for sentence in corpus.sentences(split))


def exclude_sentences(corpus: Corpus, excluded: Excluded) -> Corpus:
    """The same corpus for datamodules, which leave these sentences out of its training text and count them."""
    result = copy(corpus)
    result.excluded = excluded
    return result
