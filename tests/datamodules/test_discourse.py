from collections.abc import Iterator

import numpy as np
import pytest
import torch

from datamodules.arrays import make_ragged
from datamodules.batches import InDocument
from datamodules.corpus import Document, Section, Split, exclude_sentences
from datamodules.discourse import ClassCounts, SentencesInDocuments, pad_bags
from datamodules.excluded import Excluded
from datamodules.text.vocabulary import Vocabulary
from encoder_lab.errors import InputError
from tests.tiny_corpus import TinyCorpus


class Two(TinyCorpus):
    """Two documents, of four and of two sentences."""

    name = "two"

    def documents(self, split: Split) -> Iterator[Document]:
        deep = Section(9, "More On X", [["long " * 30 + "end"], ["d e"]])
        yield Document("1", "First One", [Section(0, None, [["A b", "", "c"], [""]]), deep])
        yield Document("2", None, [Section(None, "X", [["f g h", "i"]])])


@pytest.fixture
def data(tmp_path) -> SentencesInDocuments:
    return SentencesInDocuments(Two(), tmp_path, seed=1, max_words=10, paragraph_positions=2)


@pytest.fixture
def batch(data) -> InDocument:
    """All examples in the order of the corpus: A b | c | d e | f g h | i."""
    return data._collate("train")(np.arange(5))


def texts(data: SentencesInDocuments, side: str, bag: tuple[torch.Tensor, torch.Tensor]) -> list[str]:
    words = Vocabulary.load(data.folder / f"{side}.bag.txt").words
    return [" ".join(words[i] for i in row[:size]) for row, size in zip(bag[0].tolist(), bag[1].tolist(), strict=True)]


def test_neighbours_are_of_the_same_document_missing_ones_are_empty_and_titles_bags_of_lower_case(data, batch) -> None:
    long = "long " * 30 + "end"
    assert texts(data, "source", batch.previous) == ["", "a b", long, "", "f g h"]
    assert texts(data, "source", batch.next) == ["c", long, "", "i", ""]
    assert texts(data, "section", batch.section_title) == ["", "", "more on x", "x", "x"]
    assert texts(data, "document", batch.document_title) == ["first one"] * 3 + [""] * 2


def test_sentences_are_lower_cased_where_it_is_asked_for(data, tmp_path) -> None:
    lower = SentencesInDocuments(Two(), tmp_path, seed=1, max_words=10, lowercase=True)
    assert [next(iter(each.source_sentences())) for each in (data, lower)] == ["A b", "a b"]
    assert (data.lowercase, lower.lowercase) == (False, True)


def test_positions_count_real_sentences_and_paragraphs_and_those_beyond_the_classes_become_the_last(
    data, batch
) -> None:
    assert batch.in_paragraph.value.tolist() == [0, 1, 0, 0, 1]
    assert batch.in_paragraph.total.tolist() == [2, 2, 1, 2, 2]
    assert batch.in_document.value.tolist() == [0, 0, 1, 0, 0]  # "d e" is in the third paragraph
    assert batch.in_document.total.tolist() == [2, 2, 2, 1, 1]
    assert batch.level.tolist() == [0, 0, 6, -1, -1]
    assert data.clipped["train"] == ClassCounts(levels=2, sentences=0, paragraphs=1)
    assert data.skipped["train"]._asdict() == {"empty": 2, "too_long": 1, "in_tasks": 0}


def test_a_sentence_of_the_tasks_is_no_example_and_no_target_and_keeps_its_position(tmp_path) -> None:
    data = SentencesInDocuments(exclude_sentences(TinyCorpus(), Excluded(["DOG1 dog1"])), tmp_path, seed=1)
    assert data._examples("train").tolist() == [0, *range(2, 24)]
    assert data.skipped["train"].in_tasks == 1
    batch = data._collate("train")(np.arange(2))
    assert (batch.next.sizes.tolist(), batch.previous.sizes.tolist()) == ([0, 1], [0, 0])
    assert batch.in_paragraph.value.tolist() == [0, 0]
    assert batch.in_paragraph.total.tolist() == [2, 1]


def test_words_beyond_the_most_frequent_are_unknown(tmp_path) -> None:
    few = SentencesInDocuments(Two(), tmp_path, seed=1, bag_words=1)
    assert few.bag_sizes == {"source": 3, "section": 3, "document": 3}
    assert texts(few, "section", few._collate("dev")(np.array([3])).section_title) == ["<unk> <unk> x"]


def test_a_bag_at_row_minus_one_is_empty() -> None:
    bag = pad_bags(make_ragged([[5, 6, 7], [], [8]]), np.array([2, -1, 0, 1]))
    assert bag.ids.tolist() == [[8, 0, 0], [0, 0, 0], [5, 6, 7], [0, 0, 0]]
    assert bag.sizes.tolist() == [1, 0, 3, 0]


def test_documents_without_a_usable_sentence_are_refused(tmp_path) -> None:
    with pytest.raises(InputError, match="at most 0 words"):
        SentencesInDocuments(Two(), tmp_path, seed=1, max_words=0)
