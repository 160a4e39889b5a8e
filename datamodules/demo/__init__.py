"""The generated demo corpus: a small world, a synchronous grammar, four languages.

All views of a split have the same sentences in the same order. Each document is a function of (seed, split, number),
so any size takes linear time and constant memory, and the text is the same on every machine.
"""

from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Annotated

from datamodules.corpora.on_disk import refuse_language
from datamodules.corpus import Corpus, Document, Inference, NoSuchView, Split
from datamodules.demo import english
from datamodules.demo.documents import Story, story
from datamodules.demo.grammar import dependencies_of, words_of
from datamodules.demo.inference import inference
from datamodules.demo.meaning import Property, SentencePlan, constant_plan
from datamodules.trees.conllu import DependencyTree
from encoder_lab.errors import InputError
from encoder_lab.settings.types import Count, Seed, SourceLanguage

LANGUAGES = ("en", "fr", "de", "fi")
PROBE_FACTOR = 1000  # sentences of the probe split per training sentence; read only as far as needed


class Demo(Corpus):
    """`size` training sentences, a tenth of that (200 to 2,000) for dev and test, and a large probe split."""

    name = "demo"

    def __init__(
        self,
        size: Annotated[Count, "training sentences; thousands to millions"] = 5000,
        seed: Annotated[Seed, "the same seed gives the same text on every machine"] = 1,
        source_language: SourceLanguage = "en",
        constant: Annotated[Sequence[Property], "never vary in training: tense, subject_number, object_number"] = (),
        irrelevant: Annotated[Sequence[Property], "vary in what is read and not in the translation: the same"] = (),
    ) -> None:
        refuse_language(self.name, source_language, LANGUAGES)
        self.size, self.seed, self.source_language = size, seed, source_language
        self.constant, self.irrelevant = sorted(set(constant)), sorted(set(irrelevant))
        if common := set(constant) & set(irrelevant):
            raise InputError(f"corpus.constant= and corpus.irrelevant= both have {min(common)}; give it in one of them")

    def fingerprint(self) -> str:
        spoken = "" if self.source_language == "en" else f" {self.source_language}"
        fixed = [*self.constant, *(f"irrelevant {name}" for name in self.irrelevant)]
        return f"demo seed {self.seed} size {self.size}{spoken}{f' constant {fixed}' if fixed else ''}"

    def parallel(self, split: Split, target: str) -> Iterator[tuple[str, str]]:
        refuse_language(self.name, target, LANGUAGES)
        pairs = ((plan, constant_plan(plan, self.irrelevant)) for plan in self._plans(split))
        return ((words_of(source, self.source_language), words_of(fixed, target)) for source, fixed in pairs)

    def sentences(self, split: Split) -> Iterator[str]:
        self._refuse_irrelevant(split)
        return (words_of(plan, self.source_language) for plan in self._plans(split))

    def trees(self, split: Split) -> Iterator[str]:
        self._refuse_irrelevant(split, "trees (probes=corpus, objective=seq2tree)")
        return map(english.tree, self._plans(split))

    def dependencies(self, split: Split) -> Iterator[DependencyTree]:
        if self.source_language == "en":
            raise NoSuchView("corpus demo has Penn-style trees in English, and dependency trees in fr, de, fi")
        return (dependencies_of(plan, self.source_language) for plan in self._plans(split))

    def documents(self, split: Split) -> Iterator[Document]:
        self._refuse_irrelevant(split, "documents")
        remaining = self._count(split)
        for document in self._stories(split):
            if remaining <= 0:
                return
            remaining -= sum(1 for _ in document.plans())
            yield document.english()

    def inference(self, split: Split) -> Iterator[Inference]:
        self._refuse_irrelevant(split, "premise-hypothesis pairs")
        return (inference(self.seed, split, number, self._constant(split)) for number in range(self._count(split)))

    def _refuse_irrelevant(self, split: Split, english_view: str = "") -> None:
        """Raises InputError for properties that cannot be left out, NoSuchView for a view that only English has."""
        if self.irrelevant and split != "probe":
            remedy = "only a translation (objective=nmt) can leave it out; use corpus.constant="
            raise InputError(f"corpus.irrelevant={self.irrelevant}: {remedy}")
        if english_view and self.source_language != "en":
            raise NoSuchView(f"corpus demo has {english_view} in English alone, not in {self.source_language}")

    def _plans(self, split: Split) -> Iterator[SentencePlan]:
        return islice((plan for document in self._stories(split) for plan in document.plans()), self._count(split))

    def _stories(self, split: Split) -> Iterator[Story]:
        return (story(self.seed, split, number, self._constant(split)) for number in count())

    def _constant(self, split: Split) -> Sequence[Property]:
        return () if split == "probe" else self.constant  # the tasks are the ordinary ones

    def _count(self, split: Split) -> int:
        held_out = max(200, min(2000, self.size // 10))
        sizes = {"train": self.size, "dev": held_out, "test": held_out}
        return sizes.get(split, PROBE_FACTOR * max(1000, self.size))
