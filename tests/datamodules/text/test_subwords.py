import io
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from datamodules.arrays import make_ragged
from datamodules.batches import PADDING, UNKNOWN
from datamodules.text.subwords import BEGIN, END, Subwords
from datamodules.text.vocabulary import Vocabulary
from encoder_lab.errors import InputError

TEXT = ["le chien voit un chat .", "l' arbre est grand , et la maison est petite ."] * 30
learnt_words = st.text(alphabet=sorted({c for line in TEXT for c in line if c != " "}), min_size=1, max_size=8)
words = st.text(st.characters(blacklist_categories=("Z", "C")), min_size=1, max_size=6).filter(str.strip)
sentences = st.lists(st.lists(words, max_size=8).map(" ".join), max_size=12)


@pytest.fixture(scope="module")
def subwords(tmp_path_factory) -> Subwords:
    return Subwords.train(TEXT, tmp_path_factory.mktemp("bpe") / "m.model", 60)


@given(st.lists(learnt_words, min_size=1, max_size=6).map(" ".join))
def test_decoding_inverts_encoding(subwords, sentence) -> None:
    codes = next(subwords.encode_all([sentence]))
    assert (codes[0], codes[-1]) == (BEGIN, END)
    assert subwords.decode([codes[1:-1]]) == [sentence]


@given(st.lists(st.lists(learnt_words, min_size=1, max_size=8).map(" ".join), min_size=5, max_size=30))
def test_codes_learnt_from_word_counts_equal_those_learnt_from_sentences(sentences) -> None:
    with TemporaryDirectory() as folder:
        characters = len({c for sentence in sentences for c in sentence.replace(" ", "")})
        ours = Subwords.train(sentences, Path(folder) / "m.model", 60 - characters - 5)
    model = io.BytesIO()
    sizes = {"vocab_size": 60, "pad_id": PADDING, "unk_id": UNKNOWN, "bos_id": BEGIN, "eos_id": END, "minloglevel": 2}
    options: dict[str, Any] = {"model_type": "bpe", "hard_vocab_limit": False, "character_coverage": 1.0, **sizes}
    options |= {"sentence_iterator": iter(sentences), "normalization_rule_name": "identity"}
    sentencepiece.SentencePieceTrainer.train(model_writer=model, **options)
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    assert list(ours.encode_all(sentences)) == [[BEGIN, *theirs.encode(sentence), END] for sentence in sentences]


def test_codes_come_in_addition_to_the_characters(tmp_path) -> None:
    model = Subwords.train(TEXT, tmp_path / "m.model", 7)
    characters = {c for line in TEXT for c in line if c != " "}
    assert model.size == 7 + len(characters) + 5  # four special rows, and the mark where a word begins


def test_the_marks_of_the_library_and_very_long_words_are_words_as_others(tmp_path) -> None:
    subwords = Subwords.train(text := ["a <unk> b", "<s> c </s>", "\u0436" * 3000], tmp_path / "model", 10)
    assert subwords.decode([ids[1:-1] for ids in subwords.encode_all(text)]) == text


def test_a_small_text_gets_fewer_codes_than_asked_for(tmp_path) -> None:
    assert Subwords.train(["a b", "b a"], tmp_path / "m.model", 5000).size < 20


def test_a_broken_model_is_named(tmp_path) -> None:
    (tmp_path / "m.model").write_bytes(b"not a model")
    with pytest.raises(InputError, match=r"m\.model"):
        Subwords.load(tmp_path / "m.model")


def test_words_are_sorted_by_frequency_then_alphabet() -> None:
    assert Vocabulary.count(["b a c", "c b", "c"]).words[2:] == ["c", "b", "a"]


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
