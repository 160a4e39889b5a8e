"""Raw text to tokens and sentences: the Moses conventions of the published corpora and probing files."""

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from syntok import segmenter

from datamodules.text.languages import check_language
from encoder_lab.storage.text_files import compose_unicode

if TYPE_CHECKING:  # slow: it reads what each character of Unicode is
    from sacremoses import MosesTokenizer

PIECE_WORDS = 150  # the tokeniser's time grows with the square of its input


@cache
def _tokenizer(language: str) -> "MosesTokenizer":
    from sacremoses import MosesTokenizer

    check_language(language)
    return MosesTokenizer(lang=language)


def tokenize(text: str, language: str = "en") -> str:
    """Tokens with single spaces, case kept, nothing escaped (Moses `tokenizer.perl -no-escape`); in composed Unicode.

    Raises InputError for an unknown language code.
    """
    words, moses = compose_unicode(text).split(), _tokenizer(language)
    pieces = (" ".join(words[i : i + PIECE_WORDS]) for i in range(0, len(words), PIECE_WORDS))
    tokens = [token for piece in pieces for token in moses.tokenize(piece, escape=False)]
    return " ".join(" ".join(tokens).split())


def tokenize_pair(pair: tuple[str, str], source: str, target: str) -> tuple[str, str]:
    """A sentence and its translation."""
    return tokenize(pair[0], source), tokenize(pair[1], target)


def split_sentences(text: str) -> Iterator[str]:
    """The sentences of raw text, with one space for all space between words."""
    text = " ".join(text.split())  # the segmenter counts the characters of each paragraph from 0
    for paragraph in segmenter.process(text):
        for sentence in paragraph:
            first, last = sentence[0], sentence[-1]
            yield text[first.offset : last.offset + len(last.value)]
