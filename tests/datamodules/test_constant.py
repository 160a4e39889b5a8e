"""Corpora of the demo world in which a property never varies in training text, or in the translation alone."""

from itertools import islice

import pytest

from datamodules.demo import Demo
from datamodules.demo.meaning import Property
from encoder_lab.errors import InputError
from probes.probing.build.analysis import Analysis, analyse
from tests.datamodules.trees.test_penn import parse_tree

ALL: tuple[Property, ...] = ("tense", "subject_number", "object_number")
LABEL = {"tense": "PAST", "subject_number": "NN", "object_number": "NN"}
PLURAL = {"these", "several", "they", "them", "are", "were", "have"}


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
