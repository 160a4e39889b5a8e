"""The n-gram model."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.errors import InputError
from probes.coherence.models import WORD, Length
from probes.coherence.ngram import NgramModel

TEXTS = ["a b a b c", "b a b a", "c c d", ""]


def by_hand(texts: list[str], order: int, history: list[str], word: str) -> float:
    """Witten-Bell, by counting in the texts for each question."""
    rows = [WORD.findall(text) for text in texts]
    everything = [w for row in rows for w in row]
    kept = {w for w in everything if everything.count(w) > 1}
    rows = [[w if w in kept else "?" for w in row] for row in rows]
    history = [w if w in kept else "?" for w in history][len(history) - min(order - 1, len(history)) :]
    word = word if word in kept else "?"

    def chance(history: list[str]) -> float:
        k = len(history)
        after = [row[i + k] for row in rows for i in range(len(row) - k) if row[i : i + k] == history]
        shorter = chance(history[1:]) if history else 1 / (len(kept) + 1)
        return (after.count(word) + len(set(after)) * shorter) / (len(after) + len(set(after))) if after else shorter

    return chance(history)


WORDS = st.lists(st.sampled_from("abcdxyz"), max_size=6)


@given(st.lists(WORDS, min_size=1, max_size=4), st.lists(WORDS, min_size=1, max_size=3), st.integers(1, 4))
def test_probabilities_equal_those_counted_one_by_one(train: list, test: list, order: int) -> None:
    texts = [" ".join(words) for words in [*train, ["a"]]]
    found = NgramModel(texts, order).logprobs([("", " ".join(words)) for words in test])
    for words, (tokens, _, logprobs) in zip(test, found, strict=True):
        assert tokens == words
        wanted = [math.log2(by_hand(texts, order, words[:i], word)) for i, word in enumerate(words)]
        np.testing.assert_allclose(logprobs, wanted, rtol=1e-9)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_words_of_the_model_and_the_unknown_one_have_all_probability(order: int) -> None:
    model = NgramModel(TEXTS, order)
    for history in ("", "a b ", "b a ", "zebra a ", "c c "):
        pairs = [(history, word) for word in [*model.ids, "zebra"]]
        assert sum(2 ** model.logprobs([pair])[0].logprobs[0] for pair in pairs) == pytest.approx(1)


def test_the_values_worked_out_by_hand() -> None:
    model = NgramModel(["a b a b"], 2)  # words a, b and the unknown one; 2 of 4 each
    logprobs = model.logprobs([("", "a b c")])[0].logprobs
    unigram = (2 + 2 / 3) / 6
    after_a = (2 + 1 * unigram) / 3  # a is followed by b, twice
    after_b = (0 + 1 * (0 + 2 / 3) / 6) / 2  # b by a, once
    np.testing.assert_allclose(2**logprobs, [unigram, after_a, after_b])


def test_a_context_counts_and_has_no_tokens() -> None:
    model = NgramModel(TEXTS, 3)
    whole, part = model.logprobs([("", "a b, a"), ("a b,", " a")])
    assert part.tokens == ["a"]
    assert part.offsets.tolist() == [[1, 2]]
    assert part.logprobs[0] == whole.logprobs[-1]


@given(st.permutations(["a", "b", "c", "d", "zebra", "a"]))
def test_the_unigram_control_does_not_see_the_order(words: list[str]) -> None:
    model = NgramModel(TEXTS, 1)
    one, other = model.logprobs([("", "a b c d zebra a"), ("", " ".join(words))])
    assert sorted(one.logprobs) == sorted(other.logprobs)


def test_texts_without_a_word_are_refused() -> None:
    with pytest.raises(InputError, match="no words"):
        NgramModel(["", " "])
    with pytest.raises(InputError, match="order=0"):
        NgramModel(["a"], 0)


def test_the_length_control_counts_characters() -> None:
    (found,) = Length().logprobs([("He is ", "here, now.")])
    assert found.tokens == ["here", ",", "now", "."]
    assert found.logprobs.tolist() == [-4, -1, -3, -1]
    assert found.offsets.tolist() == [[0, 4], [4, 5], [6, 9], [9, 10]]
