"""The n-gram model."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datamodules.demo import Demo
from encoder_lab.errors import InputError
from probes.coherence.ngram import ORDERS, WORD, NgramModel, lazy_ngram_model, length_logprobs

TEXTS = [["a b a b c", "b a b a"], ["c c d", ""]]
SENTENCE = st.lists(st.sampled_from("abcdxyz"), min_size=1, max_size=5).map(lambda words: " ".join([*words, "."]))
DOCUMENTS = st.lists(st.lists(SENTENCE, min_size=1, max_size=3), min_size=1, max_size=3)


def by_hand(texts: list[list[str]], order: int, history: list[str], word: str) -> float:
    """Witten-Bell, by counting in the texts for each question."""
    rows = [["|", *(w for sentence in text for w in [*WORD.findall(sentence), "|"])] for text in texts]
    everything = [w for row in rows for w in row]
    vocabulary = {w for w in everything if everything.count(w) > 1}
    once = len(set(everything) - vocabulary)
    rows = [[w if w in vocabulary else "?" for w in row] for row in rows] + [["?"]]
    history = [w if w in vocabulary else "?" for w in history][max(0, len(history) - order + 1) :]
    word = word if word in vocabulary else "?"

    def chance(history: list[str]) -> float:
        k = len(history)
        after = [row[i + k] for row in rows for i in range(len(row) - k) if row[i : i + k] == history]
        if not history:
            return after.count(word) / len(after)
        shorter = chance(history[1:])
        return (after.count(word) + len(set(after)) * shorter) / (len(after) + len(set(after))) if after else shorter

    return chance(history) / (1 if word != "?" else once + 1)


@given(DOCUMENTS, DOCUMENTS, st.integers(1, 4))
def test_probabilities_equal_those_counted_one_by_one(train, test, order) -> None:
    answers = NgramModel(train, order).logprobs([("", " ".join(text)) for text in test])
    for text, (tokens, _, logprobs) in zip(test, answers, strict=True):
        words = ["|", *(w for sentence in text for w in [*WORD.findall(sentence), "|"])]
        places = [i for i, word in enumerate(words) if word != "|"]
        assert tokens == [words[i] for i in places]
        expected = [math.log2(by_hand(train, order, words[:i], words[i])) for i in places]
        np.testing.assert_allclose(logprobs, expected, rtol=1e-9)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_known_words_boundaries_rare_words_and_a_new_one_have_all_probability(order) -> None:
    model = NgramModel(TEXTS, order)
    assert model.rare == 1  # d
    for history in ("", "a b ", "b a ", "zebra a ", "c c "):
        words = [(history, word) for word in ("a", "b", "c", "d", "zebra", "[SEP]")]
        assert sum(2 ** model.logprobs([pair])[0].logprobs[0] for pair in words) == pytest.approx(1)


def test_the_values_worked_out_by_hand() -> None:
    model = NgramModel([["a b a b"]], 2)  # | a b a b | and the unknown word, which no word is: 7 in all
    logprobs = model.logprobs([("", "a b c")])[0].logprobs
    first = (1 + 1 * 2 / 7) / 2  # | is followed by a, once
    after_a = (2 + 1 * 2 / 7) / 3  # a is followed by b, twice
    after_b = (0 + 2 * 1 / 7) / 4  # b by a and |
    np.testing.assert_allclose(2**logprobs, [first, after_a, after_b])


def test_an_unknown_word_is_no_cheap_choice() -> None:
    rare = [" ".join(f"name{number} slept ." for number in range(50))]  # as many words that occur once
    (answer,) = NgramModel([*TEXTS, rare], 1).logprobs([("", "a d zebra slept")])
    a, once, never, often = answer.logprobs
    assert once == never < a < often


def test_a_mark_of_a_change_of_speaker_is_a_boundary() -> None:
    marked, plain = NgramModel(TEXTS).logprobs([("", "a b. [SEP] b a."), ("", "a b. b a.")])
    assert marked.tokens == ["a", "b", ".", "[SEP]", "b", "a", "."]
    np.testing.assert_array_equal(np.delete(marked.logprobs, 3), plain.logprobs)
    assert marked.offsets[3].tolist() == [5, 10]


def test_a_context_counts_and_has_no_tokens() -> None:
    whole, part = NgramModel(TEXTS, 3).logprobs([("", "a b, a"), ("a b,", " a")])
    assert (part.tokens, part.offsets.tolist()) == (["a"], [[1, 2]])
    assert part.logprobs[0] == whole.logprobs[-1]


def test_scoring_adds_nothing_to_the_counts() -> None:
    model = NgramModel(TEXTS)
    before = model.model.counts.N(), [len(model.model.counts[n]) for n in (2, 3, 4)]
    model.logprobs([("", "zebra d c b a zebra . a a a a")])
    assert before == (model.model.counts.N(), [len(model.model.counts[n]) for n in (2, 3, 4)])


def test_the_text_of_a_corpus_runs_across_the_sentences_of_its_documents() -> None:
    class Pairs(Demo):
        """The same sentences without their order."""

        documents = Demo.__mro__[1].documents

    first = next(Demo(60).documents("train")).sections[0].paragraphs
    text = [("", " ".join([sentence for paragraph in first for sentence in paragraph][:4]))]
    running, alone = (sum(lazy_ngram_model(corpus, "ngram")(text)[0].logprobs) for corpus in (Demo(60), Pairs(60)))
    assert running > alone  # a sentence of the text is expected after the one before it
    assert ORDERS["ngram"] == 4


def test_texts_without_a_word_are_refused() -> None:
    with pytest.raises(InputError, match="no words"):
        NgramModel([["", " "]])
    with pytest.raises(InputError, match="order=0"):
        NgramModel([["a"]], 0)


def test_the_length_control_counts_characters() -> None:
    """Of a word with all vowel signs."""
    (answer,) = length_logprobs([("He is ", "here, now हिन्दी.")])
    assert answer.tokens == ["here", ",", "now", "हिन्दी", "."]
    assert answer.logprobs.tolist() == [-4, -1, -3, -6, -1]
    assert answer.offsets.tolist() == [[0, 4], [4, 5], [6, 9], [10, 16], [16, 17]]
