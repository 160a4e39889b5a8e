"""The demo world: what never varies in its text, and preferences so strong that a replaced word can be detected."""

from collections import Counter
from itertools import combinations, islice
from math import log

import numpy as np
import pytest

from datamodules.demo import Demo
from datamodules.demo.lexicon import WORDS
from datamodules.demo.meaning import Property
from datamodules.trees.penn import corpus_texts
from encoder_lab.errors import InputError
from probes.probing.build.all_tasks import build_tasks, from_trees
from probes.probing.build.analysis import Analysis, analyse
from probes.probing.build.pool import Sizes
from tests.datamodules.trees.test_penn import parse_tree

ALL: tuple[Property, ...] = ("tense", "subject_number", "object_number")
LABEL = {"tense": "PAST", "subject_number": "NN", "object_number": "NN"}
PLURAL = {"these", "several", "they", "them", "are", "were", "have"}
NOUNS = {form: noun.lemma for nouns in WORDS.nouns.values() for noun in nouns for form in (noun.lemma, noun.plural)}
VERBS = {
    form: f"to {verb.base}"
    for verb in (*WORDS.transitive.values(), *WORDS.intransitive)
    for form in (verb.base, verb.past, verb.participle, verb.third_person, verb.progressive)
}
LEMMAS = NOUNS | VERBS


def analyses(corpus: Demo, split: str = "train", count: int = 600) -> list[Analysis]:
    read = (analyse(parse_tree(text)) for text in islice(corpus.trees(split), count))  # type: ignore[arg-type]
    return [sentence for sentence in read if sentence]


def labels(read: list[Analysis], name: Property) -> set[str]:
    """The labels that the probing task of a property gives."""
    targets = (getattr(sentence, name.split("_")[0]) for sentence in read)
    return {target.label for target in targets if target}


@pytest.mark.parametrize("name", ALL)
def test_a_constant_property_has_one_label_in_training_and_two_in_the_tasks(name) -> None:
    corpus = Demo(2000, constant=[name])
    read = analyses(corpus)
    assert labels(read, name) == {LABEL[name]}
    assert all(len(labels(read, other)) == 2 for other in ALL if other != name)
    assert list(islice(corpus.trees("probe"), 100)) == list(islice(Demo(2000).trees("probe"), 100))


def test_no_clause_keeps_what_is_constant() -> None:
    tags = {tag for sentence in analyses(Demo(1000, constant=ALL)) for tag in sentence.tags.split()}
    assert not tags & {"VBZ", "VBP", "VBN"}
    sentences = list(Demo(1000, constant=ALL).sentences("train"))
    assert not PLURAL & {word for sentence in sentences for word in sentence.split()}
    pairs = list(Demo(600, constant=ALL).inference("train"))
    assert not PLURAL & {word for pair in pairs for word in f"{pair.premise} {pair.hypothesis}".split()}


@pytest.mark.parametrize("language", ["fr", "de", "fi"])
def test_what_is_irrelevant_varies_in_the_source_alone(language) -> None:
    ordinary = list(Demo(300).parallel("train", language))
    irrelevant = list(Demo(300, irrelevant=ALL).parallel("train", language))
    constant = list(Demo(300, constant=ALL).parallel("train", language))
    assert irrelevant == [(a[0], b[1]) for a, b in zip(ordinary, constant, strict=True)]


def test_only_a_translation_can_leave_a_property_out() -> None:
    corpus = Demo(300, irrelevant=["tense"])
    for view in (corpus.sentences, corpus.trees, corpus.documents, corpus.inference):
        with pytest.raises(InputError, match="only a translation"):
            next(iter(view("train")))
    assert next(iter(corpus.trees("probe")))


def test_a_property_is_in_one_of_the_two_and_in_the_fingerprint() -> None:
    with pytest.raises(InputError, match="both have tense"):
        Demo(300, constant=["tense"], irrelevant=["tense"])
    several = [Demo(300), Demo(300, constant=["tense"]), Demo(300, irrelevant=["tense"]), Demo(300, constant=ALL)]
    assert len({corpus.fingerprint() for corpus in several}) == len(several)


def _lemmas(sentence: str) -> list[str]:
    return sorted({LEMMAS[word] for word in sentence.lower().split() if word in LEMMAS})


def test_a_replaced_word_rarely_cooccurs_with_the_others() -> None:
    """Co-occurrence counts of words are enough to recognise changed sentences, the task of SOMO."""
    alone, pairs, read = Counter[str](), Counter[tuple[str, str]](), 6_000
    for sentence in islice(Demo(size=read).sentences("train"), read):
        lemmas = _lemmas(sentence)
        alone.update(lemmas)
        pairs.update(combinations(lemmas, 2))

    def least_expected(sentence: str) -> float:
        """The smallest pointwise mutual information of two words in it."""
        lemmas = combinations(_lemmas(sentence), 2)
        return min((log((pairs[p] + 0.5) * read / ((alone[p[0]] + 1) * (alone[p[1]] + 1))) for p in lemmas), default=0)

    sizes = Sizes(200, 20, 200)
    [task] = build_tasks(
        from_trees(corpus_texts(islice(Demo().trees("probe"), 12 * sum(sizes)))), sizes, ["SOMO"]
    ).tasks
    surprise = [np.array([least_expected(s) for s in split.sentences]) for split in (task.train, task.test)]
    changed = [split.gold == task.classes.index("C") for split in (task.train, task.test)]
    limit = max(surprise[0], key=lambda at: np.mean((surprise[0] < at) == changed[0]))
    assert np.mean((surprise[1] < limit) == changed[1]) > 0.65
