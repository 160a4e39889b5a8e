"""Text of any script: composed Unicode, codes of languages, scripts without spaces."""

import json
import logging
import warnings
from collections import Counter
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datamodules.corpora.parallel import Parallel
from datamodules.corpora.plain_text import PlainText
from datamodules.seq2seq import TextPairs
from datamodules.text.languages import check_language, refuse_unspaced
from datamodules.text.subwords import Subwords
from datamodules.text.tokenize import tokenize
from datamodules.text.vocabulary import Vocabulary
from datamodules.trees.conllu import read_conllu
from datamodules.word_vectors.formats import read_vectors
from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_json_lines, read_lines
from encoders import FrozenEncoder
from encoders.bov import BagOfVectors
from encoders.embedding import WordEmbedding
from encoders.portable.network import TextReader
from probes.probing.build.all_tasks import build_tasks
from probes.probing.build.plain import from_text
from probes.probing.build.pool import Sizes
from probes.probing.data import FromText

ACCENTED = ["L'été", "Đặng", "Ångström", "Žižek", "한국어"]


@pytest.mark.parametrize("word", ACCENTED)
def test_decomposed_text_is_read_as_composed_text_and_this_is_said_once(word, tmp_path, caplog) -> None:
    apart = normalize("NFD", word)
    assert apart != word
    path = tmp_path / "text"
    with caplog.at_level(logging.WARNING, "datamodules"):
        path.write_text(f"{apart}\n{apart}\n")
        assert [line for _, line in read_lines(path)] == [word, word]
        path.write_text(f"{apart} 1 2\n{word} 3 4\n")
        assert read_vectors(path, tmp_path / "matrix.npy") == [word, word]
        path.write_text(json.dumps({"text": apart}))  # as \\u0301
        assert next(read_json_lines(path))[1] == {"text": word}
        path.write_text(f"1\t{apart}\t_\tX\t_\t_\t0\troot\t_\t_\n\n")
        assert next(read_conllu(path)).tokens == [word]
    assert [str(path) in message for message in caplog.messages] == [True]
    assert tokenize(apart, "fr") == tokenize(word, "fr")


@given(st.text(alphabet="abc é ü\u0301\u0308"))
def test_tokens_do_not_depend_on_the_form_of_unicode(text) -> None:
    assert tokenize(normalize("NFD", text), "fr") == tokenize(normalize("NFC", text), "fr")


@pytest.mark.parametrize(("name", "meant"), [
    ("fra", "fr"), ("fre", "fr"), ("FR", "fr"), ("French", "fr"), ("fr_FR", "fr"), ("deu", "de"), ("greek", "el"),
])  # fmt: skip
def test_a_language_by_another_name_is_refused_with_its_code(name, meant, tmp_path) -> None:
    file, other = (str(tmp_path / letter) for letter in ("a.txt", "b.txt"))
    Path(file).write_text("Bonjour .\n")
    Path(other).write_text("Hello .\n")
    for build in (
        lambda: tokenize("a", name),
        lambda: PlainText(file, source_language=name),
        lambda: Parallel(file, other, source_language=name, target_language="en"),
        lambda: Parallel(file, other, target_language=name),
        lambda: FromText([file], language=name),
    ):
        with pytest.raises(InputError, match=rf"anguage={name}: .*did you mean {meant}\?"):
            build()


def test_codes_of_languages_are_known_and_other_words_are_not(caplog) -> None:
    for code in ("en", "fr", "zh", "cu", "grc", "yue", None):
        check_language(code)
    for wrong in ("xx", "klingon", "e", ""):
        with pytest.raises(InputError, match="give a code"):
            check_language(wrong)
    check_language("enf", "corpus.source_language")
    check_language("enf")  # again by the tokeniser
    assert [message for message in caplog.messages if "enf" in message] == [
        "language enf: taken as a code of ISO 639-3; raw text in it is tokenised by general rules"
    ]


UNSEGMENTED = {
    "zh": "我老师买朋友看见喜欢里老师朋友老师猫小今天看见 。",
    "ja": "私は昨日友達と一緒に映画を見ました 。",
    "th": "เมื่อวานนี้ฉันไปดูหนังกับเพื่อนที่โรงหนังใหม่",
    "km": "ម្សិលមិញខ្ញុំបានទៅមើលកុនជាមួយមិត្តភក្តិ",
}
SEGMENTED = {
    "zh": "我 老师 买 朋友 看见 喜欢 里 老师 朋友 。",
    "ja": "私 は 昨日 友達 と 一緒 に 映画 を 見 まし た 。",
    "th": "เมื่อวานนี้ ฉัน ไป ดู หนัง กับ เพื่อน ที่ โรงหนัง ใหม่",
    "ko": "어제 친구와 함께 영화를 봤습니다 .",
    "ru": "Достопримечательности Новосибирска очаровательны .",
    "en": "He wrote 中华人民共和国 on the board and said nothing about it .",
}


@pytest.mark.parametrize("language", UNSEGMENTED)
def test_a_script_without_spaces_is_refused_with_the_remedy(language, tmp_path) -> None:
    text = [UNSEGMENTED[language]] * 30
    for use in (
        lambda: Vocabulary.count(text),
        lambda: Subwords.train(text, tmp_path / "codes", 100),
        lambda: build_tasks(from_text(text), Sizes(6, 6, 6)),
    ):
        with pytest.raises(InputError, match="segment it into words"):
            use()


@pytest.mark.parametrize("side", ["source", "target"])
def test_the_refusal_names_the_file_and_the_side(side, tmp_path) -> None:
    texts = {"source": SEGMENTED["ru"], "target": SEGMENTED["en"], side: UNSEGMENTED["ja"]}
    for name, text in texts.items():
        (tmp_path / name).write_text(f"{text}\n" * 60)
    languages = {"source": "ru", "target": "en", side: "ja"}
    named = {f"{name}_language": language for name, language in languages.items()}
    corpus = Parallel(str(tmp_path / "source"), str(tmp_path / "target"), **named)
    with pytest.raises(
        InputError, match=rf"^{tmp_path / side}, {side}.*: Chinese or Japanese .* segment it into words"
    ):
        TextPairs(corpus, languages["target"], tmp_path / "cache", 1)


def test_the_refusal_names_the_file_of_dev_too(tmp_path) -> None:
    for name, text in {"a": "I am .", "b": "x", "dev": UNSEGMENTED["ja"], "c": "y"}.items():
        (tmp_path / name).write_text(f"{text}\n" * 20)
    corpus = Parallel(
        *(str(tmp_path / name) for name in ("a", "b", "dev", "c")), source_language="ja", target_language="ru"
    )
    with pytest.raises(InputError, match=f"^{tmp_path}/a, {tmp_path}/dev, source: Chinese or Japanese"):
        TextPairs(corpus, "ru", tmp_path / "cache", 1)


@pytest.mark.parametrize("texts", [UNSEGMENTED, SEGMENTED])
def test_a_frozen_encoder_says_how_many_sentences_are_not_segmented(texts) -> None:
    settings = {"words": ["<pad>", "<unk>", "a"], "input_dim": 3, "dim": 3, "longest": 9, "lowercase": False}
    reader = TextReader({**settings, "lowercase_lookup": False, "ngram_sizes": (0, 0)}, None)
    encoder = FrozenEncoder(BagOfVectors(3), WordEmbedding(np.ones((3, 3), np.float32)), Vocabulary(["a"]))
    for use in (encoder.encode, reader.read):
        with warnings.catch_warnings(record=True) as caught:
            use(list(texts.values()))
        assert ["segment them" in str(warning.message) for warning in caught] == [True] * (texts is UNSEGMENTED)
    assert encoder.coverage.unspaced == (len(texts) if texts is UNSEGMENTED else 0)


@pytest.mark.parametrize("language", ["th", "km"])
def test_marks_that_the_tokeniser_splits_off_hide_no_missing_spaces(language) -> None:
    with pytest.raises(InputError, match="Thai, Lao, Khmer, Burmese or Tibetan"):
        refuse_unspaced(Counter(tokenize(UNSEGMENTED[language], language).split()))


@pytest.mark.parametrize("language", SEGMENTED)
def test_words_with_spaces_between_them_are_not_refused(language) -> None:
    refuse_unspaced(Counter(SEGMENTED[language].split()))
