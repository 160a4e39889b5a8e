"""Vectors of distinct sentences, and features that are formed in portions when a classifier reads them."""

import numpy as np
import pytest
import torch
from hypothesis import given as given_that
from hypothesis import strategies as st

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import log_note_once
from probes.classifiers.classifier import Grid, Labelled, probe
from probes.task import Items
from probes.vectors import StreamedFeatures, Vectors, pair_features, sentence_vector, vectors_of

WORDS = list("abcdefgh")
RANDOM = np.random.default_rng(0)
TABLE = Vectors(RANDOM.normal(size=(8, 3)).astype(np.float32), WORDS)


def test_the_vector_of_several_texts_is_their_mean() -> None:
    means = TABLE.features(Items(([["a"], ["b", "c", "d"]],), np.zeros(2)), sentence_vector)[:]
    np.testing.assert_allclose(means, [TABLE.matrix[0], TABLE.matrix[1:4].mean(0)], rtol=1e-6)


@given_that(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)), min_size=1, max_size=40), st.data())
def test_any_portion_has_the_features_of_its_items(items, data) -> None:
    first, second = map(list, zip(*items, strict=True))
    whole = TABLE.features(Items((first, second), np.zeros(len(items))), pair_features)[:]
    streamed = StreamedFeatures([TABLE.column_of(first), TABLE.column_of(second)], pair_features, "cpu")
    rows = data.draw(st.lists(st.integers(0, len(items) - 1), min_size=1))
    assert torch.equal(streamed.index_select(0, torch.tensor(rows)), whole[rows])
    assert torch.equal(torch.cat(list(streamed.split(7))), whole)


@pytest.mark.parametrize("protocol", ["modern", "senteval"])
@pytest.mark.parametrize("widths", [(0,), (5,)])
def test_a_classifier_reads_streamed_features_as_it_reads_a_matrix(protocol, widths) -> None:
    grid = Grid(widths=widths, dropouts=(0.0,), l2=(1e-3, 1e-2), protocol=protocol)
    draws = [(list(RANDOM.choice(WORDS, n)), list(RANDOM.choice(WORDS, n))) for n in (90, 40, 40)]
    items = [Items(texts, RANDOM.integers(0, 2, len(texts[0]))) for texts in draws]

    def parts(max_bytes: int) -> list[Labelled]:
        return [Labelled(TABLE.features(part, pair_features, max_bytes=max_bytes), part.gold) for part in items]

    whole = probe(*parts(max_bytes=1 << 20), classes=2, grid=grid, seed=1)
    assert all(isinstance(part.vectors, StreamedFeatures) for part in parts(max_bytes=0))
    streamed = probe(*parts(max_bytes=0), classes=2, grid=grid, seed=1)
    assert streamed.dev_accuracy == pytest.approx(whole.dev_accuracy, abs=3)
    assert (streamed.predicted == whole.predicted).mean() > 0.9


@pytest.mark.parametrize("numbers", [
    *(np.ones((2, 3)), np.ones((2, 3), dtype=np.int8), [[1, 1, 1], [1, 1, 1]]),
    *(torch.ones(2, 3, requires_grad=True), torch.ones(2, 3, dtype=torch.bfloat16)),
], ids=["float64", "integers", "lists", "a tensor that requires gradients", "bfloat16"])  # fmt: skip
def test_a_model_may_give_its_numbers_in_any_form(numbers) -> None:
    vectors = vectors_of(lambda _: numbers, ["a", "b"])
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, np.ones((2, 3)))


def test_one_vector_for_all_sentences_is_told_up_to_rounding_and_no_other(caplog) -> None:
    sentences, random = ["a", "b", "c"], np.random.default_rng(1)
    constant = np.broadcast_to(random.normal(size=8), (3, 8))
    for spread, told in ((0, 1), (1e-7, 1), (1e-3, 0)):
        caplog.clear()
        log_note_once.cache_clear()
        vectors_of(lambda _, spread=spread: constant + spread * random.normal(size=(3, 8)), sentences, "cls of GPT-2")
        assert (
            caplog.messages
            == ["cls of GPT-2: all 3 sentences have the same vector, so its scores are those of chance"] * told
        )


@pytest.mark.parametrize(("answer", "message"), [
    ([[1.0, 2.0], [1.0]], "no matrix of numbers but list"),
    ([torch.ones(2, requires_grad=True)] * 2, "no matrix of numbers but list"),
    (None, r"an array \(\) for 2 sentences"),
    (np.array([[1.0], [1e39]]), "vector of 'b' is not finite"),
    (np.array([[1.0], [-1e20]], dtype=np.float32), "vector of 'b' is not finite, or has numbers of 1e.18 or more"),
    (np.array([[1.0], [np.nan]], dtype=np.float32), "vector of 'b' is not finite"),
    (np.ma.masked_equal([[1.0], [2.0]], 2.0), "vector of 'b' is not finite"),
    (np.ones((2, 0)), r"vectors of no numbers, \(2, 0\)"),
    *((number, "complex numbers; give") for number in (np.ones((2, 3), dtype=complex), [[1j], [2j]])),
    (torch.ones(2, 3, dtype=torch.complex64), "complex numbers; give"),
], ids=lambda value: str(value)[:24])  # fmt: skip
def test_a_model_that_gives_no_vectors_is_refused_in_one_line(answer, message) -> None:
    with pytest.raises(InputError, match=f"my_module:encode.*{message}"):
        vectors_of(lambda _: answer, ["a", "b"], "my_module:encode")
