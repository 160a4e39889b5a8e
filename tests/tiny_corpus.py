"""A corpus of two dozen sentences with every view, small enough that every objective can memorise it."""

from collections.abc import Iterator
from itertools import product

from datamodules.corpus import Corpus, Document, Inference, Section, Split

NOUNS = ("dog", "cat", "bird", "fish")
VERBS = ("sees", "hears", "likes")
LABELS = ("entailment", "neutral", "contradiction")


class TinyCorpus(Corpus):
    """The same text in every split."""

    name = "tiny"

    def fingerprint(self) -> str:
        return "tiny 1"

    def sentences(self, split: Split) -> Iterator[str]:
        for noun, verb in product(NOUNS, VERBS):
            yield f"the {noun} {verb} ."
            yield f"the {noun} {verb} a {NOUNS[len(verb) % 4]} ."

    def parallel(self, split: Split, target: str) -> Iterator[tuple[str, str]]:
        for sentence in self.sentences(split):
            yield sentence, " ".join(word[0].upper() for word in reversed(sentence.split()))

    def trees(self, split: Split) -> Iterator[str]:
        for sentence in self.sentences(split):
            the, noun, verb, *other, stop = sentence.split()
            object_phrase = f" (NP (DT {other[0]}) (NN {other[1]}))" if other else ""
            yield f"(ROOT (S (NP (DT {the}) (NN {noun})) (VP (VBZ {verb}){object_phrase}) (. {stop})))"

    def documents(self, split: Split) -> Iterator[Document]:
        """Four documents; each sentence is one repeated word, so that its bag has no entropy."""
        for d, name in enumerate(NOUNS):
            sentences = [" ".join([f"{name}{i}"] * (1 + i % 3)) for i in range(6)]
            first = Section(1, "start", [sentences[:2], sentences[2:3]])
            yield Document(f"{split}-{d}", name, [first, Section(2 if d else None, None, [sentences[3:]])])

    def inference(self, split: Split) -> Iterator[Inference]:
        for i, sentence in enumerate(self.sentences(split)):
            yield Inference(sentence, f"{NOUNS[i // 3 % 4]} {VERBS[i // 2 % 3]}", LABELS[i % 3])  # type: ignore[arg-type]
