import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datamodules.arrays import make_ragged
from datamodules.batches import UNKNOWN
from datamodules.text.vocabulary import Vocabulary
from encoder_lab.errors import InputError

words = st.text(st.characters(blacklist_categories=("Z", "C")), min_size=1, max_size=6).filter(str.strip)
sentences = st.lists(st.lists(words, max_size=8).map(" ".join), max_size=12)
small = settings(max_examples=40)


def test_words_are_sorted_by_frequency_then_alphabet() -> None:
    assert Vocabulary.count(["b a c", "c b", "c"]).words[2:] == ["c", "b", "a"]


@small
@given(sentences, sentences)
def test_known_words_round_trip_also_packed_unknown_ones_share_a_row_and_extending_moves_no_row(texts, more) -> None:
    vocabulary = Vocabulary.count(texts)
    for text in texts:
        assert [vocabulary.words[row] for row in vocabulary.rows(text)] == text.split()
    assert vocabulary.rows("never\u00a0seen-before") == [UNKNOWN] * len(["never", "seen-before"])
    packed = make_ragged(map(vocabulary.rows, texts))
    parts = np.split(packed.ids, packed.offsets[1:-1]) if texts else []
    assert [part.tolist() for part in parts] == [vocabulary.rows(text) for text in texts]
    longer = vocabulary.extend(word for text in more for word in text.split())
    assert longer.words[: len(vocabulary)] == vocabulary.words
    assert {word for text in more for word in text.split()} <= set(longer.words)


@pytest.mark.parametrize(("text", "line"), [("a\nb\na\n", ":3"), ("a\n\nb\n", ":2")])
def test_a_damaged_word_list_names_file_and_line(tmp_path, text, line) -> None:
    path = tmp_path / "words.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=f"words.txt{line}"):
        Vocabulary.load(path)


def test_a_saved_vocabulary_loads_as_it_was(tmp_path) -> None:
    vocabulary = Vocabulary.count(["ein Hund läuft .", "Hund ."])
    vocabulary.save(tmp_path / "words.txt")
    assert Vocabulary.load(tmp_path / "words.txt").words == vocabulary.words
