"""What a corpus is: text seen through the views that an objective or a probe may ask for."""

from collections.abc import Iterator
from typing import Literal, NamedTuple, get_args

from common.errors import InputError

Split = Literal["train", "dev", "test", "probe"]  # probe: sentences that no objective trains on
Label = Literal["entailment", "neutral", "contradiction"]
LABELS: tuple[Label, ...] = get_args(Label)


class Section(NamedTuple):
    """A titled piece of a document; it lies inside the last earlier section of a lower level."""

    level: int | None  # 1 is outermost, 0 is text before any heading, None is unknown
    title: str | None
    paragraphs: list[list[str]]  # sentences, tokenised, single spaced


class Document(NamedTuple):
    """Sentences in their order, in paragraphs, in nested titled sections."""

    id: str
    title: str | None
    sections: list[Section]


class Inference(NamedTuple):
    """A premise, a hypothesis and how they relate."""

    premise: str
    hypothesis: str
    label: Label


class Corpus:
    """Text on disk, or generated. A corpus overrides the views that it has.

    Every view streams whitespace-tokenised English (and translations) for one split, the same text in
    the same order at each call. Raises InputError naming file and line where the text is broken.
    """

    name: str = "corpus"

    def fingerprint(self) -> str:
        """A short text that changes whenever any view's text may change; caches are keyed by it."""
        raise self._without("fingerprint")

    def parallel(self, split: Split, target: str) -> Iterator[tuple[str, str]]:
        """English sentences with their translations into `target` ("fr", "de", "fi")."""
        raise self._without(f"English-{target} sentence pairs")

    def sentences(self, split: Split) -> Iterator[str]:
        """English sentences."""
        raise self._without("plain sentences")

    def trees(self, split: Split) -> Iterator[str]:
        """Penn-style constituency trees of English sentences, one line each."""
        raise InputError(f"corpus {self.name} has no trees: use probes=trees, probes=senteval or probes=none")

    def documents(self, split: Split) -> Iterator[Document]:
        """Documents: sentences in context."""
        raise self._without("documents")

    def inference(self, split: Split) -> Iterator[Inference]:
        """Premise and hypothesis pairs."""
        raise self._without("premise-hypothesis pairs")

    @staticmethod
    def tokenize(raw: str) -> str:
        """Raw text as this corpus would have it: tokens with single spaces between them."""
        return " ".join(raw.split())

    def _without(self, view: str) -> InputError:
        return InputError(
            f"corpus {self.name} has no {view}: choose another corpus= (python -m datamodules.download lists them)"
        )
