"""Checks the input of `encode`: a sequence of texts."""

from collections.abc import Iterable, Mapping, Set
from typing import Any

from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import compose_unicode


def checked_texts(sentences: Any) -> list[str]:
    """The sentences as a list, in composed Unicode. Raises InputError with the index of what is no text."""
    if isinstance(sentences, str):
        raise InputError(f"encode takes a list of sentences, not one string: encode([{sentences[:40]!r}])")
    if not isinstance(sentences, Iterable) or isinstance(sentences, bytes | Mapping | Set):
        raise InputError(f"encode takes a list of sentences, not {type(sentences).__name__}")
    if getattr(sentences, "ndim", 1) != 1:
        raise InputError(f"encode takes one column of sentences, not {type(sentences).__name__} {sentences.shape}")  # type: ignore[attr-defined]
    texts = []
    for index, text in enumerate(sentences):
        if not isinstance(text, str):
            joined = "; join the words of a sentence with spaces" if isinstance(text, list | tuple) else ""
            raise InputError(f"sentences[{index}] is {str(text)[:40]!r} ({type(text).__name__}), not a text{joined}")
        texts.append(compose_unicode(text))
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        invalid = next(i for i, text in enumerate(texts) if any("\ud800" <= letter <= "\udfff" for letter in text))
        problem = "half of a character (a lone surrogate)"
        raise InputError(f"sentences[{invalid}] has {problem}; decode the text as UTF-8") from None
    return texts
