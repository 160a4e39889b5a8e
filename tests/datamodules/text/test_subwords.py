import io
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from datamodules.batches import PADDING, UNKNOWN
from datamodules.text.subwords import BEGIN, END, Subwords
from encoder_lab.errors import InputError

TEXT = ["le chien voit un chat .", "l' arbre est grand , et la maison est petite ."] * 30
known = st.text(alphabet=sorted({c for line in TEXT for c in line if c != " "}), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def subwords(tmp_path_factory) -> Subwords:
    return Subwords.train(TEXT, tmp_path_factory.mktemp("bpe") / "m.model", 60)


@settings(max_examples=40)
@given(st.lists(known, min_size=1, max_size=6).map(" ".join))
def test_decoding_inverts_encoding(subwords, sentence) -> None:
    codes = next(subwords.encode_all([sentence]))
    assert (codes[0], codes[-1]) == (BEGIN, END)
    assert subwords.decode([codes[1:-1]]) == [sentence]


def test_the_same_text_gives_the_same_codes(subwords, tmp_path) -> None:
    again = Subwords.train(TEXT, tmp_path / "m.model", 60)
    assert list(again.encode_all(TEXT[:2])) == list(subwords.encode_all(TEXT[:2]))


@settings(max_examples=20)
@given(st.lists(st.lists(known, min_size=1, max_size=8).map(" ".join), min_size=5, max_size=30))
def test_codes_learnt_from_word_counts_equal_those_learnt_from_sentences(sentences) -> None:
    with TemporaryDirectory() as folder:
        characters = len({c for sentence in sentences for c in sentence.replace(" ", "")})
        ours = Subwords.train(sentences, Path(folder) / "m.model", 60 - characters - 5)
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences),
        model_writer=model,
        model_type="bpe",
        vocab_size=60,
        hard_vocab_limit=False,
        character_coverage=1.0,
        normalization_rule_name="identity",
        pad_id=PADDING,
        unk_id=UNKNOWN,
        bos_id=BEGIN,
        eos_id=END,
        minloglevel=2,
    )
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
