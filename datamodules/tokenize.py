"""Raw text to tokens: the Moses conventions that the published corpora and probing files follow."""

from functools import cache

from sacremoses import MosesTokenizer


@cache
def _tokenizer(language: str) -> MosesTokenizer:
    return MosesTokenizer(lang=language)


def tokenize(text: str, language: str = "en") -> str:
    """Tokens with single spaces, case kept, nothing escaped (Moses `tokenizer.perl -no-escape`)."""
    return _tokenizer(language).tokenize(text, return_str=True, escape=False)
